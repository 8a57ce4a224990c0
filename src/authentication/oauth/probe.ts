import { Buffer } from "node:buffer";
import { counted } from "../../model/counted.ts";
import { Secret } from "../../model/secret.ts";
import {
  NEVER,
  type ProbeAnswer,
  type ProbeParts,
  probeWithoutCredentials,
} from "../../outgoing/probed_kind.ts";
import type { Asker } from "../../outgoing/remote_system.ts";
import type { OAuthConfig } from "./oauth_config.ts";
import { OAuth } from "./oauth.ts";
import { Provider } from "./provider.ts";

/** Token without a valid signature. */
const NOBODYS_TOKEN = ['{"alg":"RS256"}', '{"sub":"authserver check"}', "no signature"]
  .map((part) => Buffer.from(part).toString("base64url")).join(".");

const ASKER: Asker = { queueKey: "probe", known: true, credential: "probe", address: "probe", signal: NEVER };

/** Probes an issuer's metadata, keys and endpoints. */
export async function probeIssuer(config: OAuthConfig, parts: ProbeParts): Promise<ProbeAnswer> {
  const provider = new Provider(config, httpParts(config, parts));
  const found = config.jwksUri === undefined ? [await keysOf(provider)] : [];
  if ((config.opaqueTokens || config.askAlways) && config.address === undefined) {
    const sort = config.introspection === undefined ? "userinfo" : "introspection";
    const { ok, found: answer } = await probeEndpoint(
      config,
      await provider.tokenEndpoint(sort, ASKER),
      parts,
    );
    if (!ok) return { ok, found: answer };
    found.push(`${sort} endpoint ${answer}`);
  }
  return { ok: true, found: found.length === 0 ? "nothing is asked of it" : found.join("; ") };
}

/** Probes a configured key URL. */
export async function probeKeys(config: OAuthConfig, parts: ProbeParts): Promise<ProbeAnswer> {
  return { ok: true, found: await keysOf(new Provider(config, httpParts(config, parts))) };
}

function httpParts({ showCertificate }: OAuthConfig, { outgoing, clock, log }: ProbeParts) {
  return { http: outgoing.http(showCertificate), clock, log };
}

async function keysOf(provider: Provider): Promise<string> {
  const { keys, leftOut } = await provider.keys(ASKER);
  const left = leftOut.length === 0 ? "" : ` (left out: ${leftOut.join(", ")})`;
  return `signs with ${counted(keys.keys.length, "key", "keys")}${left}`;
}

/** Probes an endpoint: with an invalid token as a client, else without credentials. */
export async function probeEndpoint(
  config: OAuthConfig,
  address: string,
  parts: ProbeParts,
): Promise<ProbeAnswer> {
  if (config.introspection === undefined) {
    const at = { address, showCertificate: config.showCertificate };
    return await probeWithoutCredentials(at, parts, (status) => [400, 401, 403].includes(status));
  }
  const asked = { ...config, address, issuer: undefined, opaqueTokens: true };
  const method = new OAuth(asked, httpParts(config, parts));
  const authorization = { kind: "bearer", token: new Secret(NOBODYS_TOKEN), route: "provider" } as const;
  const { kind } = await method.authenticate({ authorization, clientAddress: "" }, NEVER);
  method.close();
  return kind === "refused"
    ? { ok: true, found: "knows this service, and refuses an unknown token" }
    : { ok: false, found: `an unknown token is ${kind}` };
}
