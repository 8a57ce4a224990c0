import type { ServerResponse } from "node:http";
import type { Credential } from "../pki/authority.ts";
import { type Answer, type HttpsServer, type SeenRequest, startHttpsServer } from "./https_server.ts";

/** OpenID Connect provider for tests, with userinfo and introspection endpoints below one origin. */
export interface OidcProvider extends AsyncDisposable {
  readonly server: HttpsServer;
  readonly userinfo: string;
  readonly introspection: string;
  /** Issuer in its discovery document and its tokens. */
  readonly issuer: string;
  /** Its key set; the provider publishes changes at once. */
  readonly keys: unknown[];
  /** Additional or replaced members of its discovery document. */
  metadata: Readonly<Record<string, unknown>>;
  /** Path of the discovery document. */
  metadataPath: string;
  /** Claims of each valid token. */
  readonly tokens: Map<string, Readonly<Record<string, unknown>>>;
  /** Handler that answers in its place, if set; the provider still records requests. */
  set fault(fault: Answer | undefined);
}

/** The only client of the introspection endpoint. */
export const CLIENT = { clientId: "uftp", clientSecret: "s&cret +%" };

export async function startOidcProvider(credential: Credential): Promise<OidcProvider> {
  const tokens = new Map<string, Readonly<Record<string, unknown>>>();
  const keys: unknown[] = [];
  const behaviour: { fault: Answer | undefined; metadata: Readonly<Record<string, unknown>> } = {
    fault: undefined,
    metadata: {},
  };
  const place = { metadataPath: "/.well-known/openid-configuration" };
  const server = await startHttpsServer(credential, (request, response) => {
    if (behaviour.fault !== undefined) return behaviour.fault(request, response);
    if (request.path === "/userinfo") return answerUserinfo(tokens, request, response);
    if (request.path === "/introspect") return answerIntrospection(tokens, request, response);
    if (request.path === "/keys") return sendJson(response, { keys });
    if (request.path === place.metadataPath) {
      return sendJson(response, { ...metadataOf(server.origin), ...behaviour.metadata });
    }
    response.writeHead(404).end();
  });
  return {
    server,
    issuer: server.origin,
    keys,
    get metadataPath() {
      return place.metadataPath;
    },
    set metadataPath(path: string) {
      place.metadataPath = path;
    },
    get metadata() {
      return behaviour.metadata;
    },
    set metadata(metadata: Readonly<Record<string, unknown>>) {
      behaviour.metadata = metadata;
    },
    userinfo: `${server.origin}/userinfo`,
    introspection: `${server.origin}/introspect`,
    tokens,
    set fault(fault: Answer | undefined) {
      behaviour.fault = fault;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function metadataOf(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    introspection_endpoint: `${issuer}/introspect`,
  };
}

type Tokens = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

function answerUserinfo(tokens: Tokens, request: SeenRequest, response: ServerResponse): void {
  const [scheme, token = ""] = String(request.headers.authorization).split(" ");
  const claims = tokens.get(token);
  if (request.method !== "GET" || scheme !== "Bearer" || claims === undefined) {
    response.writeHead(401, { "WWW-Authenticate": 'Bearer error="invalid_token"' }).end();
  } else sendJson(response, claims);
}

function answerIntrospection(tokens: Tokens, request: SeenRequest, response: ServerResponse): void {
  const form = new URLSearchParams(request.body);
  if (form.get("client_id") !== CLIENT.clientId || form.get("client_secret") !== CLIENT.clientSecret) {
    response.writeHead(401).end();
    return;
  }
  const claims = tokens.get(form.get("token") ?? "");
  sendJson(
    response,
    claims === undefined ? { active: false } : { active: true, token_type: "Bearer", ...claims },
  );
}

export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}
