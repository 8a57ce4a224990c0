import { createHash, randomUUID } from "node:crypto";
import type { Credential } from "../pki/authority.ts";
import { type AssertingClient, ClientAssertions } from "./client_assertion.ts";
import { type HttpsServer, startHttpsServer } from "./https_server.ts";
import { sendJson } from "./oidc_provider.ts";
import { createSigner, type TokenSigner } from "./token_issuer.ts";

/** The client that it knows. */
export const CODE_CLIENT = { id: "portal", secret: "a-secret-of-portal-4711" };

/** What a test has the provider do otherwise than it should. */
export interface Misbehaviour {
  /** Members of the ID token in place of its own. */
  readonly idToken?: Readonly<Record<string, unknown>>;
  /** Members of the answer to a code in place of its own. */
  readonly answer?: Readonly<Record<string, unknown>>;
  /** Signs in place of the provider. */
  readonly signer?: TokenSigner;
}

/** An OpenID Connect provider with the authorisation code flow, as strict as it should be (RFC 6749, 7636, 9207). */
export interface CodeProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly server: HttpsServer;
  readonly signer: TokenSigner;
  /** Members of the discovery document in place of its own. */
  metadata: Readonly<Record<string, unknown>>;
  misbehaviour: Misbehaviour;
  /** What was wrong with the logins of its client. */
  readonly faults: readonly string[];
  /** A user signs in there, and the browser is sent back. @returns Path and query of our service. */
  signIn(location: string, user: string): string;
}

/** @param client Logs in by signatures; absent: {@link CODE_CLIENT} does by its secret. */
export async function startCodeProvider(
  credential: Credential,
  client?: Omit<AssertingClient, "id">,
): Promise<CodeProvider> {
  const codes = new Map<string, { readonly asked: URLSearchParams; readonly user: string }>();
  const signer = createSigner("ES256", randomUUID());
  const state: Pick<CodeProvider, "metadata" | "misbehaviour"> = { metadata: {}, misbehaviour: {} };
  let assertions: ClientAssertions | undefined;
  const faults: string[] = [];
  const server = await startHttpsServer(credential, (request, response) => {
    const issuer = server.origin;
    if (request.path === "/.well-known/openid-configuration") {
      return sendJson(response, { ...metadataOf(issuer), ...state.metadata });
    }
    if (request.path === "/keys") return sendJson(response, { keys: [signer.jwk] });
    if (request.path !== "/token" || request.method !== "POST") return response.writeHead(404).end();
    const form = new URLSearchParams(request.body);
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? ""); // each counts once
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
    sendJson(response, {
      ...tokensFor(issuer, code, { signer, ...state.misbehaviour }),
      ...state.misbehaviour.answer,
    });
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
  { signer, idToken }: Misbehaviour & { readonly signer: TokenSigner },
) {
  const now = Math.floor(Date.now() / 1000);
  const common = { iss: issuer, sub: user, iat: now, exp: now + 300, auth_time: now, acr: "mfa" };
  return {
    token_type: "Bearer",
    access_token: signer.sign({
      ...common,
      aud: "uftp",
      client_id: CODE_CLIENT.id,
      scope: "openid",
      jti: randomUUID(),
    }),
    id_token: signer.sign({ ...common, aud: CODE_CLIENT.id, nonce: asked.get("nonce"), ...idToken }),
  };
}
