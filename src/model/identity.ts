import type { TokenRestrictions } from "./token_restrictions.ts";
import type { TokenFamily } from "./token_family.ts";

/** Who is calling, as a method of authentication established it. */
export interface Identity {
  /** Distinguished name exactly as assigned; compare it with `sameName`, never as text. */
  readonly dn: string;
  /** As reported in `client.authenticationMethod`: `PASSWORD_FILE`, `SSHKEY`, `OAUTH`, `UNITY-SAML`, `X509`, `ETD`. */
  readonly method: string;
  /** Name of the configured method that accepted, such as `PASSWORD`; for the log. */
  readonly via: string;
  /** Name by which the source of the identity knows the user, where they typed or proved one: user name or account. */
  readonly login?: string;
  /** Unix account established by the method itself (SSH key, identity provider, own token). */
  readonly uid?: string;
  readonly role?: string;
  readonly groups?: readonly string[];
  /**
   * Logical servers on which `uid` is proven. Absent: on all of them. A key that a daemon reported proves the account
   * on that daemon's servers only (design decision "Account names across daemons").
   */
  readonly uidServers?: readonly string[];
  /** Names the very credential that was shown, see `credentialFingerprint`; absent: its authenticator cannot be asked about it. */
  readonly credential?: string;
  /** When the authenticator's source last vouched for the login, in seconds since the epoch; absent: with this request. */
  readonly proved?: number;
  /** Class of the login, as a provider tells it (`acr`; OIDC Core 1.0, 2). */
  readonly acr?: string;
  /** When the user logged in, in seconds since the epoch; `now`: what they know or have is shown with this request. Absent: not known. */
  readonly authTime?: number | "now";
  /** Present if the login permits no more than this: sessions within these, and nothing else. */
  readonly capabilities?: readonly Capability[];
  /** Present if the login counts with a proof of possession alone (RFC 9449, 8705): nothing that is worth the same without. */
  readonly bound?: true;
  /** Present if the caller signed in with a browser: by what that is known, and when that ends, in seconds since the epoch. */
  readonly browser?: { readonly id: string; readonly ends: number };
  /** Present if the caller showed a token that this or a trusted service issued. */
  readonly issuedToken?: IssuedTokenFacts;
}

/** What a login permits below a directory. */
export interface Capability {
  /** Absolute, with trailing slash. */
  readonly path: string;
  /** `all`: reading, and all that one may do to files. */
  readonly access: "read" | "all";
}

/**
 * The role that authentication itself decided: `user` for whoever has an account, unless it said otherwise
 * (authentication.md 7.1). A token has the role that it carries, and else none.
 */
export function decidedRole({ uid, role, issuedToken }: Identity): string | undefined {
  return role ?? (uid === undefined || issuedToken !== undefined ? undefined : "user");
}

/** What an issued (delegation) token allows its bearer. */
export interface IssuedTokenFacts {
  readonly issuer: string;
  /** Configured method that named the user to the issuer, if that is this service and the token says so. */
  readonly namedBy?: string;
  /** Role of its maker when the token was made: it never gives more. */
  readonly highestRole?: string;
  readonly renewable: boolean;
  /** `aud` of the token; a renewed token inherits it. */
  readonly limitedTo?: string;
  /** Preferences frozen in the token, in header syntax; the request's own preferences are then ignored. */
  readonly preferences?: string;
  /** Moment beyond which no renewal reaches, in seconds since the epoch. */
  readonly renewableUntil?: number;
  /** To what it is narrowed; a token got with it is narrowed at least as much. */
  readonly restrictions?: TokenRestrictions;
  /** What it was got with; absent if another service issued it. */
  readonly family?: TokenFamily;
}

/** The caller that showed no credentials (rest-api.md 1.4). */
export const ANONYMOUS_DN = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";

/** A request's caller: somebody, or nobody in particular. */
export type Caller = { readonly kind: "anonymous" } | {
  readonly kind: "authenticated";
  readonly identity: Identity;
};

/** The bounds of what a caller showed; none for whoever showed something else than a token. */
export function restrictionsOf(caller: Caller): TokenRestrictions {
  return caller.kind === "anonymous" ? {} : caller.identity.issuedToken?.restrictions ?? {};
}
