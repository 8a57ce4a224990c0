import type { TokenRestrictions } from "./token_restrictions.ts";
import type { TokenFamily } from "./token_family.ts";

/** Identity that an authenticator established. */
export interface Identity {
  readonly dn: string; // distinguished name as assigned; compare it with `sameName`, never as text
  /** `client.authenticationMethod` in responses: `PASSWORD_FILE`, `SSHKEY`, `OAUTH`, `UNITY-SAML`, `X509`, `ETD`. */
  readonly method: string;
  readonly via: string; // name of the configured authenticator, such as `PASSWORD`; for the log
  /** User name or account at the source of the identity, if the user typed or proved it. */
  readonly login?: string;
  readonly uid?: string; // Unix account that the authenticator itself established
  /** Name from the provider, displayed beside the account; users may choose it, so nothing depends on it. */
  readonly displayName?: string | undefined;
  readonly mail?: string | undefined; // address that the provider verified
  readonly role?: string;
  readonly groups?: readonly string[];
  /** Servers for which `uid` is proven; absent: all. A daemon's SSH key proves the account on its own servers only. */
  readonly uidServers?: readonly string[];
  /** See `credentialFingerprint`; absent: the authenticator cannot check it again. */
  readonly credential?: string;
  /** Time at which the source last confirmed the login, in seconds since the epoch; absent: with this request. */
  readonly proved?: number;
  readonly acr?: string; // authentication context class (`acr`; OIDC Core 1.0, 2)
  /** Login time in seconds since the epoch; `now`: proven with this request; absent: unknown. */
  readonly authTime?: number | "now";
  readonly capabilities?: readonly Capability[]; // present if the login permits these sessions only
  /** Present if the login needs a proof of possession (RFC 9449, 8705); it must not yield unbound tokens. */
  readonly bound?: true;
  /** Browser sign-in: its id, and its end in seconds since the epoch. */
  readonly browser?: { readonly id: string; readonly ends: number };
  readonly issuedToken?: IssuedTokenFacts; // present for a token that this or a trusted service issued
  readonly absent?: true; // present for owners of shares: the login's role and groups are unknown
}

/** Permission below a directory. */
export interface Capability {
  readonly path: string; // absolute, with trailing slash
  readonly access: "read" | "all"; // `all`: reading and every other operation
}

/** Returns the authenticated role: with an account `user` by default (credentials.md 7.1), except in tokens and for absent owners. */
export function decidedRole({ uid, role, issuedToken, absent }: Identity): string | undefined {
  return role ?? (uid === undefined || issuedToken !== undefined || absent ? undefined : "user");
}

export interface IssuedTokenFacts {
  readonly issuer: string;
  readonly by?: string; // DN of the administrator who requested it, or what it was derived from
  readonly byVia?: string; // their authenticator; absent in tokens of earlier versions, which depend on the ban alone
  readonly byLogin?: string; // their name there
  readonly byUid?: string; // account that their login proved
  readonly byRole?: string; // role by their login, or `anonymous`; absent in tokens of earlier versions
  readonly identifiedBy?: string; // authenticator, or key of another service, that identified the user to this service, if the token says so
  readonly highestRole?: string; // maker's role at issue, an upper limit
  readonly renewable: boolean;
  readonly limitedTo?: string; // `aud`; a renewed token inherits it
  readonly preferences?: string; // frozen preferences in header syntax; they replace the request's own
  readonly renewableUntil?: number; // limit of renewals, in seconds since the epoch
  readonly restrictions?: TokenRestrictions; // restrictions, which derived tokens inherit
  readonly family?: TokenFamily; // absent if another service issued it
}

/** Name of callers without credentials (rest-api.md 1.4). */
export const ANONYMOUS_DN = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";

export type Caller = { readonly kind: "anonymous" } | {
  readonly kind: "authenticated";
  readonly identity: Identity;
};

/** Returns the restrictions of a caller's token; empty for other credentials. */
export function restrictionsOf(caller: Caller): TokenRestrictions {
  return caller.kind === "anonymous" ? {} : caller.identity.issuedToken?.restrictions ?? {};
}
