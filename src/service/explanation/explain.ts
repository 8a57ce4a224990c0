import { isDeepStrictEqual } from "node:util";
import { mayAccess } from "../../attributes/access_rules.ts";
import { accountsOf, attributesOnServer } from "../../attributes/server_attributes.ts";
import { BANNED_ROLE, type UserAttributes } from "../../attributes/user_attributes.ts";
import type { TokenCheck } from "../../authentication/authenticator.ts";
import {
  applicable,
  authenticate,
  type AuthenticationChain,
  type ResultListener,
  unauthenticated,
} from "../../authentication/chain.ts";
import { SessionClient } from "../../daemon/session/session_client.ts";
import { parseCredentials } from "../../authentication/parse_credentials.ts";
import { onError } from "../../model/attempt.ts";
import { describeError, type Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import { addressGroup } from "../../model/address.ts";
import { userKey } from "../../model/credentials.ts";
import { HeaderList } from "../../model/http_message.ts";
import type { Identity } from "../../model/identity.ts";
import { HttpError } from "../../model/http_error.ts";
import type { Ban } from "../../throttling/ban.ts";
import { applies } from "../../throttling/operator_bans.ts";
import { attemptSubject } from "../../throttling/login_throttle.ts";
import { groupRefusal } from "../../resource/group_refusal.ts";
import { checkLogin } from "../../resource/login_policy.ts";
import { lowestLimit, type ServerFacts } from "../../resource/server_facts.ts";
import type { ServerEntry } from "../../resource/server_list.ts";
import { checkTokenServer } from "../../resource/token_limits.ts";
import { assemble, type ServiceParts } from "../assembly/assemble.ts";
import type { ServiceOptions } from "../assembly/service_options.ts";
import { attributesOf, claimedUser } from "../identify.ts";
import type { SourceParts } from "../../attributes/attribute_source_kind.ts";
import type { WrittenName } from "../../config/kind.ts";
import type { AttributeSet } from "../../model/attributes.ts";

export interface ExplainedCaller {
  readonly authorization?: string; // value of `Authorization`; absent: `dn` is assumed
  readonly dn?: string;
  readonly login?: string; // user name, assumed to be authenticated
  readonly certificate?: string; // OpenSSH certificate for `login`; its key is assumed to be proved
  readonly clientAddress: string; // canonical
}

interface Question {
  readonly caller: ExplainedCaller;
  readonly server?: string; // absent: any
  readonly online?: boolean; // logs in to the daemons, too
  readonly bans?: readonly Ban[]; // of the running service, if known
}

interface Explaining extends Question {
  readonly parts: ServiceParts;
  readonly headers: HeaderList;
  readonly signal: AbortSignal;
  readonly record: DecisionRecord;
  readonly log: Logger;
}

/**
 * Runs a session request up to the daemon with the service's own parts and records each step. Does not count failed logins;
 * asks daemons for keys and liveness.
 */
export async function explain(
  options: ServiceOptions,
  question: Question,
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
): Promise<Explanation> {
  const record = new DecisionRecord();
  const { config } = options;
  // The running service owns the store of shares and uploads.
  const [sharing, features] = [{ ...config.sharing, servers: [] }, { ...config.features, files: false }];
  const dependencies = { log, clock, onAnswer: record.answer, readOnly: true };
  const parts = await assemble({ ...options, config: { ...config, sharing, features } }, dependencies);
  const { authorization } = question.caller;
  const headers = HeaderList.of(authorization === undefined ? {} : { Authorization: authorization });
  const { signal } = new AbortController();
  try {
    return await explainWith({ ...question, parts, headers, signal, record, log });
  } finally {
    await parts.close();
  }
}

const ASSUMED = { method: "ASSUMED", via: "ASSUMED" } as const;

async function explainWith(explaining: Explaining): Promise<Explanation> {
  const { parts, caller, server, online, headers, signal, record, log } = explaining;
  const { authenticators, sources } = record; // these fill in the meantime
  const token = await tokenChecks(parts.chain, headers, signal);
  let identity: Identity | undefined;
  let user: UserAttributes;
  const known = () => ({ authenticators, token, caller: identity, sources });
  try {
    identity = await identityOf(explaining);
    user = await attributesOf(identity, { headers, signal }, parts);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    // The chain reports all authenticators; a single one is more precise.
    const refused = identity === undefined
      ? authenticators.find(({ reason }) => reason !== undefined)
      : undefined;
    const refusal = refused === undefined ? error.message : `${refused.authenticator}: ${refused.reason}`;
    return { ...known(), servers: [], bans: bansOf(explaining, identity), refusal };
  }
  const mayAsk = !parts.accessControl || mayAccess("auth", "POST", user.role);
  const selected = [...parts.servers.values()].filter(({ name }) => server === undefined || name === server);
  const { clientAddresses } = parts.config.sharing;
  const servers = await Promise.all(selected.map((facts) =>
    onServer(facts, {
      user,
      identity,
      clientAddress: caller.clientAddress,
      online,
      sessions: new SessionClient(facts.daemons, { clientAddresses }),
    }, log)
  ));
  const found = bansOf(explaining, identity, accountsOf(user));
  const refusal = refusalBy(found) ??
    (!mayAsk
      ? (user.role === BANNED_ROLE ? undefined : user.outage?.message) ??
        `The role ${user.role} may not ask for sessions`
      : servers.some((step) => step.refusal === undefined)
      ? undefined
      : servers[0]?.refusal ?? "No transfer server is configured");
  return { ...known(), user: { ...user, outage: undefined }, mayAsk, servers, bans: found, refusal };
}

/** Returns the checks of a provider's token, by each authenticator that would see it. */
async function tokenChecks(chain: AuthenticationChain, headers: HeaderList, signal: AbortSignal) {
  const { authorization } = parseCredentials(headers, { clientAddress: "" });
  if (authorization.kind !== "bearer" || authorization.route !== "provider") return [];
  const text = authorization.token.reveal();
  const receiving = applicable(chain.authenticators, { authorization });
  const checks = await Promise.all(receiving.map(async (authenticator) => {
    const found = await authenticator.explainToken?.(text, signal) ?? [];
    return found.map((check) => ({ ...check, authenticator: authenticator.name }));
  }));
  return checks.flat();
}

/** Returns the caller's bans, matched as the service does. */
function bansOf(
  { bans, caller: { dn, login, clientAddress }, headers }: Explaining,
  identity: Identity | undefined,
  accounts: readonly string[] = [],
): readonly Ban[] | undefined {
  const claimed = claimedUser(parseCredentials(headers, { clientAddress }).authorization);
  const typed = [login, claimed].flatMap((name) => name === undefined ? [] : [userKey(name)]);
  const subject = identity === undefined
    ? { users: typed, names: dn === undefined ? undefined : [dn], address: addressGroup(clientAddress) }
    : attemptSubject(identity, clientAddress, [...typed, ...accounts]);
  return bans?.filter((ban) => applies(ban, subject));
}

/** Returns why bans refuse the caller; ignores throttled addresses, from which known clients can still log in. */
function refusalBy(bans: readonly Ban[] = []): string | undefined {
  const ban = bans.find(({ reason, user }) => reason === "operator" || user !== undefined);
  if (ban === undefined) return undefined;
  const until = new Date(ban.until).toISOString();
  return ban.reason === "operator"
    ? `banned until ${until}`
    : `too many failed logins, has to wait until ${until}`;
}

async function identityOf(
  { parts: { chain }, caller, headers, signal, record, log }: Explaining,
): Promise<Identity> {
  const { dn, login, certificate, clientAddress } = caller;
  if (dn !== undefined) return { dn, ...ASSUMED };
  if (login !== undefined && certificate !== undefined) {
    return certifiedIdentity(chain, certificate, { login, clientAddress });
  }
  if (login !== undefined) {
    // Only users in files are known: any name could be an account with keys on a daemon.
    const listing = chain.authenticators.filter((authenticator) => authenticator.lists?.(login));
    const [known] = [...listing, ...chain.authenticators].flatMap((authenticator) =>
      authenticator.namesOf?.(login) ?? []
    );
    if (known !== undefined) return { dn: known, login, ...ASSUMED };
    throw unauthenticated(chain, `no password file and no keys file has a user ${login}`);
  }
  try {
    const credentials = parseCredentials(headers, { clientAddress });
    const { caller } = await authenticate(chain, credentials, { log, signal, onResult: record.onResult });
    if (caller instanceof HttpError) throw caller;
    if (caller.kind === "authenticated") return caller.identity;
    throw new TypeError("credentials cannot yield an anonymous caller");
  } finally {
    record.endAuthenticators(chain);
  }
}

function certifiedIdentity(
  chain: ServiceParts["chain"],
  line: string,
  { login, clientAddress }: { readonly login: string; readonly clientAddress: string },
): Identity {
  let reason = "no method takes certificates for SSH keys: certificateAuthorities is not set";
  for (const { certificates } of chain.authenticators) {
    const result = certificates?.simulate(line, login, clientAddress);
    if (result?.kind === "accepted") return { ...result.identity, authTime: "now" };
    if (result?.kind === "refused") reason = `the certificate does not count: ${result.reason}`;
  }
  throw unauthenticated(chain, reason);
}

/** Explains the decision on one server; the login of an assumed caller is unknown. */
async function onServer(
  { name, daemons, reservations, logins }: ServerFacts,
  { user, identity, clientAddress, online, sessions }: Pick<Question, "online"> & {
    readonly user: UserAttributes;
    readonly identity: Identity;
    readonly clientAddress: string;
    readonly sessions: SessionClient;
  },
  log: Logger,
): Promise<ServerStep> {
  const requires = logins?.summary;
  try {
    const call = { caller: { kind: "authenticated", identity }, clientAddress } as const;
    checkTokenServer(call, name);
    checkLogin(identity.via === ASSUMED.via ? { clientAddress } : call, { logins });
    const account = attributesOnServer(user, name, { log });
    const { uid, gid, groups, availableGroups, rateLimit, includes, excludes } = account;
    const others = daemons.size > 1 ? daemons.status().instances.map(({ instance }) => instance) : [];
    const { signal } = new AbortController();
    for (const instance of online ? [undefined, ...others] : []) {
      const trial = groupRefusal(sessions, { user: uid, group: groups, instance }, signal);
      const reason = await trial.catch(onError(HttpError, (error) => {
        if (instance === undefined || error.status !== 503) throw error; // others take over
      }));
      const daemon = instance === undefined ? "the daemon" : `daemon ${name}-${instance}`;
      const refusal = `${daemon} refuses ${uid} in the group ${groups}: ${reason}`;
      if (reason !== undefined) return { server: name, requires, refusal };
    }
    const reservationLimit = reservations.limitFor(uid);
    const limit = lowestLimit(rateLimit, reservationLimit);
    return {
      server: name,
      requires,
      uid,
      gid,
      availableGroups,
      ...(limit > 0 && { rateLimit: limit }),
      ...(reservationLimit > 0 && { reservationLimit }),
      includes,
      excludes,
      reservations: reservations.descriptionsFor(uid),
    };
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { server: name, requires, refusal: error.message };
  }
}

/** Recorder of authentication and attribute decisions around unchanged chains. */
class DecisionRecord {
  readonly authenticators: AuthenticatorStep[] = [];
  readonly sources: SourceStep[] = [];
  #identity: Identity | undefined;

  readonly onResult: ResultListener = (authenticator, result) => {
    if (result.kind === "failed") {
      this.authenticators.push({ authenticator, outcome: "failed", reason: describeError(result.error) });
      return;
    }
    const reason = "reason" in result ? { reason: result.reason } : {};
    this.authenticators.push({ authenticator, outcome: result.kind, ...reason });
  };

  /** Records authenticators that were not reached. */
  endAuthenticators({ issuedTokens, authenticators }: AuthenticationChain): void {
    const reached = new Set(this.authenticators.map(({ authenticator }) => authenticator));
    for (const { name } of issuedTokens === undefined ? authenticators : [issuedTokens, ...authenticators]) {
      if (!reached.has(name)) this.authenticators.push({ authenticator: name, outcome: "not asked" });
    }
  }

  readonly answer: NonNullable<SourceParts["onAnswer"]> = (source, identity, answer) => {
    // The second call asks for the caller without the account, if it is proven only on some servers.
    this.#identity ??= identity;
    const entry = source.originOf?.(identity);
    const step: SourceStep = {
      source: source.name,
      entry,
      ...(answer instanceof Error ? { failure: describeError(answer) } : { attributes: valuesOf(answer) }),
    };
    const elsewhere = identity !== this.#identity;
    if (elsewhere && this.sources.some((earlier) => isDeepStrictEqual(earlier, step))) return;
    this.sources.push(elsewhere ? { ...step, elsewhere } : step);
  };
}

function valuesOf({ standard, extra }: AttributeSet): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries([
    ...[...standard].map(([name, { allowed, preferred }]) =>
      [name, [...new Set([...preferred, ...allowed])]] as const
    ),
    ...extra,
  ]);
}

/** Decision about a caller, step by step; plain data without secrets. */
export interface Explanation {
  /** In calling order, our tokens first; empty without authentication. */
  readonly authenticators: readonly AuthenticatorStep[];
  /** Checks of an access token by each authenticator that takes it. */
  readonly token: readonly (TokenCheck & { readonly authenticator: string })[];
  readonly caller?: Identity;
  readonly sources: readonly SourceStep[]; // in calling order
  readonly user?: UserAttributes;
  readonly mayAsk?: boolean; // whether the role may open sessions
  readonly servers: readonly ServerStep[];
  /** Bans and throttling of the running service for the caller; absent: no answer. */
  readonly bans?: readonly Ban[];
  readonly refusal?: string; // first reason against a session; absent if some server permits it
}

export interface AuthenticatorStep {
  readonly authenticator: string;
  readonly outcome: "accepted" | "refused" | "skipped" | "failed" | "not asked";
  readonly reason?: string;
}

export interface SourceStep {
  readonly source: string;
  readonly entry?: WrittenName; // matching entry
  readonly attributes?: Readonly<Record<string, readonly string[]>>; // default value first
  readonly failure?: string;
  readonly elsewhere?: true; // the answer applies where the authenticated account is not proven
}

export interface ServerStep extends Pick<ServerEntry, "uid" | "gid" | "availableGroups" | "rateLimit"> {
  readonly server: string;
  readonly refusal?: string;
  readonly requires?: string; // login requirements in words
  readonly reservationLimit?: number; // part of the limit due to reservations
  readonly includes?: string;
  readonly excludes?: string;
  readonly reservations?: readonly string[];
}
