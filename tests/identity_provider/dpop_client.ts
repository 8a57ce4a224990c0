import { hash } from "node:crypto";
import { calculateJwkThumbprint } from "jose";
import { createSigner, type TokenSigner } from "./token_issuer.ts";

/** Client that proves possession of its key (RFC 9449). */
export interface DpopClient {
  readonly signer: TokenSigner;
  /** Thumbprint of its key, as in `cnf` of its tokens. */
  readonly jkt: string;
  /** Returns a new proof; `claims` and `header` add or replace members. */
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
