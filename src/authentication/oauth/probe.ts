import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import type { KindConfig } from "../../config/service_config.ts";
import { counted } from "../../model/text.ts";
import { Secret } from "../../model/secret.ts";
import {
  NEVER,
  type ProbeAnswer,
  type ProbeParts,
  PROBER,
  probeWithoutCredentials,
  statusOf,
} from "../../outgoing/probed_kind.ts";
import { errorText, refusalIn } from "../provider_answers.ts";
import { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import { type ClientLogin, clientLogin, formRequest } from "./client_login.ts";
import { metadataAddresses, Provider } from "./provider.ts";
import type { OAuthConfig } from "./oauth_config.ts";
import { OAuth } from "./oauth.ts";

type ProbedConfig = OAuthConfig & Pick<KindConfig, "name">;

const UNKNOWN_TOKEN = ['{"alg":"RS256"}', '{"sub":"authserver check"}', "no signature"]
  .map((part) => Buffer.from(part).toString("base64url")).join(".");

/** Probes an issuer's metadata, keys and endpoints, and the client that this service has there. */
export async function probeIssuer(config: ProbedConfig, parts: ProbeParts): Promise<ProbeAnswer> {
  const { issuer = "", jwksUri, opaqueTokens, askAlways, address, introspection } = config;
  const provider = new Provider(config, httpParts(config, parts));
  const found: string[] = [];
  try {
    if (jwksUri === undefined) found.push(await keysOf(provider));
  } catch (error) {
    if (!(error instanceof RemoteUnavailable)) throw error;
    const documents = metadataAddresses(issuer).join(" and ");
    const fix = "compare issuer with iss of the provider's tokens, character by character: asked " +
      `${documents} (Keycloak: https://<host>/realms/<realm>)`;
    return { ok: false, found: error.message, fix };
  }
  if ((opaqueTokens || askAlways) && address === undefined) {
    const sort = introspection === undefined ? "userinfo" : "introspection";
    const answer = await probeEndpoint(config, await provider.tokenEndpoint(sort, PROBER), parts);
    if (!answer.ok) return answer;
    found.push(`${sort} endpoint ${answer.found}`);
  }
  if (config.signIn !== undefined) {
    const answer = await probeSignIn({ ...config, signIn: config.signIn, issuer }, provider, parts);
    if (!answer.ok) return answer;
    found.push(answer.found);
  }
  return { ok: true, found: found.length === 0 ? "nothing is asked of it" : found.join("; ") };
}

/**
 * Tries the client of the browser sign-in without a user: its login at the token endpoint with a made-up code, and its
 * redirect address at the authorisation endpoint, which must not show a page (`prompt=none`; OIDC Core 1.0, 3.1.2.1).
 */
async function probeSignIn(
  { name, issuer, showCertificate, signIn: { client, scopes } }: ProbedConfig & {
    readonly issuer: string;
    readonly signIn: NonNullable<OAuthConfig["signIn"]>;
  },
  provider: Provider,
  { outgoing, externalUrl, clock }: ProbeParts,
): Promise<ProbeAnswer> {
  const http = outgoing.http(showCertificate);
  const { clientId } = client;
  const redirect = `${externalUrl}/login/${name}/done`;
  const login = await clientLogin(client, { audience: issuer, now: clock() });
  const verifier = "made-up-".repeat(6);
  const traded = await http.send(
    formRequest(await provider.codeEndpoint(PROBER), login, [
      ["grant_type", "authorization_code"],
      ["code", "made-up"],
      ["redirect_uri", redirect],
      ["code_verifier", verifier],
    ]),
    NEVER,
  );
  const page = new URL(await provider.authorizationEndpoint(PROBER));
  const parameters = { response_type: "code", client_id: clientId, redirect_uri: redirect, prompt: "none" };
  const challenge = hash("sha256", verifier, "base64url");
  const proof = { state: "check", nonce: "check", code_challenge: challenge, code_challenge_method: "S256" };
  for (const [key, value] of Object.entries({ ...parameters, ...proof, scope: scopes.join(" ") })) {
    page.searchParams.set(key, value);
  }
  const status = await statusOf(http, page.href);
  const isRegistered = status < 400;
  if (refusalIn("code", traded) === undefined) {
    const why = errorText(traded, "key" in client ? [] : [client.clientSecret]);
    const found = `the token endpoint refuses client ${clientId} with status ${traded.status}` +
      (why && `, ${why}`);
    return isRegistered
      ? { ok: false, found, fix: secretFix(client) }
      : { ok: false, found: `${found}, and the authorization endpoint too`, fix: clientFix(clientId) };
  }
  if (!isRegistered) {
    const found = `the authorization endpoint refuses the redirect address with status ${status}`;
    return { ok: false, found, fix: `register ${redirect} as redirect address of client ${clientId}` };
  }
  return { ok: true, found: "takes the client and its redirect address; not tried: a user's sign-in" };
}

const clientFix = (clientId: string) =>
  `see whether client ${clientId} is registered there, and compare clientID`;

function secretFix(client: ClientLogin): string {
  const keys = "key" in client ? "clientKey and clientKeyId" : "clientSecret and clientAuthentication";
  return `compare ${keys} with those of client ${client.clientId} at the provider`;
}

/** Probes a configured key URL. */
export async function probeKeys(config: OAuthConfig, parts: ProbeParts): Promise<ProbeAnswer> {
  return { ok: true, found: await keysOf(new Provider(config, httpParts(config, parts))) };
}

function httpParts({ showCertificate }: OAuthConfig, { outgoing, clock, log }: ProbeParts) {
  return { http: outgoing.http(showCertificate), clock, log };
}

async function keysOf(provider: Provider): Promise<string> {
  const { keys, leftOut } = await provider.keys(PROBER);
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
  const { introspection } = config;
  const probed = { ...config, address, issuer: undefined, opaqueTokens: true };
  const method = new OAuth(probed, httpParts(config, parts));
  const authorization = { kind: "bearer", token: new Secret(UNKNOWN_TOKEN), route: "provider" } as const;
  try {
    const { kind } = await method.authenticate({ authorization, clientAddress: "" }, NEVER);
    return kind === "refused" ? { ok: true, found: "knows this service, and refuses an unknown token" } : {
      ok: false,
      found: `an unknown token is ${kind}`,
      fix: "see whether address is that of the endpoint",
    };
  } catch (error) {
    if (!(error instanceof RemoteUnavailable) || !error.connected) throw error;
    const fix = `${clientFix(introspection.clientId)}; ${secretFix(introspection)}`;
    return { ok: false, found: error.message, fix };
  } finally {
    method.close();
  }
}
