import type { ServerResponse } from "node:http";
import type { Credential } from "../pki/authority.ts";
import { type Answer, type HttpsServer, type SeenRequest, startHttpsServer } from "./https_server.ts";

/** An OpenID Connect provider for tests, with userinfo and introspection endpoints below one origin. */
export interface OidcProvider extends AsyncDisposable {
  readonly server: HttpsServer;
  readonly userinfo: string;
  readonly introspection: string;
  /** What it says about each valid token. */
  readonly tokens: Map<string, Readonly<Record<string, unknown>>>;
  /** If set, answers in its place; the request is noted all the same. */
  set fault(fault: Answer | undefined);
}

/** The one client the introspection endpoint knows. */
export const CLIENT = { clientId: "uftp", clientSecret: "s&cret +%" };

export async function startOidcProvider(credential: Credential): Promise<OidcProvider> {
  const tokens = new Map<string, Readonly<Record<string, unknown>>>();
  const behaviour: { fault: Answer | undefined } = { fault: undefined };
  const server = await startHttpsServer(credential, (request, response) => {
    if (behaviour.fault !== undefined) return behaviour.fault(request, response);
    if (request.path === "/userinfo") return answerUserinfo(tokens, request, response);
    if (request.path === "/introspect") return answerIntrospection(tokens, request, response);
    response.writeHead(404).end();
  });
  return {
    server,
    userinfo: `${server.origin}/userinfo`,
    introspection: `${server.origin}/introspect`,
    tokens,
    set fault(fault: Answer | undefined) {
      behaviour.fault = fault;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
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
  sendJson(response, claims === undefined ? { active: false } : { active: true, ...claims });
}

export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(value));
}
