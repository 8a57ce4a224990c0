import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { SourceParts } from "../../attributes/attribute_source_kind.ts";
import { createAttributes } from "../../attributes/attribute_chain.ts";
import { acceptedLogins } from "../../authentication/accepted_logins.ts";
import { DeviceLogins } from "../../authentication/sign_in/device_logins.ts";
import type { SignIns } from "../../authentication/sign_in/sign_ins.ts";
import { externalUrlAt } from "../../config/external_url.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import { Daemons } from "../../daemon/daemons.ts";
import { describeFailure } from "../../daemon/exchange.ts";
import { Sinks } from "../../logging/sink.ts";
import { type Clock, steadyClock } from "../../model/clock.ts";
import { PROOFS, ReplayCache } from "../../model/replay_cache.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import type { People } from "../../resource/share/people.ts";
import { AdminApi } from "../../resource/admin/admin_api.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import type { Route } from "../http/router.ts";
import { routesOf } from "../http/routes.ts";
import type { IdentityParts } from "../identify.ts";
import { KINDS, type ServiceKinds } from "../kinds.ts";
import { RequestObserver } from "../request_observer.ts";
import { openDaemons, openServers } from "./open_servers.ts";
import { openFiles } from "./open_files.ts";
import { openDatabase } from "./open_database.ts";
import type { Cluster } from "./open_cluster.ts";
import type { NotifyingParts } from "./open_notifications.ts";
import { OutgoingClients } from "./outgoing_clients.ts";
import { OwnCertificate } from "./own_certificate.ts";
import { serviceFacts } from "./service_facts.ts";
import type { Authenticator } from "../../authentication/authenticator.ts";
import { challengeOf, unauthenticated } from "../../authentication/chain.ts";
import { LoginThrottle } from "../../throttling/login_throttle.ts";
import { type OpenAuthentication, openAuthentication } from "./open_authentication.ts";
import type { LoginUpdate, Opening, Part, Publish, ServiceOptions } from "./service_options.ts";
import { createHmac, randomBytes } from "node:crypto";

export interface ServiceParts extends IdentityParts {
  readonly attributes: AttributeSource;
  readonly config: ServiceConfig;
  readonly externalUrl: string; // without trailing slash
  readonly routes: readonly Route[];
  readonly servers: ReadonlyMap<string, ServerFacts>; // in the configured order
  readonly challenge: string; // `WWW-Authenticate` of a 401 outside authentication
  readonly admin: AdminApi;
  adopt(update: LoginUpdate): void; // failed logins, bans and proofs of other cores
  readonly cluster: Cluster | undefined; // absent for a single instance
  renewTls(material: TlsMaterial): void;
  drain(): void; // makes health checks report the shutdown
  retire(): void; // ends notifications and other work that the next core takes over
  close(): Promise<void>; // waits for running calls to daemons, then releases everything
}

interface Dependencies extends Pick<Opening, "log" | "clock"> {
  readonly observer?: RequestObserver;
  readonly publish?: Publish;
  readonly onAnswer?: SourceParts["onAnswer"]; // receives the answer of each attribute source
  readonly kinds?: ServiceKinds;
  readonly readOnly?: boolean;
}

const UNOBSERVED = new RequestObserver([], () => {});

/** Creates and connects the configured parts. @throws If a configured file is invalid. */
export async function assemble(
  options: ServiceOptions,
  { publish = () => {}, readOnly = false, log, clock, ...observers }: Dependencies,
): Promise<ServiceParts> {
  const closeables: Part[] = [];
  const close = async () => {
    await Promise.all(closeables.map((part) => part.close()));
  };
  const autoClose: Opening["autoClose"] = (part) => {
    closeables.push(part);
    return part;
  };
  const own = new OwnCertificate(options.material);
  try {
    const opening = { ...options, log, clock, own, publish, readOnly, autoClose, sinks: new Sinks(log) };
    const parts = await open(opening, observers);
    return { ...parts, retire: () => closeables.forEach((part) => part.retire?.()), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function open(
  opening: Opening,
  { observer = UNOBSERVED, onAnswer, kinds = KINDS }: Pick<Dependencies, "observer" | "onAnswer" | "kinds">,
): Promise<Omit<ServiceParts, "retire" | "close">> {
  const { config, own, log, clock, autoClose } = opening;
  const externalUrl = externalUrlAt(config.site, opening.port);
  let draining = false;
  const outgoing = autoClose(new OutgoingClients(config.outgoing, own, log));
  const shared = await openShared(opening, { kinds, outgoing, externalUrl });
  const { sharedClock, cluster } = shared;
  const groups = config.servers.map((server) => autoClose(openDaemons(server, shared.daemons, opening)));
  const sourceParts = { outgoing, log, clock, onAnswer, compile };
  const attributes = autoClose(await createAttributes(config, kinds.sources, sourceParts));
  const asked = { outgoing, groups, kinds: kinds.authenticators, externalUrl, observer };
  const who = await openAuthentication(opening, { ...shared, ...asked });
  const { chain, chain: { authenticators }, tokens, registry, signIns } = who;
  const servers = await openServers(groups, opening);
  const shown = (user: string) => claimedName(user, authenticators);
  const throttle = await openLoginThrottle(opening, { ...shared, authenticators, shown });
  const ofFiles = { ...who, ...shared, servers, attributes, throttle, observer };
  const people = config.sharing.suggestPeople ? await openPeople(who, sharedClock) : undefined;
  const { sharing, files } = await openFiles(opening, { ...ofFiles, people });
  const parts = { groups, authenticators, attributes, throttle, signIns, sharing, registry, cluster, clock };
  const { publish, sinks } = opening;
  const admin = new AdminApi({ ...parts, ...shared, sinks, publish, shown, certificate: own.facts });
  const ofAuthenticators = partsOfAuthenticators(who, { throttle, config, people, attributes });
  return {
    config,
    externalUrl,
    chain,
    onResult: observer.onResult,
    challenge: challengeOf(chain),
    throttle,
    attributes,
    signIns: ofAuthenticators.signIn?.signIns,
    accessControl: config.accessControl.enabled,
    serverName: own.name,
    ...{ accountStatus: who.accountStatus, registry, servers, cluster },
    routes: await routesOf({
      ...{ servers, tokens, registry, sharing, files, cluster: cluster?.health, admin, ...ofAuthenticators },
      facts: await serviceFacts(opening, { ...parts, kinds }),
      certificate: own.pem,
      generation: opening.generation,
      draining: () => draining,
      shareAdministration: sharing &&
        new (await import("../../sharing/administration.ts")).ShareAdministration(sharing.store, sharedClock),
      features: config.features,
      nameService: config.resolveClientNames
        ? new (await import("../../outgoing/name_service.ts")).NameService()
        : undefined,
    }),
    admin,
    adopt: (update) => adoptLogins(update, { throttle, proofs: shared.ownProofs, signIns }),
    drain: () => draining = true,
    renewTls: (renewed) => {
      own.renew(renewed);
      outgoing.renew();
    },
  };
}

/** Compiles expressions of attribute sources; loaded only where there are any. */
const compile: SourceParts["compile"] = async (config, log) => {
  const { Assignments } = await import("../../authentication/assignments.ts");
  return new Assignments(config, log);
};

function adoptLogins(
  { throttling, proofs: shown = [], signedOut = [] }: LoginUpdate,
  { throttle, proofs, signIns }: {
    readonly throttle: LoginThrottle;
    readonly proofs: ReplayCache;
    readonly signIns: SignIns;
  },
): void {
  if (throttling !== undefined) throttle.memory.adopt(throttling);
  proofs.adopt(shown);
  for (const name of signedOut) void signIns.endAllOf(name);
}

/** Opens the shared database, if there is one, joins its instances, and opens the daemons that they share. */
async function openShared(opening: Opening, parts: NotifyingParts) {
  const { config: { sharing }, state, clock, readOnly, publish } = opening;
  const database = await openDatabase(opening);
  const notifications = readOnly || opening.config.notifications.length === 0
    ? undefined
    : await (await import("./open_notifications.ts")).openNotifications(opening, { ...parts, database });
  // Imported on use, like all code that only stored or shared state needs.
  const stored = sharing.database === undefined && sharing.directory === undefined
    ? undefined
    : await import("./open_cluster.ts");
  const { sharedClock, cluster } = database === undefined || stored === undefined
    ? { sharedClock: clock, cluster: undefined }
    : await stored.openCluster(database, opening);
  const storedBans = cluster?.throttling ?? (readOnly ? undefined : stored?.openOwnBans(opening));
  const daemons = new Daemons({
    known: state?.daemons,
    learned: (address, known) => {
      publish({ daemons: new Map([[address, known]]) });
      notifications?.daemon(address, known.failure && describeFailure(known.failure));
    },
    clusterMembers: cluster?.clusterMembers,
  });
  const ownProofs = new ReplayCache(PROOFS, clock, (proof) => publish({ proofs: [proof] }));
  const proofs = cluster === undefined ? ownProofs : cluster.shared(ownProofs);
  return { database, sharedClock, cluster, daemons, storedBans, ownProofs, proofs, notifications };
}

type Shared = Awaited<ReturnType<typeof openShared>>;

async function openLoginThrottle(
  { config, log, clock, publish }: Opening,
  { cluster, storedBans, authenticators, shown }: Pick<Shared, "cluster" | "storedBans"> & {
    readonly authenticators: readonly Authenticator[];
    readonly shown: (user: string) => string;
  },
): Promise<LoginThrottle> {
  const throttle = new LoginThrottle({
    config: config.throttling,
    log,
    formatName: shown,
    steady: steadyClock,
    clock,
    issuers: silentIssuers(authenticators),
    onUpdate: (throttling) => publish({ throttling }),
    others: cluster?.throttling,
    clusterMembers: cluster?.clusterMembers,
  });
  await (cluster ?? storedBans)?.follow(throttle.memory);
  return throttle;
}

/** Issuers without online check of their tokens. */
function silentIssuers(authenticators: readonly Authenticator[]): ReadonlySet<string> {
  const issuers = authenticators.flatMap(({ issuer }) => issuer ?? []);
  const asked = new Set(issuers.filter(({ asked }) => asked).map(({ url }) => url));
  return new Set(issuers.map(({ url }) => url).filter((url) => !asked.has(url)));
}

/** Opens the list of people who have signed in on pages; imported on use. */
async function openPeople({ records }: Pick<OpenAuthentication, "records">, clock: Clock): Promise<People> {
  const { People } = await import("../../resource/share/people.ts");
  const { personName } = await import("../../pages/person_name.ts");
  return new People(records, clock, personName);
}

function partsOfAuthenticators(
  { chain, signIns, tokens, registry }: OpenAuthentication,
  { throttle, config, people, attributes }: Pick<ServiceParts, "throttle" | "config" | "attributes"> & {
    readonly people: People | undefined;
  },
) {
  const { authenticators, realm: siteName } = chain;
  const password = authenticators.some(({ challenges }) => challenges.includes("Basic"));
  const certificate = authenticators.some(({ acceptsCertificates }) => acceptsCertificates);
  const stores = authenticators.flatMap(({ certificates }) => certificates ?? []);
  const providers = new Map(
    authenticators.flatMap(({ name, browserLogin }) =>
      browserLogin === undefined ? [] : [[name, browserLogin] as const]
    ),
  );
  const parts = {
    admit: throttle.admitKey.bind(throttle),
    unauthenticated: (reason: string) => unauthenticated(chain, reason),
  };
  const ways = { password, certificate, providers };
  const signIn: SignInParts = { ...parts, signIns, people, ways, siteName };
  return {
    issuers: authenticators.flatMap(({ issuer }) => issuer ?? []),
    certificates: stores.length === 0 ? undefined : { admit: parts.admit, stores },
    unauthenticated: parts.unauthenticated,
    accepted: acceptedLogins(chain),
    /** Absent if disabled, or without tokens. */
    devices: config.browsers.deviceLogin && tokens !== undefined
      ? { logins: new DeviceLogins(signIns.parts), signIns, tokens, registry, throttle, attributes }
      : undefined,
    /** Absent if no authenticator takes browser credentials. */
    signIn: password || certificate || providers.size > 0 ? signIn : undefined,
  };
}

/** Random per process, so that the digest of a password typed as user name is useless to others. */
const KEY = randomBytes(32);

/** Returns a user name for the logs: a known name itself, else a short digest, since it may be a password in the wrong field. */
export function claimedName(user: string, authenticators: readonly Pick<Authenticator, "lists">[]): string {
  if (authenticators.some((authenticator) => authenticator.lists?.(user))) return user;
  return `unknown-${createHmac("sha256", KEY).update(user).digest("hex").slice(0, 8)}`;
}
