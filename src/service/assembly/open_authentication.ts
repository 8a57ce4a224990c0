import type { AuthenticatorKind, MethodParts } from "../../authentication/authenticator_kind.ts";
import { askerOf } from "../../authentication/asker_of.ts";
import type { Authenticator, Renewal } from "../../authentication/authenticator.ts";
import type { KeptIdentity } from "../../authentication/sign_in/kept_identity.ts";
import type { RenewableSession } from "../../authentication/sign_in/provider_logins.ts";
import type { AuthenticationChain } from "../../authentication/chain.ts";
import { TokenIssuer } from "../../authentication/issued_token/issue.ts";
import { KINDS_OF_REVOKED, TokenBook } from "../../authentication/issued_token/token_book.ts";
import { issuedToken } from "../../authentication/issued_token/verify.ts";
import { SignIns } from "../../authentication/sign_in/sign_ins.ts";
import { createMethods } from "../../authentication/registry.ts";
import { type AskStanding, derivedUntil, standingOf } from "../../authentication/standing.ts";
import type { KindList } from "../../config/kind.ts";
import type { DatabaseConfig, GatewayConfig, ServiceConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Clock, stopwatch } from "../../model/clock.ts";
import type { Identity } from "../../model/identity.ts";
import type { SeenOnce } from "../../model/seen_once.ts";
import { DatabaseRecordStore } from "../../store/database_record_store.ts";
import type { PostgresDatabase } from "../../store/postgres/postgres_database.ts";
import type { Revocation } from "../../model/trust/revocation.ts";
import { RememberedRecords } from "../../store/remembered_records.ts";
import { METADATA_PATH } from "../../resource/protected_resource.ts";
import type { RequestObserver } from "../request_observer.ts";
import { readGatewayCertificate, readTrustedIssuer } from "./certificate_files.ts";
import { observed } from "./observed_method.ts";
import { keySource } from "./open_daemons.ts";
import type { OutgoingClients } from "./outgoing_clients.ts";
import type { OwnCertificate } from "./own_certificate.ts";
import { Records } from "./records.ts";

/** Longest time from a first token to the end of the last one got by renewal, in seconds: 30 days. */
const RENEWAL_PERIOD = 30 * 24 * 3600;

/** What authentication is opened with. */
interface AuthenticationParts {
  readonly own: OwnCertificate;
  readonly outgoing: OutgoingClients;
  readonly groups: readonly DaemonGroup[];
  readonly kinds: KindList<AuthenticatorKind>;
  /** Certificates of trusted SAML issuers, PEM, one each. */
  readonly assertionIssuers: readonly string[];
  readonly externalUrl: string;
  readonly observer: RequestObserver;
  readonly proofs: SeenOnce;
  readonly log: Logger;
  /** Of this machine: for what others sign. */
  readonly clock: Clock;
  /** For what is made here: one for all instances. */
  readonly sharedClock: Clock;
  /** Whether the service itself runs elsewhere: what it keeps is read, and not made. */
  readonly lookingOn: boolean;
  /** That several instances share; absent: what is kept, is kept in a folder. */
  readonly database: PostgresDatabase | undefined;
  /** Takes what is to be closed in the end. */
  readonly keep: <T extends { close(): void }>(part: T) => T;
}

/** Who is calling: the methods in their order, tokens of our own before them, and who else knows users. */
interface OpenAuthentication {
  readonly chain: AuthenticationChain;
  readonly standing: AskStanding;
  /** Absent without a certificate to sign with. */
  readonly tokens: TokenIssuer | undefined;
  /** Absent if nothing is kept, or no tokens are made. */
  readonly book: TokenBook | undefined;
  readonly signIns: SignIns;
  /** What is kept of this and of all else. */
  readonly records: Records["open"];
}

/** @throws If a file that the configuration names cannot be used. */
export async function openAuthentication(
  config: ServiceConfig,
  parts: AuthenticationParts,
): Promise<OpenAuthentication> {
  const { own, externalUrl, observer, log, sharedClock, lookingOn, database, keep } = parts;
  const records = keep(new Records(database ?? config.sharing.directory, sharedClock));
  const created = await openMethods(config, parts, records);
  const methods = created.map((method) => keep(observed(method, observer)));
  const standing: AskStanding = (user, signal) => standingOf(methods, user, signal, sharedClock);
  const untilOf = (identity: Identity) => derivedUntil(methods, identity, sharedClock() / 1000);
  const issuing = {
    records,
    log,
    clock: sharedClock,
    standing,
    derivedUntil: untilOf,
    lookingOn,
    database,
    keep,
  };
  const { tokens, verifier, book } = await openIssued(config, own, issuing);
  return {
    chain: {
      issuedTokens: verifier && observed(verifier, observer),
      methods,
      failOnMissingCredentials: config.authentication.failOnMissingCredentials,
      realm: config.site.name,
      metadata: methods.some(({ issuer }) => issuer !== undefined) ? externalUrl + METADATA_PATH : undefined,
    },
    standing,
    tokens,
    book,
    signIns: new SignIns({
      records: records.openAnyway,
      standing,
      derivedUntil: untilOf,
      limits: config.browsers,
      renew: (identity, session, signal) => renewLogin(methods, identity, session, signal),
      revokeGot: async (owner, browser) => await book?.revokeGot(owner, browser),
      clock: sharedClock,
      log,
    }),
    records: records.open,
  };
}

async function openMethods(
  { authentication, additionalServiceIdentifiers: additionalIdentifiers, gateway }: ServiceConfig,
  { own, outgoing, groups, kinds, assertionIssuers, externalUrl: url, proofs, log, clock }:
    AuthenticationParts,
  records: Records,
): Promise<readonly Authenticator[]> {
  return await createMethods(authentication.methods, kinds, {
    log,
    clock,
    keySources: groups.map(keySource),
    records: records.open,
    proofs,
    serverName: () => own.name() ?? "",
    revocation: () => revocationOfClients(own),
    outgoing: outgoing.client,
    assertions: {
      url,
      additionalIdentifiers,
      issuers: () => assertionIssuers,
      anchors: () => own.material().providerAnchors ?? own.material().anchors,
    },
    gateway: await readGateway(gateway),
  });
}

/** Asks the provider that named an identity; a method that is configured no longer vouches for nobody. */
async function renewLogin(
  methods: readonly Authenticator[],
  { via, acr, authTime }: KeptIdentity,
  session: RenewableSession,
  signal: AbortSignal,
): Promise<Renewal> {
  const method = methods.find(({ name }) => name === via);
  if (method?.browserLogin === undefined) {
    return { kind: "refused", reason: "no browser signs in there any more" };
  }
  const clientAddress = "renewal"; // a lane of their own: nobody else waits for these, nor they for others
  const asker = askerOf({ clientAddress }, session.sub, signal);
  const outcome = await method.browserLogin.renew(session, { acr, authTime }, asker);
  if (outcome.kind === "refused") return outcome;
  const { authorization, session: { refreshToken = session.refreshToken } } = outcome;
  const verdict = await method.authenticate({ authorization, clientAddress }, signal);
  if (verdict.kind === "accepted") return { kind: "renewed", identity: verdict.identity, refreshToken };
  return verdict.kind === "refused" ? verdict : { kind: "refused", reason: "no token of the provider" };
}

function revocationOfClients(own: OwnCertificate): Revocation | undefined {
  if (own.pem() === undefined) return undefined;
  const { clientAnchors, clientRevocation, revocation } = own.material();
  return clientAnchors === undefined ? revocation : clientRevocation;
}

/** The issuing and the verifying of tokens of our own. */
async function openIssued(
  { issuedTokens, sharing }: ServiceConfig,
  own: OwnCertificate,
  { records, log, clock, standing, derivedUntil, lookingOn, database, keep }:
    & Pick<AuthenticationParts, "log" | "clock" | "lookingOn" | "database" | "keep">
    & Pick<TokenIssuer["options"], "derivedUntil">
    & { readonly records: Records; readonly standing: AskStanding },
): Promise<
  { readonly tokens?: TokenIssuer; readonly verifier?: Authenticator; readonly book?: TokenBook }
> {
  if (own.pem() === undefined) return {};
  const { lifetimeSeconds, maxLifetimeSeconds, hmacSecret, trustedIssuerFiles } = issuedTokens;
  const limits = {
    defaultLifetime: lifetimeSeconds,
    maxLifetime: maxLifetimeSeconds,
    renewalPeriod: RENEWAL_PERIOD,
  };
  const longest = Math.max(maxLifetimeSeconds, RENEWAL_PERIOD);
  const revoked = database && !lookingOn ? await rememberRevoked(database, { log, keep }) : undefined;
  const book = openBook(records, { log, clock, lookingOn, longest, revoked, config: sharing.database });
  const trustedIssuers = await Promise.all(trustedIssuerFiles.map(readTrustedIssuer));
  return {
    tokens: new TokenIssuer({ tls: own.material, limits, derivedUntil, clock, book }),
    verifier: issuedToken({ tls: own.material, trustedIssuers, hmacSecret, standing, book, clock, log }),
    book,
  };
}

/** The service alone makes the database: one that somebody else made, it could not open. */
function openBook(
  { open, openPresent }: Records,
  { lookingOn, revoked, config, ...parts }: Pick<TokenBook["parts"], "log" | "clock" | "longest"> & {
    readonly lookingOn: boolean;
    readonly revoked: RememberedRecords | undefined;
    readonly config: DatabaseConfig | undefined;
  },
): TokenBook | undefined {
  const records = revoked ?? (lookingOn ? openPresent() : open());
  const outage = revoked && config && {
    staleMs: () => revoked.staleMs,
    graceMs: config.outageGraceSeconds * 1000,
    shortMs: config.outageTokenSeconds * 1000,
  };
  return records && new TokenBook({ records, elapsed: stopwatch, keepsUses: !lookingOn, outage, ...parts });
}

/** What of a shared database must be known while it is away. */
async function rememberRevoked(
  database: PostgresDatabase,
  { log, keep }: Pick<AuthenticationParts, "log" | "keep">,
): Promise<RememberedRecords> {
  const remembered = keep(
    new RememberedRecords(new DatabaseRecordStore(database), {
      kinds: KINDS_OF_REVOKED,
      version: () => database.version("revocation"),
      isReachable: () => database.isReachable,
      elapsed: stopwatch,
      log,
    }),
  );
  await remembered.follow();
  return remembered;
}

async function readGateway({ enabled, certificate }: GatewayConfig): Promise<MethodParts["gateway"]> {
  if (!enabled) return undefined;
  if (certificate === undefined) return { certificate: () => undefined };
  const pem = await readGatewayCertificate(certificate);
  return { certificate: () => pem };
}
