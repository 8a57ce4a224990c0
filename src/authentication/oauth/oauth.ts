import { attempt } from "../../model/attempt.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Clock, realTime, type Schedule, type Stopwatch, stopwatch } from "../../model/clock.ts";
import type { Authorization, Credentials } from "../../model/credentials.ts";
import type { Identity } from "../../model/identity.ts";
import { HttpError } from "../../model/http_error.ts";
import { PROOFS, ReplayCache, type ReplayRecord } from "../../model/replay_cache.ts";
import type { OutgoingHttp } from "../../outgoing/outgoing.ts";
import type { RemoteStatus, Requester } from "../../outgoing/remote_system.ts";
import { requesterOf } from "../requester_of.ts";
import { Assignments } from "../assignments.ts";
import type {
  AuthenticationResult,
  Authenticator,
  BrowserLogin,
  StepUp,
  TokenCheck,
  TokenIssuer,
} from "../authenticator.ts";
import { checkIdentity, NoIdentity } from "../check_identity.ts";
import { type Answer, AnswerCache } from "../../model/answer_cache.ts";
import type { Variables } from "../expression/value.ts";
import { type ForeignToken, InvalidToken, NO_JWT, readForeignToken } from "../signed_token.ts";
import { tokenForProvider } from "../parse_credentials.ts";
import { isMarkedAccess, otherTokenType, verifyAccessToken } from "./access_token.ts";
import {
  readCapabilities,
  requirementChecks,
  secondsOf,
  type Unmet,
  unmetRequirement,
} from "./token_requirements.ts";
import { claimAt, type Claims, fillIdentityTemplate, InvalidReply, parseReply, textsOf } from "../claims.ts";
import { CodeLogin } from "./code_login.ts";
import { type Confirmation, PossessionCheck, readConfirmation } from "./confirmation.ts";
import { Groups } from "./groups.ts";
import { KeySet } from "./key_set.ts";
import type { OAuthConfig } from "./oauth_config.ts";
import { Provider } from "./provider.ts";
import { escapeNameValue } from "../../model/distinguished_name.ts";
import { messageOf } from "../../model/text.ts";

const BAD_MS = 5_000; // cache time of refused tokens

type Login = NonNullable<Extract<Authorization, { readonly kind: "bearer" }>["login"]>;

interface Found {
  readonly result: AuthenticationResult;
  readonly confirmation: Confirmation; // binding, checked for each request
}

interface Known {
  readonly claims: Variables; // the provider's claims, then the token's
  readonly claim: Claims;
  readonly endsAt: number; // milliseconds since the epoch
  readonly confirmation: Confirmation;
}

class Refused extends InvalidToken {
  readonly stepUp: StepUp | undefined;

  constructor({ reason, stepUp, advice }: Unmet) {
    super(reason, { advice });
    this.stepUp = stepUp;
  }
}

/**
 * OAUTH: verifies JWTs of a configured issuer (RFC 9068), and asks the provider about other tokens
 * (credentials.md 5.1 to 5.3). Bound tokens require proof of possession (RFC 9449, 8705).
 */
export class OAuth implements Authenticator {
  readonly name: string;
  readonly challenges: Authenticator["challenges"];
  readonly issuer?: TokenIssuer;
  readonly browserLogin?: BrowserLogin;
  readonly derivedLifetime: number;
  readonly maxAuthAge: number | undefined;
  readonly #clock: Clock;
  readonly #sharedClock: Clock;
  readonly #assignments: Assignments;
  readonly #groups: Groups;
  readonly #provider: Provider;
  readonly #keys: KeySet;
  readonly #possession: PossessionCheck;
  readonly #cache: AnswerCache<Found>;

  constructor(
    readonly config: OAuthConfig,
    { http, clock, sharedClock = clock, elapsed, schedule, proofs = new ReplayCache(PROOFS, clock), log }: {
      readonly http: OutgoingHttp;
      readonly clock: Clock;
      readonly sharedClock?: Clock; // default: `clock`
      readonly elapsed?: Stopwatch;
      readonly schedule?: Schedule;
      readonly proofs?: ReplayRecord; // shared by all authenticators, also across reloads
      readonly log: Logger;
    },
  ) {
    this.name = config.name;
    this.derivedLifetime = config.derivedLifetime;
    this.maxAuthAge = config.maxAuthAge;
    this.challenges = config.issuer === undefined ? ["Bearer"] : ["Bearer", "DPoP"];
    if (config.issuer !== undefined) {
      this.issuer = { url: config.issuer, scopes: config.requiredScope, asked: config.askAlways };
    }
    this.#clock = clock;
    this.#sharedClock = sharedClock;
    const own = log.child({ method: config.name });
    this.#assignments = new Assignments(config.assignments, own);
    this.#groups = new Groups(config, own);
    this.#provider = new Provider(config, { http, clock, elapsed, log: own });
    const times = { elapsed: elapsed ?? stopwatch, schedule: schedule ?? realTime };
    this.#keys = new KeySet({ provider: this.#provider, ...times, log: own });
    const { issuer, signIn } = config;
    if (issuer !== undefined && signIn !== undefined) {
      const parts = { provider: this.#provider, keys: this.#keys, clock, replays: proofs };
      this.browserLogin = new CodeLogin({ ...config, issuer, signIn }, parts);
    }
    this.#possession = new PossessionCheck(clock, proofs);
    this.#cache = new AnswerCache({ clock, elapsed });
  }

  async warmUp(): Promise<void> {
    if (this.issuer !== undefined) await this.#keys.warmUp();
  }

  async authenticate(credentials: Credentials, signal: AbortSignal): Promise<AuthenticationResult> {
    const token = tokenForProvider(credentials, { bound: true });
    if (typeof token !== "string") return token;
    const { authorization } = credentials;
    const named = authorization.kind === "bearer" ? authorization.issuer : undefined;
    if (this.issuer !== undefined && named !== undefined && named !== this.issuer.url) {
      return { kind: "skipped", reason: "the token is of another issuer" };
    }
    const login: Login = authorization.kind === "bearer" ? authorization.login ?? {} : {};
    const { result, confirmation } = await this.#cache.get(
      [token, JSON.stringify(login), named === undefined ? "" : String(this.#keys.version)],
      (signal, credential) => this.#find(token, login, requesterOf(credentials, credential, signal)),
      signal,
    );
    if (result.kind !== "accepted") return result;
    try {
      await this.#possession.check(result.identity.dn, confirmation, credentials);
      const bound = Object.keys(confirmation).length > 0;
      return bound ? { kind: "accepted", identity: { ...result.identity, bound } } : result;
    } catch (error) {
      if (!(error instanceof InvalidToken)) throw error;
      return { kind: "refused", reason: error.message, advice: error.advice };
    }
  }

  /** Checks a token step by step, for operators: issuer, signature or provider's answer, each requirement, name. */
  async explainToken(text: string, signal: AbortSignal): Promise<readonly TokenCheck[]> {
    const checks: TokenCheck[] = [];
    const check = (what: string, expected: string, found: string, ok: boolean) =>
      checks.push({ what, expected, found, ok });
    try {
      const token = readForeignToken(text);
      const { issuer } = this.config;
      const [iss, kid, alg] = [token?.claims.get("iss"), token?.header.get("kid"), token?.header.get("alg")];
      if (issuer !== undefined && token !== undefined) check("issuer", issuer, String(iss), iss === issuer);
      const key = token === undefined ? "opaque" : `${alg}, key ${kid ?? "without name"}`;
      const caller = requesterOf({ clientAddress: "" }, "explanation", signal);
      const known = await this.#verify(text, caller).catch((error) => {
        check("token", "verified", `${key}: ${messageOf(error)}`, false);
        throw error;
      });
      check("token", "verified", key, true);
      checks.push(...requirementChecks(this.config, known.claim, this.#clock()));
      if (known.confirmation.jkt ?? known.confirmation.certificate) {
        check("cnf", "bearer token", "bound", true);
      }
      check("name", "a distinguished name", this.#identity(known.claims, known.claim), true);
    } catch (error) {
      if (!(error instanceof InvalidToken || error instanceof NoIdentity || error instanceof HttpError)) {
        throw error;
      }
      if (error instanceof NoIdentity) check("name", "a distinguished name", error.message, false);
    }
    return checks;
  }

  status(): RemoteStatus {
    return this.#provider.status();
  }

  close(): void {
    this.#cache.close();
    this.#keys.close();
  }

  async #find(token: string, login: Login, caller: Requester): Promise<Answer<Found>> {
    try {
      const { sub, ...rest } = login;
      const known = await this.#verify(token, caller, sub !== undefined);
      // OIDC Core 1.0, 5.3.2: ID and access token must have the same user.
      if (sub !== undefined && known.claim("sub") !== sub) {
        throw new InvalidToken("the ID token is of another user");
      }
      const visit = new Map(Object.entries(rest));
      const all = { ...known, claim: (path: string) => known.claim(path) ?? visit.get(path) };
      const result = this.#evaluate(all);
      const loginEndsAt = (secondsOf(all.claim("auth_time")) + (this.maxAuthAge ?? Infinity)) * 1000;
      return {
        value: { result, confirmation: known.confirmation },
        good: true,
        lifetimeMs: this.config.cacheSeconds * 1000,
        endsAt: Math.min(known.endsAt, loginEndsAt),
      };
    } catch (error) {
      if (!(error instanceof InvalidToken || error instanceof NoIdentity)) throw error;
      const stepUp = error instanceof Refused ? error.stepUp : undefined;
      const advice = error instanceof InvalidToken ? error.advice : undefined;
      const result: AuthenticationResult = { kind: "refused", reason: error.message, stepUp, advice };
      return { value: { result, confirmation: {} }, good: false, lifetimeMs: BAD_MS };
    }
  }

  /**
   * Verifies a token and returns its claims. @throws {InvalidToken | RemoteUnavailable}
   * @param redeemed See {@link verifyAccessToken}.
   */
  async #verify(text: string, caller: Requester, redeemed = false): Promise<Known> {
    const { issuer, opaqueTokens, askAlways } = this.config;
    const token = readForeignToken(text);
    if (token === undefined && !opaqueTokens) throw new InvalidToken(NO_JWT);
    if (issuer === undefined || token === undefined) return await this.#ask(text, token, caller);
    const rules = { issuer, keys: this.#keys, now: this.#clock(), signal: caller.signal };
    await verifyAccessToken(token, { ...rules, redeemed });
    if (askAlways) return await this.#ask(text, token, caller);
    return knownOf({ claims: claimsOf(token), cnf: [token.claims.get("cnf")] });
  }

  async #ask(text: string, token: ForeignToken | undefined, caller: Requester): Promise<Known> {
    const reply = await this.#provider.inspectToken(text, caller);
    const claims = token && claimsOf(token);
    for (const part of [reply, claims]) {
      const other = part && otherTokenType((name) => part.get(name));
      if (other !== undefined) throw new InvalidToken(other, { advice: "kind" });
    }
    const isVerified = this.issuer !== undefined && token !== undefined;
    const { introspection, requiredAudience } = this.config;
    if (introspection !== undefined && !isVerified && requiredAudience.length === 0) {
      const isMarked = [reply, claims].some((part) => part !== undefined && isMarkedAccess(part, token));
      if (!isMarked) throw new InvalidToken(UNMARKED, { advice: "kind" });
    }
    const cnf = [reply.get("cnf"), token?.claims.get("cnf")];
    if (this.issuer === undefined) return knownOf({ claims: reply, token: claims, cnf });
    const fixed = fixedClaims(this.issuer.url, claims);
    checkReply(reply, fixed);
    return knownOf({ claims: new Map([...claims ?? [], ...reply, ...fixed]), token: claims, cnf });
  }

  #evaluate({ claims, claim }: Known): AuthenticationResult {
    const unmet = unmetRequirement(this.config, claim, this.#clock());
    if (unmet !== undefined) throw new Refused(unmet);
    if (!this.#groups.admit(claim)) throw new InvalidToken("the user is in none of the required groups");
    const dn = this.#identity(claims, claim);
    const attributes = this.#assignments.attributes(claims);
    const groups = this.#groups.areClaimed ? this.#groups.unixGroups(claim) : [];
    const { capabilities, capabilitiesBase = "" } = this.config;
    return {
      kind: "accepted",
      identity: {
        dn,
        method: "OAUTH",
        via: this.name,
        proved: Math.floor(this.#sharedClock() / 1000),
        ...attributes,
        ...loginIn(claim),
        ...(groups.length > 0 && { groups }),
        capabilities: capabilities ? readCapabilities(claim, capabilitiesBase) : undefined,
      },
    };
  }

  #identity(claims: Variables, claim: Claims): string {
    const { identityTemplate, dnTemplate } = this.config;
    if (this.#assignments.namesUsers) return this.#assignments.identity(claims);
    if (identityTemplate !== undefined) return fillIdentityTemplate(identityTemplate, claim);
    const filled = fillNameTemplate(dnTemplate ?? "", claims);
    if (filled === undefined) {
      throw new NoIdentity(
        `the answer has no value for ${dnTemplate}, expected identityAssign with one that it has`,
      );
    }
    return checkIdentity(filled);
  }
}

function loginIn(claim: Claims): Pick<Identity, "acr" | "authTime"> {
  const [acr, other] = textsOf(claim("acr"));
  return {
    ...(acr !== undefined && other === undefined && { acr }),
    ...(claim("auth_time") !== undefined && { authTime: secondsOf(claim("auth_time")) }),
  };
}

/** Claims of the verified token, which no later reply of the provider replaces. */
const TOKEN_CLAIMS = ["iss", "sub", "aud", "client_id", "azp", "appid", "cnf", "exp"];

/** Returns the fixed claims: the issuer, and those of a verified token. */
function fixedClaims(issuer: string, token: Variables | undefined): Variables {
  const claims = [...token ?? []].filter(([name]) => TOKEN_CLAIMS.includes(name));
  return new Map([...claims, ["iss", issuer]]);
}

/** Asserts that a reply is about the token (OIDC Core 1.0, 5.3.2) and from its issuer. @throws {InvalidToken} */
function checkReply(reply: Variables, fixed: Variables): void {
  const contradicts = (name: string) =>
    reply.has(name) && fixed.has(name) && reply.get(name) !== fixed.get(name);
  if (contradicts("iss")) throw new InvalidToken("the provider's answer names another issuer");
  if (contradicts("sub")) throw new InvalidToken("the provider's answer is about another user");
}

/** Introspection reports refresh tokens as active, too. */
const UNMARKED =
  "the introspection answer does not say that it is an access token (token_type), expected so, or requiredAudience";

function claimsOf({ body }: ForeignToken): Variables {
  return attempt(() => parseReply(body), InvalidReply, (cause) => {
    throw new InvalidToken("the claims cannot be read", { cause });
  });
}

/** Merges token and reply. @throws {InvalidToken} If a binding is unsupported. */
function knownOf(
  { claims, token, cnf }: {
    readonly claims: Variables;
    readonly token?: Variables | undefined;
    readonly cnf: readonly unknown[];
  },
): Known {
  const ends = [claims, token].flatMap((part) => {
    const exp = part?.get("exp");
    return exp === undefined ? [] : [secondsOf(exp) * 1000]; // 0 if malformed
  });
  return {
    claims,
    claim: (path) => claimAt(claims, path) ?? (token && claimAt(token, path)),
    endsAt: Math.min(...ends),
    confirmation: cnf.map(readConfirmation).reduce(joined),
  };
}

function joined(one: Confirmation, other: Confirmation): Confirmation {
  for (const way of ["jkt", "certificate"] as const) {
    if (one[way] !== undefined && other[way] !== undefined && one[way] !== other[way]) {
      throw new InvalidToken("the provider says that it is bound to another key or certificate");
    }
  }
  return { ...one, ...other };
}

/** Fills the deprecated `dnTemplate`: `%name` is an escaped member; `undefined` if there is none. */
function fillNameTemplate(template: string, variables: Variables): string | undefined {
  const texts = [...variables].flatMap(([name, variable]) => {
    const [text]: Iterable<unknown> = typeof variable === "string" ? [variable] : variable;
    return typeof text !== "string" || name === "" ? [] : [{ name, text }];
  }).sort((a, b) => b.name.length - a.name.length);
  let replaced = false;
  const [start = "", ...others] = template.split("%");
  const filled = others.map((part) => {
    const found = texts.find(({ name }) => part.startsWith(name));
    if (found === undefined) return `%${part}`;
    replaced = true;
    return escapeNameValue(found.text) + part.slice(found.name.length);
  });
  return replaced ? start + filled.join("") : undefined;
}
