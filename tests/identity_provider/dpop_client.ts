import { hash } from "node:crypto";
import { calculateJwkThumbprint } from "jose";
import { createSigner, type TokenSigner } from "./token_issuer.ts";

/** A client that proves possession of its key (RFC 9449). */
export interface DpopClient {
  readonly signer: TokenSigner;
  /** As tokens for it have it in `cnf`. */
  readonly jkt: string;
  /** A new proof; `claims` and `header` have further members, or others in place of those there are. */
  prove(
    request: {
      readonly token: string;
      readonly method: string;
      readonly url: string;
      readonly seconds?: number;
    },
    change?: {
      readonly claims?: Readonly<Record<string, unknown>>;
      readonly header?: Readonly<Record<string, unknown>>;
      readonly signer?: TokenSigner;
    },
  ): string;
}

export async function createDpopClient(): Promise<DpopClient> {
  const signer = createSigner("ES256", "client");
  const { kty, crv, x, y } = signer.jwk;
  const jwk = { kty, crv, x, y };
  return {
    signer,
    jkt: await calculateJwkThumbprint(jwk, "sha256"),
    prove(
      { token, method, url, seconds = Date.now() / 1000 },
      { claims, header, signer: other = signer } = {},
    ) {
      return other.sign({
        jti: crypto.randomUUID(),
        htm: method,
        htu: url,
        iat: Math.floor(seconds),
        ath: hash("sha256", token, "base64url"),
        ...claims,
      }, { kid: undefined, typ: "dpop+jwt", jwk, ...header });
    },
  };
}
