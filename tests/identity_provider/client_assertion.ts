import { Buffer } from "node:buffer";
import { constants, type KeyObject, verify } from "node:crypto";
import type { SigningAlgorithm } from "./token_issuer.ts";

const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Longest lifetime of an assertion, in seconds. */
const MOST_S = 300;

/** Client that logs in by signed assertions. */
export interface AssertingClient {
  readonly id: string;
  readonly alg: SigningAlgorithm;
  readonly kid?: string;
  readonly publicKey: KeyObject;
}

/**
 * Check of a provider for the assertions of one client (RFC 7523, 3; OIDC Core 1.0, 9). Written by hand, so
 * that it does not depend on the library of the service.
 */
export class ClientAssertions {
  readonly #seen = new Set<string>();

  /** @param audience Issuer of the provider, the only accepted audience. */
  constructor(readonly client: AssertingClient, readonly audience: string) {}

  /** Returns the fault of a form's assertion; `undefined` if it is valid and new. @param now In seconds. */
  fault(form: URLSearchParams, now = Date.now() / 1000): string | undefined {
    const { id, alg, kid, publicKey } = this.client;
    if (form.has("client_secret")) return "a secret as well";
    if (form.getAll("client_id").join() !== id) return "client_id";
    if (form.getAll("client_assertion_type").join() !== TYPE) return "client_assertion_type";
    const [head = "", body = "", signature = "", ...more] = form.getAll("client_assertion").join().split(".");
    if (more.length > 0) return "form";
    const [header, claims] = [parsed(head), parsed(body)];
    if (header === undefined || claims === undefined) return "form";
    if (header["alg"] !== alg) return "alg";
    if (kid !== undefined && header["kid"] !== kid) return "kid";
    if (!isSigned(alg, `${head}.${body}`, publicKey, signature)) return "signature";
    const { iss, sub, aud, jti, exp, iat } = claims;
    if (iss !== id) return "iss";
    if (sub !== id) return "sub";
    if (aud !== this.audience) return "aud";
    if (typeof exp !== "number" || exp <= now || exp > now + MOST_S) return "exp";
    if (typeof iat !== "number" || iat > now + 5) return "iat";
    if (typeof jti !== "string" || jti.length < 16) return "jti";
    if (this.#seen.has(jti)) return "jti again";
    this.#seen.add(jti);
    return undefined;
  }
}

function parsed(part: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isSigned(alg: SigningAlgorithm, content: string, key: KeyObject, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64url");
  const data = Buffer.from(content);
  switch (alg) {
    case "EdDSA":
      return verify(null, data, key, bytes);
    case "ES256":
      return verify("sha256", data, { key, dsaEncoding: "ieee-p1363" }, bytes);
    case "ES384":
      return verify("sha384", data, { key, dsaEncoding: "ieee-p1363" }, bytes);
    case "RS256":
      return verify("sha256", data, key, bytes);
    case "PS256":
      return verify("sha256", data, { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }, bytes);
  }
}
