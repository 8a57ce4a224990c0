import { Buffer } from "node:buffer";
import { createPrivateKey, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { algorithmsOf } from "../../model/trust/certificate_facts.ts";
import type { OutgoingRequest } from "../../outgoing/outgoing.ts";

/** Client authentication at the provider (OIDC Core 1.0, 9). */
export type ClientLogin =
  | {
    readonly clientId: string;
    readonly clientSecret: string;
    readonly inHeader?: boolean; // `client_secret_basic`; otherwise `client_secret_post`
  }
  | {
    readonly clientId: string;
    readonly key: string; // `private_key_jwt`: PEM
    readonly keyId: string | undefined;
  };

const ASSERTION_S = 60; // lifetime of an assertion in seconds

/** Returns headers and form parameters that authenticate the client. */
export async function clientLogin(
  login: ClientLogin,
  { audience, now }: {
    readonly audience: string; // issuer, or the endpoint if unknown (RFC 7523, 3)
    readonly now: number;
  },
): Promise<{ readonly headers: Readonly<Record<string, string>>; readonly parameters: [string, string][] }> {
  const { clientId } = login;
  if ("key" in login) {
    const parameters: [string, string][] = [
      ["client_id", clientId],
      ["client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
      ["client_assertion", await assertion(login, audience, Math.floor(now / 1000))],
    ];
    return { headers: {}, parameters };
  }
  const { clientSecret, inHeader } = login;
  if (!inHeader) {
    return { headers: {}, parameters: [["client_id", clientId], ["client_secret", clientSecret]] };
  }
  // RFC 6749, 2.3.1: both are form-encoded, unlike in Basic itself.
  const pair = [clientId, clientSecret].map((text) => `${new URLSearchParams({ "": text })}`.slice(1)).join(
    ":",
  );
  return { headers: { Authorization: `Basic ${Buffer.from(pair).toString("base64")}` }, parameters: [] };
}

/** Builds an authenticated form request. */
export function formRequest(
  url: string,
  { headers, parameters }: Awaited<ReturnType<typeof clientLogin>>,
  fields: readonly [name: string, value: string][],
): OutgoingRequest {
  return {
    method: "POST",
    url,
    headers: {
      ...headers,
      Accept: "application/json",
      "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
    },
    body: new URLSearchParams([...parameters, ...fields]).toString(),
  };
}

/** Signs a client assertion (RFC 7523, 2.2 and 3). */
async function assertion(
  { clientId, key: pem, keyId }: Extract<ClientLogin, { readonly key: string }>,
  audience: string,
  nowS: number,
): Promise<string> {
  const key = createPrivateKey(pem);
  return await new SignJWT()
    .setProtectedHeader({ alg: algorithmsOf(key)[0] ?? "", typ: "JWT", kid: keyId })
    .setIssuer(clientId)
    .setSubject(clientId)
    .setAudience(audience)
    .setJti(randomUUID())
    .setIssuedAt(nowS)
    .setExpirationTime(nowS + ASSERTION_S)
    .sign(key);
}
