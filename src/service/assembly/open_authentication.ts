import { type AuthenticatorKind, createAuthenticators } from "../../authentication/authenticator_kind.ts";
import { requesterOf } from "../../authentication/requester_of.ts";
import type { AuthenticationResult, Authenticator, Renewal } from "../../authentication/authenticator.ts";
import type { StoredIdentity } from "../../authentication/sign_in/stored_identity.ts";
import type { RenewableSession } from "../../authentication/sign_in/provider_logins.ts";
import type { ResultListener } from "../../authentication/chain.ts";
import { TokenIssuer } from "../../authentication/issued_token/issue.ts";
import { KINDS_OF_REVOKED, TokenRegistry } from "../../authentication/issued_token/token_registry.ts";
import { issuerSources } from "../../authentication/issued_token/issuer.ts";
import { issuedToken } from "../../authentication/issued_token/verify.ts";
import { SignIns } from "../../authentication/sign_in/sign_ins.ts";
import { type AccountLookup, accountStatusOf, derivedUntil } from "../../authentication/account_status.ts";
import type { KindList } from "../../config/kind.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import { type Clock, stopwatch } from "../../model/clock.ts";
import type { Identity } from "../../model/identity.ts";
import type { ReplayRecord } from "../../model/replay_cache.ts";
import { DatabaseRecordStore } from "../../store/database_record_store.ts";
import type { PostgresDatabase } from "../../store/postgres/postgres_database.ts";
import { CachedRecords } from "../../store/cached_records.ts";
import { NEVER } from "../../outgoing/probed_kind.ts";
import { METADATA_PATH } from "../../resource/protected_resource.ts";
import type { RequestObserver } from "../request_observer.ts";
import { readGatewayCertificate, readTrustedIssuer } from "./certificate_files.ts";
import { keySource } from "./open_servers.ts";
import type { OutgoingClients } from "./outgoing_clients.ts";
import { Records } from "./open_database.ts";
import type { Opening } from "./service_options.ts";

const RENEWAL_PERIOD = 30 * 24 * 3600; // seconds from a first token to the end of its renewals: 30 days

interface AuthenticationParts {
  readonly outgoing: OutgoingClients;
  readonly groups: readonly DaemonGroup[];
  readonly kinds: KindList<AuthenticatorKind>;
  readonly externalUrl: string;
  readonly observer: RequestObserver;
  readonly proofs: ReplayRecord;
  /** Cluster clock, for our own records; foreign signatures are checked by this machine's clock. */
  readonly sharedClock: Clock;
  readonly database: PostgresDatabase | undefined; // absent: a folder
}

/** Opened authentication: authenticators with our tokens first, and stores. */
export type OpenAuthentication = Awaited<ReturnType<typeof openAuthentication>>;

/** Opens authentication. @throws If a configured file is invalid. */
export async function openAuthentication(opening: Opening, parts: AuthenticationParts) {
  const { config, log, readOnly, sinks, autoClose } = opening;
  const { externalUrl, sharedClock: clock, observer, database } = parts;
  const records = autoClose(
    new Records(database ?? config.sharing.directory, clock, sinks.of("records"), readOnly),
  );
  const authenticators = await openAuthenticators(opening, parts, records);
  const { hmacSecret, trustedIssuerFiles } = config.issuedTokens;
  const trustedIssuers = await Promise.all(trustedIssuerFiles.map(readTrustedIssuer));
  const sources = [...authenticators, ...issuerSources(trustedIssuers, hmacSecret)];
  const accountStatus: AccountLookup = (user, signal) => accountStatusOf(sources, user, signal, clock);
  const untilOf = (identity: Identity) => derivedUntil(authenticators, identity, clock() / 1000);
  const issued = { records, clock, trustedIssuers, accountStatus, derivedUntil: untilOf, database };
  const { tokens, verifier, registry } = await openIssued(opening, issued);
  return {
    chain: {
      issuedTokens: verifier,
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
      renew: (identity, session, rotated) =>
        renewLogin(authenticators, { identity, session, rotated, onResult: observer.onResult }),
      revokeBrowserTokens: async (owner, browser) => await registry?.revokeBrowserTokens(owner, browser),
      signsIn: (via, isRenewed) =>
        authenticators.some(({ name, browserLogin }) =>
          name === via && (!isRenewed || browserLogin !== undefined)
        ),
      clock,
      log,
    }),
    records: records.open,
    anyRecords: records.openAnyway,
  };
}

async function openAuthenticators(
  { config, own, assertionIssuers, log, clock, autoClose }: Opening,
  { outgoing, groups, kinds, externalUrl: url, proofs, sharedClock }: AuthenticationParts,
  records: Records,
): Promise<readonly Authenticator[]> {
  const { authentication, additionalServiceIdentifiers: additionalIdentifiers, gateway } = config;
  const authenticators = await createAuthenticators(authentication.authenticators, kinds, {
    log,
    clock,
    sharedClock,
    keySources: groups.map(keySource),
    records: records.open,
    proofs,
    serverName: () => own.name() ?? "",
    clientTrust: () => own.pem() === undefined ? undefined : own.material().clients ?? own.material(),
    outgoing,
    assertions: {
      url,
      additionalIdentifiers,
      issuers: () => assertionIssuers,
      anchors: () => own.material().providerAnchors ?? own.material().anchors,
    },
    gateway: gateway.enabled
      ? { certificate: gateway.certificate && await readGatewayCertificate(gateway.certificate) }
      : undefined,
  });
  return authenticators.map(autoClose);
}

/** Renews a login with its provider. An authenticator that is no longer configured vouches for no user. */
export async function renewLogin(
  authenticators: readonly Authenticator[],
  { identity: { via, acr, authTime }, session, rotated, onResult }: {
    readonly identity: StoredIdentity;
    readonly session: RenewableSession;
    readonly rotated: (refreshToken: string) => Promise<void>;
    readonly onResult: ResultListener;
  },
): Promise<Renewal> {
  const authenticator = authenticators.find(({ name }) => name === via);
  if (authenticator?.browserLogin === undefined) {
    return { kind: "refused", reason: "no browser signs in there any more" };
  }
  const clientAddress = "renewal"; // a queue key of their own, so that renewals and callers do not wait for each other
  const caller = requesterOf({ clientAddress }, session.sub, NEVER);
  const outcome = await authenticator.browserLogin.renew(session, { acr, authTime }, caller);
  if (outcome.kind === "refused") return outcome;
  const { authorization, session: { refreshToken } } = outcome;
  if (refreshToken !== undefined && refreshToken !== session.refreshToken) await rotated(refreshToken);
  let result: AuthenticationResult;
  try {
    result = await authenticator.authenticate({ authorization, clientAddress }, NEVER);
  } catch (error) {
    onResult(via, { kind: "failed", error });
    throw error;
  }
  onResult(via, result);
  if (result.kind === "accepted") return { kind: "renewed", identity: result.identity };
  return result.kind === "refused" ? result : { kind: "refused", reason: "no token of the provider" };
}

interface IssuedParts extends Pick<TokenIssuer["options"], "derivedUntil"> {
  readonly records: Records;
  readonly clock: Clock; // of the cluster
  readonly trustedIssuers: readonly string[];
  readonly accountStatus: AccountLookup;
  readonly database: PostgresDatabase | undefined;
}

async function openIssued(
  { config: { issuedTokens, sharing }, own, log, readOnly, sinks, autoClose }: Opening,
  { records, clock, trustedIssuers, accountStatus, derivedUntil, database }: IssuedParts,
): Promise<
  { readonly tokens?: TokenIssuer; readonly verifier?: Authenticator; readonly registry?: TokenRegistry }
> {
  if (own.pem() === undefined) return {};
  const { lifetimeSeconds, maxLifetimeSeconds, hmacSecret } = issuedTokens;
  const revoked = database && !readOnly ? await rememberRevoked(database, { log, autoClose }) : undefined;
  const stored = revoked ?? records.open();
  const outage = revoked && sharing.database && {
    staleMs: () => revoked.staleMs,
    graceMs: sharing.database.outageGraceSeconds * 1000,
    shortMs: sharing.database.outageTokenSeconds * 1000,
  };
  const registry = stored && new TokenRegistry({
    records: stored,
    elapsed: stopwatch,
    recordsUses: !readOnly,
    outage,
    longest: Math.max(maxLifetimeSeconds, RENEWAL_PERIOD),
    uses: sinks.of("token-uses").retriedBy(() => stored.purge()),
    clock,
    log,
  });
  const limits = {
    defaultLifetime: lifetimeSeconds,
    maxLifetime: maxLifetimeSeconds,
    renewalPeriod: RENEWAL_PERIOD,
  };
  const common = { tls: own.material, registry, clock };
  return {
    tokens: new TokenIssuer({ ...common, limits, derivedUntil }),
    verifier: issuedToken({ ...common, trustedIssuers, hmacSecret, accountStatus, log }),
    registry,
  };
}

/** Keeps revocations available without the database. */
async function rememberRevoked(
  database: PostgresDatabase,
  { log, autoClose }: Pick<Opening, "log" | "autoClose">,
): Promise<CachedRecords> {
  const { readRevocations } = await import("../../store/postgres/changed_records.ts");
  const cached = autoClose(
    new CachedRecords(new DatabaseRecordStore(database), {
      kinds: KINDS_OF_REVOKED,
      version: () => database.version("revocation"),
      session: () => database.sessions,
      read: (since) => readRevocations(database, KINDS_OF_REVOKED, since),
      onChange: database.onChange,
      isReachable: () => database.isReachable,
      elapsed: stopwatch,
      log,
    }),
  );
  await cached.start();
  return cached;
}
