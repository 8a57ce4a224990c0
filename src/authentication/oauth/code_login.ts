import { hash } from "node:crypto";
import type { Clock } from "../../model/clock.ts";
import { Secret } from "../../model/secret.ts";
import { errorCode, errorText } from "../../outgoing/error_text.ts";
import type { OutgoingResponse } from "../../outgoing/outgoing_http.ts";
import type { Asker } from "../../outgoing/remote_system.ts";
import type { BrowserLogin, BrowserVisit, LoginOutcome } from "../authenticator.ts";
import { readForeignToken } from "../foreign_token.ts";
import { isJsonObject, parseJsonObject } from "../json_object.ts";
import { readBearer } from "../route_bearer.ts";
import { InvalidToken } from "../signed_token.ts";
import { type IssuerKeys, verifyIdToken } from "./access_token.ts";
import { clientLogin, formRequest } from "./client_login.ts";
import type { OAuthConfig } from "./oauth_config.ts";
import type { Provider } from "./provider.ts";
import { secondsOf } from "./token_requirements.ts";

/** Longest code or error that is taken from a browser, in characters. */
const MOST_CHARACTERS = 4096;

/**
 * Has people sign in at an OpenID Connect provider by authorisation code (OIDC Core 1.0, 3.1; RFC 9700): with PKCE by S256
 * (RFC 7636), a state and a nonce that belong to the browser, and `iss` in the answer where the provider has it (RFC 9207).
 * Whoever comes back is known by the access token, as if a client had shown it: all that is required of tokens holds.
 */
export class CodeLogin implements BrowserLogin {
  readonly title: string;

  constructor(
    readonly config: Pick<OAuthConfig, "requiredAcr" | "maxAuthAge"> & {
      readonly issuer: string;
      readonly signIn: NonNullable<OAuthConfig["signIn"]>;
    },
    readonly parts: { readonly provider: Provider; readonly keys: IssuerKeys; readonly clock: Clock },
  ) {
    this.title = config.signIn.title ?? new URL(config.issuer).host;
  }

  async begin({ redirectUri, state, nonce, verifier }: BrowserVisit, asker: Asker): Promise<string> {
    const { signIn: { client, scopes }, requiredAcr, maxAuthAge } = this.config;
    const url = new URL(await this.parts.provider.authorizationEndpoint(asker));
    const parameters = {
      response_type: "code",
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: scopes.join(" "),
      state,
      nonce,
      code_challenge: hash("sha256", verifier, "base64url"),
      code_challenge_method: "S256",
      acr_values: requiredAcr.length > 0 ? requiredAcr.join(" ") : undefined,
      max_age: maxAuthAge?.toString(),
    };
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined) url.searchParams.set(name, value);
    }
    return url.href;
  }

  async finish(answer: URLSearchParams, visit: BrowserVisit, asker: Asker): Promise<LoginOutcome> {
    try {
      const code = await this.#codeOf(answer, asker);
      const { accessToken, idToken } = await this.#redeem(code, visit, asker);
      const login = await this.#verify(idToken, { nonce: visit.nonce, accessToken, signal: asker.signal });
      const bearer = readBearer(accessToken);
      // Whatever it says itself, or if it says nothing: it is shown to nobody but who made it (RFC 9700, 4.4).
      if (bearer.route !== "provider") throw new InvalidToken("the access token is none of a provider");
      const { issuer, maxAuthAge } = this.config;
      return {
        kind: "token",
        authorization: { kind: "bearer", token: new Secret(accessToken), ...bearer, issuer, login },
        until: maxAuthAge === undefined ? undefined : secondsOf(login.auth_time) + maxAuthAge,
      };
    } catch (error) {
      if (error instanceof InvalidToken) return { kind: "refused", reason: error.message };
      throw error;
    }
  }

  /** @throws {InvalidToken} If the answer is none of this provider, or none at all. */
  async #codeOf(answer: URLSearchParams, asker: Asker): Promise<string> {
    const one = (name: string) => {
      const [value, ...more] = answer.getAll(name);
      if (more.length > 0 || (value?.length ?? 0) > MOST_CHARACTERS) {
        throw new InvalidToken(`${name} of the provider's answer is there twice, or too long`);
      }
      return value;
    };
    const [code, error, iss] = [one("code"), one("error"), one("iss")];
    // RFC 9207, 2.4: whose answer it is, before anything of it is used.
    const named = await this.parts.provider.namesItself(asker);
    if (iss === undefined ? named : iss !== this.config.issuer) {
      throw new InvalidToken("the answer is of another provider");
    }
    if (error !== undefined) {
      throw new InvalidToken(
        `the provider answers ${/^[\w.-]{1,64}$/.test(error) ? error : "with an error"}`,
      );
    }
    if (code === undefined || code === "") throw new InvalidToken("the provider's answer has no code");
    return code;
  }

  /** Trades the code for tokens (RFC 6749, 4.1.3). @throws {InvalidToken | RemoteUnavailable} */
  async #redeem(code: string, { redirectUri, verifier }: BrowserVisit, asker: Asker) {
    const { issuer, signIn: { client } } = this.config;
    const { provider, clock } = this.parts;
    const url = await provider.codeEndpoint(asker);
    const request = formRequest(url, await clientLogin(client, { audience: issuer, now: clock() }), [
      ["grant_type", "authorization_code"],
      ["code", code],
      ["redirect_uri", redirectUri],
      ["code_verifier", verifier],
    ]);
    const secrets = [code, verifier, "key" in client ? "" : client.clientSecret];
    return await provider.ask(request, asker, (response) => {
      const said = errorText(response, secrets);
      // RFC 6749, 5.2: this alone speaks of the code, all else of us or of the provider.
      if (response.status === 400 && errorCode(response) === "invalid_grant") {
        throw new InvalidToken(`the provider does not take the code, ${said}`);
      }
      if (response.status !== 200) {
        throw provider.unusable(url, `unexpected status ${response.status}${said && `, ${said}`}`);
      }
      return tokensOf(response) ?? refuseTokens(provider, url);
    });
  }

  /** Looks at who has signed in, and for which visit (OIDC Core 1.0, 3.1.3.7). @returns How and when, if that is said. */
  async #verify(
    text: string,
    { nonce, accessToken, signal }: {
      readonly nonce: string;
      readonly accessToken: string;
      readonly signal: AbortSignal;
    },
  ) {
    const { issuer, signIn: { client: { clientId } } } = this.config;
    const token = readForeignToken(text);
    if (token === undefined) throw new InvalidToken("the ID token is no signed JWT");
    const { keys, clock } = this.parts;
    await verifyIdToken(token, { issuer, keys, now: clock(), signal });
    const { claims } = token;
    const audience = [claims.get("aud")].flat();
    if (!audience.includes(clientId) || (audience.length > 1 && !claims.has("azp"))) {
      throw new InvalidToken("the ID token is for another client");
    }
    if (claims.has("azp") && claims.get("azp") !== clientId) {
      throw new InvalidToken("the ID token was made for another client");
    }
    if (claims.get("nonce") !== nonce) throw new InvalidToken("the ID token is of another visit");
    const hashed = accessTokenHash(token.header.get("alg"), accessToken);
    if (claims.has("at_hash") && claims.get("at_hash") !== hashed) {
      throw new InvalidToken("the ID token was made with another access token");
    }
    const [sub, acr, authTime] = [claims.get("sub"), claims.get("acr"), claims.get("auth_time")];
    if (typeof sub !== "string") throw new InvalidToken("no subject");
    return {
      sub,
      acr: typeof acr === "string" ? acr : undefined,
      auth_time: typeof authTime === "number" ? String(authTime) : undefined,
    };
  }
}

/** Returns what `at_hash` must be (OIDC Core 1.0, 3.1.3.6); Ed25519 hashes by SHA-512. */
function accessTokenHash(algorithm: unknown, accessToken: string): string {
  const bits = /^[REP]S(256|384|512)$/.exec(String(algorithm))?.[1] ?? "512";
  const digest = hash(`sha${bits}`, accessToken, "buffer");
  return digest.subarray(0, digest.length / 2).toString("base64url");
}

/** The two tokens of an answer (RFC 6749, 5.1; OIDC Core 1.0, 3.1.3.3); `undefined` if they are not there. */
function tokensOf({ body }: OutgoingResponse) {
  const document = parseJsonObject(new TextEncoder().encode(body));
  const said = document && Object.fromEntries(document);
  if (!isJsonObject(said)) return undefined;
  const { access_token: accessToken, id_token: idToken, token_type: type } = said;
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  if (!isBearer || typeof accessToken !== "string" || typeof idToken !== "string") return undefined;
  return { accessToken, idToken };
}

function refuseTokens(provider: Provider, url: string): never {
  throw provider.unusable(url, "the answer for a code has not both tokens, expected the scope openid");
}
