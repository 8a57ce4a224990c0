import type { Secret } from "./secret.ts";

/** Authenticators that may see a bearer token; `provider` gets what is neither `issued` nor `ssh-key`. */
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
    /** Present if it comes with a proof of possession (RFC 9449, 7.1). */
    readonly scheme?: "DPoP";
    /** Unverified issuer of a JWT. */
    readonly issuer?: string;
    readonly route: BearerRoute;
    /** Unverified key of the user: equal for all tokens that claim the same one, see `readBearer`. */
    readonly claimant?: string;
    /** Unverified claim `sub`, if it could be a name. */
    readonly subject?: string;
  }
  /** Header token of Java clients up to 2.2.2: a signature over bytes the client chose (authentication.md 3.8). */
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
  /** RFC 4514 text, most specific part first. */
  readonly subject: string;
  readonly pem: string;
}

/** All credentials of a request, made by `parseCredentials`. */
export interface Credentials {
  readonly authorization: Authorization;
  readonly certificate?: ClientCertificate;
  /** Reason for the log why a presented certificate was ignored. */
  readonly unusableCertificate?: string;
  /** Header `X-UNICORE-Consignor`, set only for requests from a configured gateway. */
  readonly consignor?: string;
  /** Canonical, see `canonicalAddress`. */
  readonly clientAddress: string;
  /** Proof of possession of the token's key (RFC 9449), and the request it must cover. */
  readonly proof?: {
    readonly text: string;
    readonly method: string;
    /** Absolute, as clients see it. */
    readonly url: string;
  };
  /** Key of user and address if this user recently signed in from this address. */
  readonly knownAs?: string;
}
