import {
  type AuthenticatorKind,
  type AuthenticatorParts,
  createAuthenticators,
} from "../../authentication/authenticator_kind.ts";
import { askerOf } from "../../authentication/asker_of.ts";
import type { Authenticator, Renewal } from "../../authentication/authenticator.ts";
import type { KeptIdentity } from "../../authentication/sign_in/kept_identity.ts";
import type { RenewableSession } from "../../authentication/sign_in/provider_logins.ts";
import type { AuthenticationChain } from "../../authentication/chain.ts";
import { TokenIssuer } from "../../authentication/issued_token/issue.ts";
import { KINDS_OF_REVOKED, TokenRegistry } from "../../authentication/issued_token/token_registry.ts";
import { issuedToken } from "../../authentication/issued_token/verify.ts";
import { SignIns } from "../../authentication/sign_in/sign_ins.ts";
import { accountStatusOf, type AskAccountStatus, derivedUntil } from "../../authentication/account_status.ts";
import type { KindList } from "../../config/kind.ts";
import type { DatabaseConfig, GatewayConfig, ServiceConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Sinks } from "../../logging/sink.ts";
import { type Clock, stopwatch } from "../../model/clock.ts";
import type { Identity } from "../../model/identity.ts";
import type { ReplayRecord } from "../../model/replay_cache.ts";
import { DatabaseRecordStore } from "../../store/database_record_store.ts";
import type { PostgresDatabase } from "../../store/postgres/postgres_database.ts";
import type { Revocation } from "../../model/trust/revocation.ts";
import { RememberedRecords } from "../../store/remembered_records.ts";
import { METADATA_PATH } from "../../resource/protected_resource.ts";
import type { RequestObserver } from "../request_observer.ts";
import { readGatewayCertificate, readTrustedIssuer } from "./certificate_files.ts";
import { keySource } from "./open_servers.ts";
import type { OutgoingClients } from "./outgoing_clients.ts";
import type { OwnCertificate } from "./own_certificate.ts";
import { Records } from "./records.ts";

/** Seconds from a first token to the end of its renewals: 30 days. */
const RENEWAL_PERIOD = 30 * 24 * 3600;

interface AuthenticationParts {
  readonly own: OwnCertificate;
  readonly outgoing: OutgoingClients;
  readonly groups: readonly DaemonGroup[];
  readonly kinds: KindList<AuthenticatorKind>;
  /** PEM, one certificate each. */
  readonly assertionIssuers: readonly string[];
  readonly externalUrl: string;
  readonly observer: RequestObserver;
  readonly proofs: ReplayRecord;
  readonly log: Logger;
  /** Local clock, for foreign signatures. */
  readonly clock: Clock;
  /** Cluster clock, for our own records. */
  readonly sharedClock: Clock;
  /** Reads stored state without creating it, beside the running service. */
  readonly readOnly: boolean;
  /** Shared database; absent: a folder. */
  readonly database: PostgresDatabase | undefined;
  readonly sinks: Sinks;
  /** Registers a part to close at the end. */
  readonly keep: <T extends { close(): void }>(part: T) => T;
}

/** Opened authentication: authenticators with our tokens first, and stores. */
interface OpenAuthentication {
  readonly chain: AuthenticationChain;
  readonly accountStatus: AskAccountStatus;
  /** Absent without a signing certificate. */
  readonly tokens: TokenIssuer | undefined;
  /** Absent without storage or tokens. */
  readonly registry: TokenRegistry | undefined;
  readonly signIns: SignIns;
  readonly records: Records["open"];
  readonly anyRecords: Records["openAnyway"];
}

/** Opens authentication. @throws If a configured file is invalid. */
export async function openAuthentication(
  config: ServiceConfig,
  parts: AuthenticationParts,
): Promise<OpenAuthentication> {
  const { own, externalUrl, observer, log, sharedClock, readOnly, database, sinks, keep } = parts;
  const records = keep(new Records(database ?? config.sharing.directory, sharedClock, sinks.of("records")));
  const created = await openAuthenticators(config, parts, records);
  const authenticators = created.map((authenticator) => keep(observed(authenticator, observer)));
  const accountStatus: AskAccountStatus = (user, signal) =>
    accountStatusOf(authenticators, user, signal, sharedClock);
  const untilOf = (identity: Identity) => derivedUntil(authenticators, identity, sharedClock() / 1000);
  const issuing = {
    records,
    log,
    clock: sharedClock,
    accountStatus,
    derivedUntil: untilOf,
    readOnly,
    database,
    sinks,
    keep,
  };
  const { tokens, verifier, registry } = await openIssued(config, own, issuing);
  return {
    chain: {
      issuedTokens: verifier && observed(verifier, observer),
      authenticators,
      failOnMissingCredentials: config.authentication.failOnMissingCredentials,
      realm: config.site.name,
      metadata: authenticators.some(({ issuer }) => issuer !== undefined)
        ? externalUrl + METADATA_PATH
        : undefined,
    },
    accountStatus,
    tokens,
    registry,
    signIns: new SignIns({
      records: records.openAnyway,
      accountStatus,
      derivedUntil: untilOf,
      limits: config.browsers,
      renew: (identity, session, signal) => renewLogin(authenticators, identity, session, signal),
      revokeGot: async (owner, browser) => await registry?.revokeGot(owner, browser),
      clock: sharedClock,
      log,
    }),
    records: records.open,
    anyRecords: records.openAnyway,
  };
}

async function openAuthenticators(
  { authentication, additionalServiceIdentifiers: additionalIdentifiers, gateway }: ServiceConfig,
  { own, outgoing, groups, kinds, assertionIssuers, externalUrl: url, proofs, log, clock }:
    AuthenticationParts,
  records: Records,
): Promise<readonly Authenticator[]> {
  return await createAuthenticators(authentication.authenticators, kinds, {
    log,
    clock,
    keySources: groups.map(keySource),
    records: records.open,
    proofs,
    serverName: () => own.name() ?? "",
    revocation: () => revocationOfClients(own),
    outgoing,
    assertions: {
      url,
      additionalIdentifiers,
      issuers: () => assertionIssuers,
      anchors: () => own.material().providerAnchors ?? own.material().anchors,
    },
    gateway: await readGateway(gateway),
  });
}

/** Renews a login with its provider. An authenticator that is no longer configured vouches for no user. */
async function renewLogin(
  authenticators: readonly Authenticator[],
  { via, acr, authTime }: KeptIdentity,
  session: RenewableSession,
  signal: AbortSignal,
): Promise<Renewal> {
  const authenticator = authenticators.find(({ name }) => name === via);
  if (authenticator?.browserLogin === undefined) {
    return { kind: "refused", reason: "no browser signs in there any more" };
  }
  const clientAddress = "renewal"; // a queue key of their own: nobody else waits for these, nor they for others
  const asker = askerOf({ clientAddress }, session.sub, signal);
  const outcome = await authenticator.browserLogin.renew(session, { acr, authTime }, asker);
  if (outcome.kind === "refused") return outcome;
  const { authorization, session: { refreshToken = session.refreshToken } } = outcome;
  const result = await authenticator.authenticate({ authorization, clientAddress }, signal);
  if (result.kind === "accepted") return { kind: "renewed", identity: result.identity, refreshToken };
  return result.kind === "refused" ? result : { kind: "refused", reason: "no token of the provider" };
}

function revocationOfClients(own: OwnCertificate): Revocation | undefined {
  if (own.pem() === undefined) return undefined;
  const { clientAnchors, clientRevocation, revocation } = own.material();
  return clientAnchors === undefined ? revocation : clientRevocation;
}

async function openIssued(
  { issuedTokens, sharing }: ServiceConfig,
  own: OwnCertificate,
  { records, log, clock, accountStatus, derivedUntil, readOnly, database, sinks, keep }:
    & Pick<AuthenticationParts, "log" | "clock" | "readOnly" | "database" | "sinks" | "keep">
    & Pick<TokenIssuer["options"], "derivedUntil">
    & { readonly records: Records; readonly accountStatus: AskAccountStatus },
): Promise<
  { readonly tokens?: TokenIssuer; readonly verifier?: Authenticator; readonly registry?: TokenRegistry }
> {
  if (own.pem() === undefined) return {};
  const { lifetimeSeconds, maxLifetimeSeconds, hmacSecret, trustedIssuerFiles } = issuedTokens;
  const limits = {
    defaultLifetime: lifetimeSeconds,
    maxLifetime: maxLifetimeSeconds,
    renewalPeriod: RENEWAL_PERIOD,
  };
  const longest = Math.max(maxLifetimeSeconds, RENEWAL_PERIOD);
  const revoked = database && !readOnly ? await rememberRevoked(database, { log, keep }) : undefined;
  const registry = openRegistry(records, {
    log,
    clock,
    readOnly,
    longest,
    revoked,
    config: sharing.database,
    uses: sinks.of("token-uses"),
  });
  const trustedIssuers = await Promise.all(trustedIssuerFiles.map(readTrustedIssuer));
  return {
    tokens: new TokenIssuer({ tls: own.material, limits, derivedUntil, clock, registry }),
    verifier: issuedToken({
      tls: own.material,
      trustedIssuers,
      hmacSecret,
      accountStatus,
      registry,
      clock,
      log,
    }),
    registry,
  };
}

/** Only the service creates the database: it could not open another account's. */
function openRegistry(
  { open, openPresent }: Records,
  { readOnly, revoked, config, ...parts }:
    & Pick<TokenRegistry["parts"], "log" | "clock" | "longest" | "uses">
    & {
      readonly readOnly: boolean;
      readonly revoked: RememberedRecords | undefined;
      readonly config: DatabaseConfig | undefined;
    },
): TokenRegistry | undefined {
  const records = revoked ?? (readOnly ? openPresent() : open());
  const outage = revoked && config && {
    staleMs: () => revoked.staleMs,
    graceMs: config.outageGraceSeconds * 1000,
    shortMs: config.outageTokenSeconds * 1000,
  };
  return records &&
    new TokenRegistry({ records, elapsed: stopwatch, keepsUses: !readOnly, outage, ...parts });
}

/** Keeps revocations available without the database. */
async function rememberRevoked(
  database: PostgresDatabase,
  { log, keep }: Pick<AuthenticationParts, "log" | "keep">,
): Promise<RememberedRecords> {
  const { readRevocations } = await import("../../store/postgres/changed_records.ts");
  const remembered = keep(
    new RememberedRecords(new DatabaseRecordStore(database), {
      kinds: KINDS_OF_REVOKED,
      version: () => database.version("revocation"),
      session: () => database.sessions,
      read: (since) => readRevocations(database, KINDS_OF_REVOKED, since),
      isReachable: () => database.isReachable,
      elapsed: stopwatch,
      log,
    }),
  );
  await remembered.follow();
  return remembered;
}

async function readGateway({ enabled, certificate }: GatewayConfig): Promise<AuthenticatorParts["gateway"]> {
  if (!enabled) return undefined;
  if (certificate === undefined) return { certificate: () => undefined };
  const pem = await readGatewayCertificate(certificate);
  return { certificate: () => pem };
}

/** Wraps an authenticator to count its results, except skipped credentials. */
function observed(authenticator: Authenticator, observer: RequestObserver): Authenticator {
  const { name, challenges, issuer } = authenticator;
  const status = authenticator.status?.bind(authenticator);
  return {
    name,
    challenges,
    browserLogin: authenticator.browserLogin,
    looksAtCertificates: authenticator.looksAtCertificates,
    takesKeys: authenticator.takesKeys,
    issuer,
    status,
    derivedLifetime: authenticator.derivedLifetime,
    explainToken: authenticator.explainToken?.bind(authenticator),
    accountStatusOf: authenticator.accountStatusOf?.bind(authenticator),
    namesOf: authenticator.namesOf?.bind(authenticator),
    lists: authenticator.lists?.bind(authenticator),
    certificates: authenticator.certificates,
    close: () => authenticator.close(),
    async authenticate(credentials, signal) {
      try {
        const result = await authenticator.authenticate(credentials, signal);
        if (result.kind !== "skipped") observer.authenticated(name, result.kind);
        return result;
      } catch (error) {
        if (!signal.aborted) observer.authenticated(name, "unavailable");
        throw error;
      }
    },
  };
}
