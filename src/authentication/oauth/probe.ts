import { Buffer } from "node:buffer";
import { Secret } from "../../model/secret.ts";
import {
  NEVER,
  type ProbeAnswer,
  type ProbeParts,
  probeWithoutCredentials,
} from "../../outgoing/probed_kind.ts";
import type { OAuthConfig } from "./keys.ts";
import { OAuth } from "./oauth.ts";

/** A token that nobody has. */
const NOBODYS_TOKEN = ['{"alg":"RS256"}', '{"sub":"authserver check"}', "no signature"]
  .map((part) => Buffer.from(part).toString("base64url")).join(".");

/** Tries the provider: about a token that nobody has if we are its client, else without credentials. */
export async function probeProvider(config: OAuthConfig, parts: ProbeParts): Promise<ProbeAnswer> {
  if (config.introspection === undefined) {
    return await probeWithoutCredentials(
      config.address,
      parts,
      (status) => [400, 401, 403].includes(status),
    );
  }
  const method = new OAuth(config, { http: parts.http, clock: parts.now, log: parts.log });
  const authorization = { kind: "bearer", token: new Secret(NOBODYS_TOKEN), route: "provider" } as const;
  const { kind } = await method.authenticate({ authorization, clientAddress: "" }, NEVER);
  method.close();
  return kind === "refused"
    ? { ok: true, found: "knows this service, and refuses an unknown token" }
    : { ok: false, found: `an unknown token is ${kind}` };
}
