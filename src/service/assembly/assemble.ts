import type { SourceParts } from "../../attributes/attribute_source_kind.ts";
import { createAttributes } from "../../attributes/registry.ts";
import { acceptedLogins } from "../../authentication/accepted_logins.ts";
import { type AuthenticationChain, challengeOf, unauthenticated } from "../../authentication/chain.ts";
import type { TokenIssuer } from "../../authentication/issued_token/issue.ts";
import type { TokenRegistry } from "../../authentication/issued_token/token_registry.ts";
import { DeviceLogins } from "../../authentication/sign_in/device_logins.ts";
import type { SignIns } from "../../authentication/sign_in/sign_ins.ts";
import { externalUrlAt } from "../../config/external_url.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import { Daemons } from "../../daemon/daemons.ts";
import type { Logger } from "../../logging/logger.ts";
import { Sinks } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import { PROOFS, ReplayCache } from "../../model/replay_cache.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { NameService } from "../../outgoing/name_service.ts";
import { personName } from "../../pages/person_name.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import { People } from "../../resource/share/people.ts";
import type { LoginThrottle } from "../../throttling/login_throttle.ts";
import { AdminApi } from "../../resource/admin/admin_api.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import type { ShareAdministration } from "../../sharing/administration.ts";
import type { ShareStore } from "../../sharing/store/share_store.ts";
import { claimedName } from "../claimed_name.ts";
import type { Route } from "../http/router.ts";
import { routesOf } from "../http/routes.ts";
import type { IdentityParts } from "../identify.ts";
import { KINDS, type ServiceKinds } from "../kinds.ts";
import { RequestObserver } from "../request_observer.ts";
import type { LoginUpdate, Publish } from "../state_update.ts";
import { openAuthentication } from "./open_authentication.ts";
import { openDaemons, openServers, openSessions } from "./open_servers.ts";
import { openDataSharing, openOwnFiles } from "./open_data_sharing.ts";
import { openDatabase } from "./open_database.ts";
import { openLoginThrottle } from "./open_login_throttle.ts";
import type { Cluster } from "./open_cluster.ts";
import { OutgoingClients } from "./outgoing_clients.ts";
import { OwnCertificate } from "./own_certificate.ts";
import { serviceFacts } from "./service_facts.ts";
import type { ServiceOptions } from "./service_options.ts";

/** Assembled, running parts of a service. */
export interface ServiceParts extends IdentityParts {
  readonly config: ServiceConfig;
  /** Without trailing slash. */
  readonly externalUrl: string;
  readonly routes: readonly Route[];
  /** In the configured order. */
  readonly servers: ReadonlyMap<string, ServerFacts>;
  /** `WWW-Authenticate` of a 401 outside authentication. */
  readonly challenge: string;
  readonly admin: AdminApi;
  /** Applies failed logins, bans and proofs of other cores. */
  adopt(update: LoginUpdate): void;
  /** Absent for a single instance. */
  readonly cluster: Cluster | undefined;
  renewTls(material: TlsMaterial): void;
  /** Makes health checks report the shutdown. */
  drain(): void;
  close(): Promise<void>;
}

/** Observers and dependencies of a service. */
interface Surroundings {
  readonly log: Logger;
  readonly clock: Clock;
  /** Observes authentication results and transfers. */
  readonly observer?: RequestObserver;
  /** Default: nothing follows this service. */
  readonly publish?: Publish;
  /** Receives the answer of each attribute source. */
  readonly onAnswer?: SourceParts["onAnswer"];
  /** Default: all kinds. */
  readonly kinds?: ServiceKinds;
  /** Reads stored state without creating it, beside the running service. */
  readonly readOnly?: boolean;
}

const UNOBSERVED = new RequestObserver({ servers: [], audit: () => {} });

/** Parts to close at the end, or after a failed start. */
class Kept {
  readonly #parts: { close(): Promise<void> | void }[] = [];

  readonly keep = <T extends { close(): Promise<void> | void }>(part: T): T => {
    this.#parts.push(part);
    return part;
  };

  readonly close = async (): Promise<void> => {
    await Promise.all(this.#parts.map((part) => part.close()));
  };
}

/**
 * Creates and connects the configured parts; dependencies between neighbours are injected as functions.
 * @throws If a configured file is invalid.
 */
export async function assemble(options: ServiceOptions, surroundings: Surroundings): Promise<ServiceParts> {
  const kept = new Kept();
  try {
    return await open(options, surroundings, kept);
  } catch (error) {
    await kept.close();
    throw error;
  }
}

async function open(
  options: ServiceOptions,
  { log, clock, observer = UNOBSERVED, onAnswer, kinds = KINDS, readOnly = false, publish = () => {} }:
    Surroundings,
  { keep, close }: Kept,
): Promise<ServiceParts> {
  const { config, material, assertionIssuers, port } = options;
  const own = new OwnCertificate(material);
  const externalUrl = externalUrlAt(config.site, port);
  let draining = false;
  const outgoing = keep(new OutgoingClients(config.outgoing, own, log));
  const sinks = new Sinks(log);
  const shared = await openShared(options, { own, log, clock, keep, publish, sinks, readOnly });
  const { database, sharedClock, cluster, daemons, proofs } = shared;
  const groups = config.servers.map((server) => keep(openDaemons(server, { own, daemons, log, clock })));
  const sourceParts = { outgoing, log, clock, onAnswer, compile };
  const attributes = keep(await createAttributes(config, kinds.sources, sourceParts));
  const here = { observer, log, clock, keep, database, sinks, marks: cluster?.marks };
  const asked = { own, outgoing, groups, assertionIssuers, externalUrl, sharedClock, readOnly };
  const used = { ...asked, kinds: kinds.authenticators, proofs: shared.shown };
  const who = await openAuthentication(config, { ...used, ...here });
  const { chain, chain: { authenticators }, tokens, registry, signIns } = who;
  const servers = await openServers(config, groups, here);
  const throttle = await openLoginThrottle(config, authenticators, { ...shared, log, clock, publish });
  const ofFiles = { servers, sessions: await openSessions(config, servers, keep), attributes, throttle };
  const withClock = { ...who, ...here, clock: sharedClock, ...ofFiles };
  const people = config.sharing.suggestPeople ? new People(who.records, sharedClock, personName) : undefined;
  const sharing = await openDataSharing(config, { ...withClock, people });
  const parts = { groups, authenticators, attributes, throttle, signIns, sharing, registry, cluster, clock };
  const shown = { shown: (user: string) => claimedName(user, authenticators), certificate: own.facts };
  const admin = new AdminApi({ ...parts, ...shared, ...shown, sinks, publish });
  const ofAuthenticators = partsOfAuthenticators(who, { throttle, config, people });
  const about = { ...parts, own, kinds, externalUrl, cluster: cluster?.health };
  return {
    config,
    externalUrl,
    chain,
    challenge: challengeOf(chain),
    throttle,
    attributes,
    signIns: ofAuthenticators.signIn?.signIns,
    accessControl: config.accessControl.enabled,
    serverName: own.name,
    servers,
    cluster,
    routes: await routesOf({
      ...{ servers, tokens, registry, sharing, cluster: cluster?.health, admin, ...ofAuthenticators },
      facts: await serviceFacts(options, about),
      certificate: own.pem,
      generation: options.generation,
      draining: () => draining,
      shareAdministration: sharing && await administrationOf(sharing.store, sharedClock),
      features: config.features,
      files: await openOwnFiles(config, { ...withClock, sharing }),
      nameService: config.resolveClientNames ? await openNameService() : undefined,
    }),
    admin,
    adopt: (update) => adoptLogins(update, { throttle, proofs, signIns, log }),
    drain: () => draining = true,
    renewTls: (renewed) => renewTls(renewed, own, outgoing),
    close,
  };
}

/** Compiles expressions of attribute sources; loaded only where there are any. */
const compile: SourceParts["compile"] = async (config, log) => {
  const { Assignments } = await import("../../authentication/assignments.ts");
  return new Assignments(config, log);
};
async function administrationOf(store: ShareStore, clock: Clock): Promise<ShareAdministration> {
  const { ShareAdministration } = await import("../../sharing/administration.ts");
  return new ShareAdministration(store, clock);
}

async function openNameService(): Promise<NameService> {
  const { NameService } = await import("../../outgoing/name_service.ts");
  return new NameService();
}

/** Applies what other cores published. */
function adoptLogins(
  { throttling, proofs: shown = [], signedOut = [] }: LoginUpdate,
  { throttle, proofs, signIns, log }: {
    readonly throttle: LoginThrottle;
    readonly proofs: ReplayCache;
    readonly signIns: SignIns;
    readonly log: Logger;
  },
): void {
  if (throttling !== undefined) throttle.memory.adopt(throttling);
  proofs.adopt(shown);
  for (const name of signedOut) {
    signIns.endAllOf(name).catch((error) => log.warn("banned user not signed out", { error }));
  }
}

/** Opens the database that instances share, if there is one, joins them, and opens the daemons that they share. */
async function openShared(
  options: ServiceOptions,
  { own, readOnly, ...parts }: Pick<Surroundings, "log" | "clock"> & {
    readonly own: OwnCertificate;
    readonly keep: Kept["keep"];
    readonly publish: Publish;
    readonly sinks: Sinks;
    readonly readOnly: boolean;
  },
) {
  const { log, clock, keep, publish } = parts;
  const database = await openDatabase(options.config, { own, log, clock, keep });
  const { database: isShared, directory } = options.config.sharing;
  // Imported on use, as everything that only stored or shared state needs.
  const stored = isShared === undefined && directory === undefined
    ? undefined
    : await import("./open_cluster.ts");
  const { sharedClock, cluster } = database === undefined || stored === undefined
    ? { sharedClock: clock, cluster: undefined }
    : await stored.openCluster(database, { ...options, clock, log, keep, publish });
  const storedBans = cluster?.throttling ?? (readOnly ? undefined : stored?.openOwnBans(options, parts));
  const daemons = new Daemons({
    known: options.state?.daemons,
    learned: (address, known) => publish({ daemons: new Map([[address, known]]) }),
    clusterMembers: cluster?.clusterMembers,
  });
  const proofs = new ReplayCache(PROOFS, clock, (proof) => publish({ proofs: [proof] }));
  const shown = cluster === undefined ? proofs : cluster.shared(proofs);
  return { database, sharedClock, cluster, daemons, storedBans, proofs, shown };
}

function renewTls(renewed: TlsMaterial, own: OwnCertificate, outgoing: OutgoingClients): void {
  own.renew(renewed);
  outgoing.renew();
}

/** Parts that depend on the authenticators. */
function partsOfAuthenticators(
  { chain, signIns, tokens, registry }: {
    readonly chain: AuthenticationChain;
    readonly signIns: SignIns;
    readonly tokens: TokenIssuer | undefined;
    readonly registry: TokenRegistry | undefined;
  },
  { throttle, config, people }: {
    readonly throttle: LoginThrottle;
    readonly config: ServiceConfig;
    readonly people: People | undefined;
  },
) {
  const { authenticators, realm: siteName } = chain;
  const password = authenticators.some(({ challenges }) => challenges.includes("Basic"));
  const certificate = authenticators.some(({ looksAtCertificates }) => looksAtCertificates);
  const desks = authenticators.flatMap(({ certificates }) => certificates ?? []);
  const providers = new Map(
    authenticators.flatMap(({ name, browserLogin }) =>
      browserLogin === undefined ? [] : [[name, browserLogin] as const]
    ),
  );
  const parts = {
    admit: (address: string, signal: AbortSignal) => throttle.admitKey(address, signal),
    unauthenticated: (reason: string) => unauthenticated(chain, reason),
  };
  const ways = { password, certificate, providers };
  const signIn: SignInParts = { ...parts, signIns, people, ways, siteName };
  return {
    issuers: authenticators.flatMap(({ issuer }) => issuer ?? []),
    certificates: desks.length === 0 ? undefined : { admit: parts.admit, desks },
    unauthenticated: parts.unauthenticated,
    accepted: acceptedLogins(chain),
    /** Absent if disabled, or without tokens. */
    devices: config.browsers.deviceLogin && tokens !== undefined
      ? { logins: new DeviceLogins(signIns.parts), signIns, tokens, registry, throttle }
      : undefined,
    /** Absent if no authenticator takes browser credentials. */
    signIn: password || certificate || providers.size > 0 ? signIn : undefined,
  };
}
