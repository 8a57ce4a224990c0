import { readBearer } from "../../src/authentication/parse_credentials.ts";
import type { Authorization, Credentials } from "../../src/model/credentials.ts";
import { Secret } from "../../src/model/secret.ts";

/** Returns credentials as `parseCredentials()` would, for tests of authenticators. */
export function credentials(
  authorization: Authorization,
  facts: Partial<Omit<Credentials, "authorization">> = {},
): Credentials {
  return { clientAddress: "192.0.2.17", ...facts, authorization };
}

export const NO_CREDENTIALS: Credentials = credentials({ kind: "none" });

export const MALFORMED: Credentials = credentials({ kind: "malformed", reason: "not base64" });

export function basic(user: string, password: string, clientAddress = "192.0.2.17"): Credentials {
  return credentials({ kind: "basic", user, password: new Secret(password) }, { clientAddress });
}

export function bearer(token: string, clientAddress = "192.0.2.17"): Credentials {
  return credentials({ kind: "bearer", token: new Secret(token), ...readBearer(token) }, {
    clientAddress,
  });
}

/** Returns credentials of a token with a proof of possession. */
export function bound(
  token: string,
  proof: Credentials["proof"],
  facts: Partial<Credentials> = {},
): Credentials {
  return credentials({ kind: "bearer", token: new Secret(token), ...readBearer(token), scheme: "DPoP" }, {
    ...facts,
    ...(proof && { proof }),
  });
}

/** Returns a token with these claims and a signature that verifies with no key. */
export function unsignedJwt(claims: unknown, header: unknown = { alg: "EdDSA" }): string {
  const part = (value: unknown) => btoa(JSON.stringify(value)).replace(/[+/=]/g, (c) => JWT_ALPHABET[c] ?? c);
  return `${part(header)}.${part(claims)}.AAAA`;
}

const JWT_ALPHABET: Readonly<Record<string, string>> = { "+": "-", "/": "_", "=": "" };

export function sshLegacy(user: string, signature = "AAAA", signed = new Uint8Array([1, 2, 3])): Credentials {
  return credentials({ kind: "ssh-legacy", user, signature: new Secret(signature), signed });
}
