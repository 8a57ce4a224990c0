import { hash } from "node:crypto";
import { onError } from "../../model/attempt.ts";
import type { Clock } from "../../model/clock.ts";
import { Secret } from "../../model/secret.ts";
import { errorText, refusalIn } from "../provider_answers.ts";
import type { OutgoingResponse } from "../../outgoing/outgoing.ts";
import type { Requester } from "../../outgoing/remote_system.ts";
import type {
  BrowserLogin,
  BrowserVisit,
  EndedLogins,
  LoginOutcome,
  ProviderSession,
} from "../authenticator.ts";
import type { Identity } from "../../model/identity.ts";
import type { ReplayRecord } from "../../model/replay_cache.ts";
import { CLOCK_TOLERANCE, InvalidToken, readForeignToken } from "../signed_token.ts";
import { isJsonObject, parseJsonObject } from "../../model/json_object.ts";
import { readBearer } from "../parse_credentials.ts";
import { type IssuerKeys, LOGOUT_S, verifyIdToken, verifyLogoutToken } from "./access_token.ts";
import { clientLogin, formRequest } from "./client_login.ts";
import type { OAuthConfig } from "./oauth_config.ts";
import type { Provider } from "./provider.ts";

const MOST_CHARACTERS = 4096; // characters
const MOST_LOGOUTS = 20_000; // logout tokens of one issuer that are remembered

/**
 * Sign-in by authorisation code (OIDC Core 1.0, 3.1; RFC 9700) with PKCE S256 (RFC 7636), state and nonce
 * bound to the browser, and `iss` if supported (RFC 9207). The access token is then checked as if a client
 * had presented it.
 */
export class CodeLogin implements BrowserLogin {
  readonly title: string;
  readonly issuer: string;

  constructor(
    readonly config: Pick<OAuthConfig, "name" | "requiredAcr" | "maxAuthAge"> & {
      readonly issuer: string;
      readonly signIn: NonNullable<OAuthConfig["signIn"]>;
    },
    readonly parts: {
      readonly provider: Provider;
      readonly keys: IssuerKeys;
      readonly clock: Clock;
      readonly replays: ReplayRecord; // logout tokens already presented
    },
  ) {
    this.issuer = config.issuer;
    this.title = config.signIn.title ?? new URL(config.issuer).host;
  }

  async begin({ redirectUri, state, nonce, verifier }: BrowserVisit, caller: Requester): Promise<string> {
    const { signIn: { client, scopes }, requiredAcr, maxAuthAge } = this.config;
    const url = new URL(await this.parts.provider.authorizationEndpoint(caller));
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

  async logoutAddress(back: string, caller: Requester): Promise<string | undefined> {
    const endpoint = await this.parts.provider.endSessionEndpoint(caller);
    if (endpoint === undefined) return undefined;
    const url = new URL(endpoint);
    url.searchParams.set("client_id", this.config.signIn.client.clientId);
    url.searchParams.set("post_logout_redirect_uri", back);
    return url.href;
  }

  async finish(answer: URLSearchParams, visit: BrowserVisit, caller: Requester): Promise<LoginOutcome> {
    return await unlessInvalid(async () => {
      const code = await this.#codeOf(answer, caller);
      const { accessToken, idToken, refreshToken } = await this.#redeem(code, visit, caller);
      const login = await this.#verify(idToken, { nonce: visit.nonce, accessToken, signal: caller.signal });
      if (accessToken === idToken) throw new InvalidToken("the access token is the ID token");
      const { sid, ...claims } = login;
      return this.#outcome(accessToken, { sub: claims.sub, sid, refreshToken }, claims);
    });
  }

  async renew(
    session: ProviderSession & { readonly refreshToken: string },
    { acr, authTime }: Pick<Identity, "acr" | "authTime">,
    caller: Requester,
  ): Promise<LoginOutcome> {
    return await unlessInvalid(async () => {
      const { accessToken, refreshToken = session.refreshToken } = await this.#ask(
        [["grant_type", "refresh_token"], ["refresh_token", session.refreshToken]],
        [session.refreshToken],
        { caller, what: "the refresh token", read: accessTokenOf },
      );
      return this.#outcome(accessToken, { ...session, refreshToken }, {
        sub: session.sub,
        acr,
        auth_time: authTime?.toString(),
      });
    });
  }

  async readLogout<T>(
    text: string,
    end: (logins: EndedLogins) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { name, issuer, signIn: { client: { clientId } } } = this.config;
    const { keys, clock, replays } = this.parts;
    const token = readForeignToken(text);
    if (token === undefined) throw new InvalidToken("the logout token is no signed JWT");
    const { jti, ...ended } = await verifyLogoutToken(token, { issuer, keys, now: clock(), signal });
    if (![token.claims.get("aud")].flat().includes(clientId)) {
      throw new InvalidToken("the logout token is for another client");
    }
    const endsAt = clock() + (LOGOUT_S + 2 * CLOCK_TOLERANCE) * 1000;
    const key = hash("sha256", `logout ${name} ${issuer} ${jti}`, "base64");
    if (!await replays.note({ owner: issuer, key, endsAt }, MOST_LOGOUTS)) {
      throw new InvalidToken("the logout token was shown before, or there were too many");
    }
    return await end(ended).catch(async (error) => {
      await replays.forget(key);
      throw error;
    });
  }

  #outcome(
    accessToken: string,
    session: ProviderSession,
    login: Readonly<Record<"sub", string> & Record<"acr" | "auth_time", string | undefined>>,
  ): LoginOutcome {
    const bearer = readBearer(accessToken);
    // The service sends a token only to the provider that issued it (RFC 9700, 4.4).
    if (bearer.route !== "provider") throw new InvalidToken("the access token is not from a provider");
    const { issuer } = this;
    return {
      kind: "token",
      authorization: { kind: "bearer", token: new Secret(accessToken), ...bearer, issuer, login },
      session,
    };
  }

  /** @throws {InvalidToken} If the response is invalid or another provider's. */
  async #codeOf(answer: URLSearchParams, caller: Requester): Promise<string> {
    const one = (name: string) => {
      const [value, ...more] = answer.getAll(name);
      if (more.length > 0 || (value?.length ?? 0) > MOST_CHARACTERS) {
        throw new InvalidToken(`${name} of the provider's answer is there twice, or too long`);
      }
      return value;
    };
    const [code, error, iss] = [one("code"), one("error"), one("iss")];
    // RFC 9207, 2.4: check the issuer before using the response.
    const named = await this.parts.provider.sendsIssuer(caller);
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

  /** Exchanges the code (RFC 6749, 4.1.3). @throws {InvalidToken | RemoteUnavailable} */
  #redeem(code: string, { redirectUri, verifier }: BrowserVisit, caller: Requester) {
    const fields: [string, string][] = [
      ["grant_type", "authorization_code"],
      ["code", code],
      ["redirect_uri", redirectUri],
      ["code_verifier", verifier],
    ];
    return this.#ask(fields, [code, verifier], { caller, what: "the code", read: tokensOf });
  }

  async #ask<T>(
    fields: [string, string][],
    given: readonly string[],
    { caller, what, read }: {
      readonly caller: Requester;
      readonly what: string;
      readonly read: (response: OutgoingResponse) => T | undefined;
    },
  ): Promise<T> {
    const { issuer, signIn: { client } } = this.config;
    const { provider, clock } = this.parts;
    const url = await provider.codeEndpoint(caller);
    const login = await clientLogin(client, { audience: issuer, now: clock() });
    const secrets = [...given, "key" in client ? "" : client.clientSecret];
    const answer = await provider.ask(formRequest(url, login, fields), caller, (response) => {
      const detail = errorText(response, secrets);
      if (refusalIn("code", response) !== undefined) {
        return new InvalidToken(`the provider does not take ${what}, ${detail}`);
      }
      if (response.status !== 200) {
        throw provider.unusable(url, `unexpected status ${response.status}${detail && `, ${detail}`}`);
      }
      const tokens = read(response);
      if (tokens !== undefined) return tokens;
      throw provider.unusable(url, "the answer has not all tokens, expected the scope openid");
    });
    if (answer instanceof InvalidToken) throw answer; // only now: a refusal shows that the provider is up
    return answer;
  }

  /** Verifies the ID token for this visit (OIDC Core 1.0, 3.1.3.7). Returns `acr` and `auth_time` if present. */
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
    if (claims.has("at_hash") && claims.get("at_hash") !== accessTokenHash(token.algorithm, accessToken)) {
      throw new InvalidToken("the ID token was made with another access token");
    }
    const [sub, sid, acr, authTime] = ["sub", "sid", "acr", "auth_time"].map((name) => claims.get(name));
    if (typeof sub !== "string") throw new InvalidToken("no subject");
    return {
      sub,
      sid: typeof sid === "string" ? sid : undefined,
      acr: typeof acr === "string" ? acr : undefined,
      auth_time: typeof authTime === "number" ? String(authTime) : undefined,
    };
  }
}

/** Returns the expected `at_hash` (OIDC Core 1.0, 3.1.3.6); Ed25519 uses SHA-512. */
function accessTokenHash(algorithm: string, accessToken: string): string {
  const bits = /^[REP]S(256|384|512)$/.exec(algorithm)?.[1] ?? "512";
  const digest = hash(`sha${bits}`, accessToken, "buffer");
  return digest.subarray(0, digest.length / 2).toString("base64url");
}

function tokensOf(response: OutgoingResponse) {
  const tokens = accessTokenOf(response);
  return tokens?.idToken === undefined ? undefined : { ...tokens, idToken: tokens.idToken };
}

function accessTokenOf({ body }: OutgoingResponse) {
  const document = parseJsonObject(new TextEncoder().encode(body));
  const members = document && Object.fromEntries(document);
  if (!isJsonObject(members)) return undefined;
  const { access_token: accessToken, id_token, refresh_token, token_type: type } = members;
  const isBearer = typeof type === "string" && type.toLowerCase() === "bearer";
  if (!isBearer || typeof accessToken !== "string") return undefined;
  return { accessToken, idToken: textOr(id_token), refreshToken: textOr(refresh_token) };
}

function unlessInvalid(login: () => Promise<LoginOutcome>): Promise<LoginOutcome> {
  return login().catch(onError(InvalidToken, ({ message }) => ({ kind: "refused", reason: message })));
}

function textOr(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
