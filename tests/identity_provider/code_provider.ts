import type { ServerResponse } from "node:http";
import { createHash, randomUUID } from "node:crypto";
import type { Credential } from "../pki/authority.ts";
import { type AssertingClient, ClientAssertions } from "./client_assertion.ts";
import { type HttpsServer, startHttpsServer } from "./https_server.ts";
import { sendJson } from "./oidc_provider.ts";
import { createSigner, type TokenSigner } from "./token_issuer.ts";

/** Client of the provider. */
export const CODE_CLIENT = { id: "portal", secret: "a-secret-of-portal-4711" };

/** Wrong behaviour of the provider that a test requests. */
export interface Misbehaviour {
  /** Additional or replaced members of the ID token. */
  readonly idToken?: Readonly<Record<string, unknown>>;
  /** Likewise of the access token. */
  readonly accessToken?: Readonly<Record<string, unknown>>;
  /** Additional or replaced members of the answer to a code. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** Signer in place of the provider's own. */
  readonly signer?: TokenSigner;
}

/**
 * OpenID Connect provider with the authorisation code flow, as strict as it should be (RFC 6749, 7636, 9207).
 */
export interface CodeProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly server: HttpsServer;
  readonly signer: TokenSigner;
  /** Additional or replaced members of the discovery document. */
  metadata: Readonly<Record<string, unknown>>;
  misbehaviour: Misbehaviour;
  /** Whether it issues refresh tokens. */
  refreshing: boolean;
  /** Users whose logins it has ended. */
  readonly lockedOut: Set<string>;
  /** Whether its token endpoint answers refresh tokens with 503. */
  away: boolean;
  /** Runs between the redemption of a code and its answer. */
  redeemed: () => Promise<void>;
  /** Claim `groups` of access tokens. */
  groups: readonly string[];
  /** Redirect URIs of its client; absent: any. */
  redirects: readonly string[] | undefined;
  now: () => number;
  /** Faults of the client authentication so far. */
  readonly faults: readonly string[];
  /** Signs a user in and redirects the browser. @returns Path and query of our service. */
  signIn(location: string, user: string): string;
}

/** @param client Client that logs in by signatures; default: {@link CODE_CLIENT} with its secret. */
export async function startCodeProvider(
  credential: Credential,
  client?: Omit<AssertingClient, "id">,
): Promise<CodeProvider> {
  const codes = new Map<string, { readonly asked: URLSearchParams; readonly user: string }>();
  const signer = createSigner("ES256", randomUUID());
  const state: Pick<
    CodeProvider,
    | "metadata"
    | "misbehaviour"
    | "refreshing"
    | "lockedOut"
    | "away"
    | "redeemed"
    | "groups"
    | "redirects"
    | "now"
  > = {
    metadata: {},
    misbehaviour: {},
    refreshing: false,
    lockedOut: new Set(),
    away: false,
    redeemed: () => Promise.resolve(),
    groups: ["hpc"],
    redirects: undefined,
    now: Date.now,
  };
  let assertions: ClientAssertions | undefined;
  const faults: string[] = [];
  /** Logins by refresh token; each token is valid once. */
  const sessions = new Map<string, { readonly asked: URLSearchParams; readonly user: string }>();
  const withRefreshToken = (session: { readonly asked: URLSearchParams; readonly user: string }) => {
    if (!state.refreshing) return {};
    const refreshToken = randomUUID();
    sessions.set(refreshToken, session);
    return { refresh_token: refreshToken };
  };
  const renew = (refreshToken: string, response: ServerResponse) => {
    const session = sessions.get(refreshToken);
    sessions.delete(refreshToken);
    if (state.away) return response.writeHead(503).end();
    if (session === undefined || state.lockedOut.has(session.user)) {
      return response.writeHead(400, { "Content-Type": "application/json" }).end('{"error":"invalid_grant"}');
    }
    const tokens = tokensFor(server.origin, session, { signer, ...state, ...state.misbehaviour });
    sendJson(response, { ...tokens, ...withRefreshToken(session), ...state.misbehaviour.answer });
  };
  /** Redirects with an error instead of a page, since nobody is signed in (OIDC Core 1.0, 3.1.2.6). */
  const authorize = (asked: URLSearchParams, response: ServerResponse) => {
    const redirect = asked.get("redirect_uri") ?? "";
    const isKnown = asked.get("client_id") === CODE_CLIENT.id &&
      state.redirects?.includes(redirect) !== false;
    const back = `${redirect}?error=login_required&state=${asked.get("state")}`;
    return isKnown ? response.writeHead(303, { Location: back }).end() : response.writeHead(400).end();
  };
  const server = await startHttpsServer(credential, (request, response) => {
    const issuer = server.origin;
    if (request.path === "/.well-known/openid-configuration") {
      return sendJson(response, { ...metadataOf(issuer), ...state.metadata });
    }
    if (request.path === "/keys") return sendJson(response, { keys: [signer.jwk] });
    if (request.path.startsWith("/auth?")) {
      return authorize(new URL(request.path, issuer).searchParams, response);
    }
    if (request.path !== "/token" || request.method !== "POST") return response.writeHead(404).end();
    const form = new URLSearchParams(request.body);
    if (form.get("grant_type") === "refresh_token") return renew(form.get("refresh_token") ?? "", response);
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? ""); // each code is valid once
    const httpError = (status: number, error: string) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify({ error }));
    const isPlain = form.get("client_id") === CODE_CLIENT.id &&
      form.get("client_secret") === CODE_CLIENT.secret;
    if (client !== undefined) assertions ??= new ClientAssertions({ ...client, id: CODE_CLIENT.id }, issuer);
    const fault = assertions === undefined ? isPlain ? undefined : "secret" : assertions.fault(form);
    if (fault !== undefined) {
      faults.push(fault);
      return httpError(401, "invalid_client");
    }
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    if (
      code === undefined || challenge !== code.asked.get("code_challenge") ||
      form.get("redirect_uri") !== code.asked.get("redirect_uri")
    ) return httpError(400, "invalid_grant");
    const tokens = {
      ...tokensFor(issuer, code, { signer, ...state, ...state.misbehaviour }),
      ...withRefreshToken(code),
      ...state.misbehaviour.answer,
    };
    void state.redeemed().then(() => sendJson(response, tokens));
  });
  return Object.assign(state, {
    issuer: server.origin,
    server,
    signer,
    faults,
    signIn(location: string, user: string) {
      const asked = new URL(location).searchParams;
      const code = randomUUID();
      codes.set(code, { asked, user });
      const back = new URL(asked.get("redirect_uri") ?? "");
      back.search = new URLSearchParams({ code, state: asked.get("state") ?? "", iss: server.origin })
        .toString();
      return back.pathname + back.search;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  });
}

function metadataOf(issuer: string) {
  return {
    issuer,
    jwks_uri: `${issuer}/keys`,
    authorization_endpoint: `${issuer}/auth?tenant=a`,
    token_endpoint: `${issuer}/token`,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  };
}

function tokensFor(
  issuer: string,
  { asked, user }: { readonly asked: URLSearchParams; readonly user: string },
  { signer, idToken, accessToken, groups, now: clock }:
    & Misbehaviour
    & Pick<CodeProvider, "groups" | "now">
    & { readonly signer: TokenSigner },
) {
  const now = Math.floor(clock() / 1000);
  const common = { iss: issuer, sub: user, iat: now, exp: now + 300, auth_time: now, acr: "mfa" };
  return {
    token_type: "Bearer",
    access_token: signer.sign({
      ...common,
      aud: "uftp",
      client_id: CODE_CLIENT.id,
      scope: "openid",
      groups,
      jti: randomUUID(),
      ...accessToken,
    }),
    id_token: signer.sign({
      ...common,
      sid: `session of ${user}`,
      aud: CODE_CLIENT.id,
      nonce: asked.get("nonce"),
      ...idToken,
    }),
  };
}
