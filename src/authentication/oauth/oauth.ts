import { Buffer } from "node:buffer";
import type { Logger } from "../../logging/logger.ts";
import { type Clock, type Stopwatch, stopwatch } from "../../model/clock.ts";
import type { Credentials } from "../../model/credentials.ts";
import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "../../outgoing/outgoing_http.ts";
import { type Asker, type RemoteStatus, RemoteSystem } from "../../outgoing/remote_system.ts";
import { askerOf } from "../asker_of.ts";
import { Assignments } from "../assignments.ts";
import type { Authenticator, Verdict } from "../authenticator.ts";
import { checkIdentity, NoIdentity } from "../check_identity.ts";
import { type Answer, CredentialCache } from "../credential_cache.ts";
import type { Variables } from "../expression/value.ts";
import { tokenProblem } from "../malformed_token.ts";
import { tokenForProvider } from "../provider_token.ts";
import type { OAuthConfig } from "./keys.ts";
import { fillNameTemplate } from "./name_template.ts";
import { InvalidReply, parseReply } from "./reply_variables.ts";
import { unmetRequirement } from "./token_requirements.ts";

/** How long the provider's word on a good token, and on a bad one, is taken again. */
const GOOD_MS = 5 * 60_000;
const BAD_MS = 5_000;

/**
 * OAUTH: asks an OpenID Connect provider about the caller's bearer token, at the userinfo endpoint with the token
 * itself or at the introspection endpoint (RFC 7662) as a client (authentication.md 5.1 to 5.3).
 *
 * A status that speaks of the token refuses it. A status that speaks of us (a wrong client secret, a wrong address) or
 * of the provider is an outage: 503 instead of telling all users that their tokens are wrong.
 */
export class OAuth implements Authenticator {
  readonly name: string;
  readonly challenges = ["Bearer"] as const;
  readonly #config: OAuthConfig;
  readonly #assignments: Assignments;
  readonly #remote: RemoteSystem;
  readonly #cache: CredentialCache<Verdict>;

  /** @throws {InvalidFile} If an assignment expression cannot be read. */
  constructor(
    config: OAuthConfig,
    { http, clock, elapsed = stopwatch, log }: {
      readonly http: OutgoingHttp;
      readonly clock: Clock;
      readonly elapsed?: Stopwatch;
      readonly log: Logger;
    },
  ) {
    this.name = config.name;
    this.#config = config;
    const own = log.child({ method: config.name });
    this.#assignments = new Assignments(config.assignments, own);
    this.#remote = new RemoteSystem({ address: config.address, http, clock, elapsed, log: own });
    this.#cache = new CredentialCache({ clock, elapsed });
  }

  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<Verdict> {
    const token = tokenForProvider(credentials);
    if (typeof token !== "string") return token;
    return await this.#cache.get([token], async (signal, credential) => {
      const problem = tokenProblem(token, { opaque: this.#config.opaqueTokens });
      if (problem !== undefined) return this.#refused(problem);
      return await this.#ask(token, askerOf(credentials, credential, signal));
    }, signal);
  }

  /** Whether the provider answers. */
  status(): RemoteStatus {
    return this.#remote.status();
  }

  close(): void {
    this.#cache.close();
  }

  #ask(token: string, asker: Asker): Promise<Answer<Verdict>> {
    return this.#remote.ask(this.#request(token), asker, (response) => {
      const reason = this.#refusal(response);
      if (reason !== undefined) return this.#refused(reason);
      try {
        return this.#judge(token, parseReply(response.body));
      } catch (error) {
        if (error instanceof NoIdentity) return this.#refused(error.message);
        if (error instanceof InvalidReply) throw this.#remote.unusable(error.message, error);
        throw error;
      }
    });
  }

  #request(token: string): OutgoingRequest {
    const { address: url, introspection } = this.#config;
    if (introspection === undefined) {
      return {
        method: "GET",
        url,
        headers: { Accept: "application/json", Authorization: `Bearer ${token}` },
      };
    }
    const { clientId, clientSecret } = introspection;
    return {
      method: "POST",
      url,
      headers: {
        Accept: "application/json",
        "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8",
      },
      body: new URLSearchParams([["client_id", clientId], ["client_secret", clientSecret], ["token", token]])
        .toString(),
    };
  }

  /**
   * Why the provider's status refuses the token, if it does.
   * @throws {RemoteUnavailable}
   */
  #refusal({ status, headers }: OutgoingResponse): string | undefined {
    // RFC 6750 section 3.1. An introspection endpoint answers 200 about bad tokens, and 401 to bad clients.
    const speaksOfToken = this.#config.introspection === undefined && [400, 401, 403].includes(status);
    if (speaksOfToken) return `the provider answered with status ${status}`;
    if (status < 200 || status >= 300) throw this.#remote.unusable(`unexpected status ${status}`);
    if (headers["content-type"]?.startsWith("application/jwt")) {
      throw this.#remote.unusable("signed userinfo replies (application/jwt) are not supported");
    }
    return undefined;
  }

  #judge(token: string, reply: Variables): Answer<Verdict> {
    const active = reply.get("active");
    if (active !== "true" && (active !== undefined || this.#config.introspection !== undefined)) {
      return this.#refused("the token is not active");
    }
    const claims = readClaims(token);
    const unmet = unmetRequirement(this.#config, reply, claims);
    if (unmet !== undefined) return this.#refused(unmet);
    const dn = this.#identity(reply);
    const identity = { dn, method: "OAUTH", via: this.name, ...this.#assignments.attributes(reply) };
    const ends = [reply, claims].map((said) => expiry(said?.get("exp")));
    return {
      value: { kind: "accepted", identity },
      good: true,
      lifetimeMs: GOOD_MS,
      endsAt: Math.min(...ends),
    };
  }

  /** @throws {NoIdentity} */
  #identity(reply: Variables): string {
    if (this.#assignments.namesUsers) return this.#assignments.identity(reply);
    const filled = fillNameTemplate(this.#config.dnTemplate ?? "", reply);
    if (filled === undefined) {
      const template = this.#config.dnTemplate;
      throw new NoIdentity(
        `the answer has no value for ${template}, expected identityAssign with one that it has`,
      );
    }
    return checkIdentity(filled);
  }

  #refused(reason: string): Answer<Verdict> {
    return { value: { kind: "refused", reason }, good: false, lifetimeMs: BAD_MS };
  }
}

/** The claims of a token that is a JWT, unverified: only the provider can tell whether it is genuine. */
function readClaims(token: string): Variables | undefined {
  const [, payload, signature, more] = token.split(".", 4);
  if (payload === undefined || signature === undefined || more !== undefined) return undefined;
  try {
    return parseReply(Buffer.from(payload, "base64url").toString("utf8"));
  } catch (error) {
    if (error instanceof InvalidReply) return undefined;
    throw error;
  }
}

/** `exp` in milliseconds; none is no end, and one that cannot be read is at once. */
function expiry(exp: unknown): number {
  if (exp === undefined) return Infinity;
  const seconds = typeof exp === "string" && /^[0-9]+(?:\.[0-9]+)?$/.test(exp) ? Number(exp) : 0;
  return seconds * 1000;
}
