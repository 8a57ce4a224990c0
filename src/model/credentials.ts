import type { Secret } from "./secret.ts";

/**
 * The one kind of method that may see a bearer token: `issued` tokens stay with the check of issued tokens, `ssh-key`
 * tokens with the user's keys, and only what is neither goes out to a `provider`.
 */
export type BearerRoute = "issued" | "ssh-key" | "provider";

/** What the `Authorization` header (with the legacy SSH header) holds, taken apart once and for all. */
export type Authorization =
  | { readonly kind: "none" }
  /** RFC 7617. */
  | { readonly kind: "basic"; readonly user: string; readonly password: Secret }
  /** RFC 6750. */
  | {
    readonly kind: "bearer";
    readonly token: Secret;
    /** What the issuer has said of the login by which the token was got, beside the token: claims as texts. */
    readonly login?: { readonly sub?: string; readonly acr?: string; readonly auth_time?: string };
    /** Present if it is shown with a proof of possession (RFC 9449, 7.1). */
    readonly scheme?: "DPoP";
    /** Of a JWT, the issuer that it claims; not verified. */
    readonly issuer?: string;
    readonly route: BearerRoute;
    /** The same for all tokens that claim to be of one user, see `readBearer`; nothing of it is verified. */
    readonly claimant?: string;
    /** Its claim `sub`, as far as that may be a name. Nothing of it is verified. */
    readonly subject?: string;
  }
  /** Header token of Java clients up to 2.2.2: a signature over bytes the client chose (authentication.md 3.8). */
  | {
    readonly kind: "ssh-legacy";
    readonly user: string;
    readonly signature: Secret;
    readonly signed: Uint8Array;
  }
  /** Credentials are there but cannot be read; the reason is for the log and holds nothing of them. */
  | {
    readonly kind: "malformed";
    readonly reason: string;
    /** Of Basic credentials without a user name: nobody's password, but maybe a link's. */
    readonly linkPassword?: Secret;
  };

/** The certificate a client showed on its TLS connection, verified against the truststore by the edge. */
export interface ClientCertificate {
  /** Subject as RFC 4514 text, most specific part first. */
  readonly subject: string;
  readonly pem: string;
}

/** Everything a request brings to say who is calling. Made by `parseCredentials`, read by the methods. */
export interface Credentials {
  readonly authorization: Authorization;
  readonly certificate?: ClientCertificate;
  /** Why one that was shown counts for nothing, where its owner could take it for good; for the log. */
  readonly unusableCertificate?: string;
  /** Header `X-UNICORE-Consignor`, only ever set for a request from a configured gateway. */
  readonly consignor?: string;
  /** Address of the client in canonical form, see `canonicalAddress`. */
  readonly clientAddress: string;
  /** Proof of possession of the key that a token is bound to (RFC 9449), and what it must be made for. */
  readonly proof?: {
    readonly text: string;
    readonly method: string;
    /** As clients see it, absolute. */
    readonly url: string;
  };
  /** Set if this user has passed from this address not long ago, as far as the credentials tell: a name for the two. */
  readonly knownAs?: string;
}
