import type { Secret } from "./secret.ts";

/** Authenticators that may see a bearer token; `provider` gets all that are neither `issued` nor `ssh-key`. */
export type BearerRoute = "issued" | "ssh-key" | "provider";

/** Parsed `Authorization` header, or legacy SSH header. */
export type Authorization =
  | { readonly kind: "none" }
  /** RFC 7617. */
  | { readonly kind: "basic"; readonly user: string; readonly password: Secret }
  /** RFC 6750. */
  | {
    readonly kind: "bearer";
    readonly token: Secret;
    /** Unsigned claims of the login response that came with the token, as texts. */
    readonly login?: { readonly sub?: string; readonly acr?: string; readonly auth_time?: string };
    readonly scheme?: "DPoP"; // present if it comes with a proof of possession (RFC 9449, 7.1)
    readonly issuer?: string; // unverified issuer of a JWT
    readonly route: BearerRoute;
    /** Unverified key of the user: equal for all tokens that claim the same one, see `readBearer`. */
    readonly claimant?: string;
    readonly subject?: string; // unverified claim `sub`, if it could be a name
  }
  /** Header token of Java clients up to 2.2.2: a signature over bytes the client chose (credentials.md 3.8). */
  | {
    readonly kind: "ssh-legacy";
    readonly user: string;
    readonly signature: Secret;
    readonly signed: Uint8Array;
  }
  /** Malformed credentials; the log gets the reason, which contains no part of them. */
  | {
    readonly kind: "malformed";
    readonly reason: string;
    /** Password of Basic credentials without user name, which may belong to a link. */
    readonly linkPassword?: Secret;
  };

/** Client certificate that the edge verified against the truststore. */
export interface ClientCertificate {
  readonly subject: string; // RFC 4514 text, most specific part first
  readonly pem: string;
  readonly path: string; // see `pathReference`
}

/** All credentials of a request, made by `parseCredentials`. */
export interface Credentials {
  readonly authorization: Authorization;
  readonly certificate?: ClientCertificate;
  readonly unusableCertificate?: string; // reason for the log why a presented certificate was ignored
  readonly untrustedCertificate?: string; // likewise, if no authority vouches for it: it counts as absent
  /** Header `X-UNICORE-Consignor`, set only for requests from a configured gateway. */
  readonly consignor?: string;
  readonly clientAddress: string; // canonical, see `canonicalAddress`
  /** Proof of possession of the token's key (RFC 9449), and the request it must cover. */
  readonly proof?: {
    readonly text: string;
    readonly method: string;
    readonly url: string; // absolute, as clients see it
  };
  readonly knownAs?: string; // key of user and address if this user recently signed in from this address
}

/** Returns the values of a user in a file; with `anyCase`, of all users with the same {@link userKey}. */
export function valuesOfUser<T>(file: ReadonlyMap<string, T>, user: string, anyCase = false): readonly T[] {
  const key = userKey(user);
  const users = anyCase ? [...file.keys()].filter((other) => userKey(other) === key) : [user];
  return users.map((each) => file.get(each)).filter((value) => value !== undefined);
}

/** Returns a user's key for counting. Providers tend to ignore case, width and blanks, so it does too. */
export function userKey(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase().slice(0, 256); // compatibility forms may lengthen it
}
