import type { SourceParts } from "../../attributes/attribute_source_kind.ts";
import { createAttributes } from "../../attributes/registry.ts";
import { type AuthenticationChain, challengeOf, unauthenticated } from "../../authentication/chain.ts";
import type { SignIns } from "../../authentication/sign_in/sign_ins.ts";
import { externalUrlAt } from "../../config/read_site.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { DaemonKnowledge } from "../../daemon/daemon.ts";
import { Daemons } from "../../daemon/daemons.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import { PROOFS, ReplayCache, type SeenMark } from "../../model/replay_cache.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import { NameService } from "../../outgoing/name_service.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import type { ThrottlingNews } from "../../throttling/throttling_state.ts";
import type { LoginThrottle } from "../../throttling/login_throttle.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { certificateParts } from "../../resource/ssh_certificate.ts";
import { ShareAdministration } from "../../sharing/administration.ts";
import { administratorsDesk } from "../administrators_desk.ts";
import type { Route } from "../http/router.ts";
import { routesOf } from "../http/routes.ts";
import type { IdentityParts } from "../identify.ts";
import { KINDS, type ServiceKinds } from "../kinds.ts";
import { OperatorDesk, type Ordered } from "../operator_desk.ts";
import { RequestObserver } from "../request_observer.ts";
import { openAuthentication } from "./open_authentication.ts";
import { openDaemons } from "./open_daemons.ts";
import { openDataSharing } from "./open_data_sharing.ts";
import { openDatabase } from "./open_database.ts";
import { openLoginThrottle } from "./open_login_throttle.ts";
import { openServers } from "./open_servers.ts";
import { type Cluster, joinOthers, openClock, type SharedKnown } from "./open_cluster.ts";
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
  readonly desk: OperatorDesk;
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
  /** Receives throttling updates. */
  readonly learned?: (news: ThrottlingNews) => void;
  /** Receives updates of the daemon with this command address. */
  readonly daemonLearned?: (address: string, knowledge: DaemonKnowledge) => void;
  /** Receives updates of cluster state. */
  readonly sharedLearned?: (known: SharedKnown) => void;
  /** Receives orders from the admin pages. */
  readonly ordered?: Ordered;
  /** Receives each proof of possession. */
  readonly proofShown?: (proof: SeenMark) => void;
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
  { log, clock, observer = UNOBSERVED, onAnswer, kinds = KINDS, readOnly = false, ...told }: Surroundings,
  { keep, close }: Kept,
): Promise<ServiceParts> {
  const { config, material, assertionIssuers, port, daemons: known } = options;
  const own = new OwnCertificate(material);
  const externalUrl = externalUrlAt(config.site, port);
  let draining = false;
  const outgoing = keep(new OutgoingClients(config.outgoing, own, log));
  const shared = await openShared(options, { own, log, clock, keep, told });
  const { database, following, sharedClock, cluster } = shared;
  const { clusterMembers } = cluster ?? {};
  const daemons = new Daemons({ known, learned: told.daemonLearned, clusterMembers });
  const groups = config.servers.map((server) => keep(openDaemons(server, { own, daemons, log, clock })));
  const attributes = keep(await openAttributes(config, kinds, { outgoing, log, clock, onAnswer }));
  const here = { observer, log, clock, keep, database };
  const proofs = new ReplayCache(PROOFS, clock, told.proofShown);
  const asked = { own, outgoing, groups, assertionIssuers, externalUrl, proofs, sharedClock, readOnly };
  const who = await openAuthentication(config, { ...asked, kinds: kinds.authenticators, ...here });
  const { chain, chain: { authenticators }, tokens, registry, signIns } = who;
  const servers = await openServers(config, groups, { ...here, ...following, sharedClock });
  const throttle = await openLoginThrottle(config, authenticators, { log, clock, ...told, cluster });
  const sharingParts = { ...who, ...here, clock: sharedClock, servers, attributes, throttle };
  const sharing = openDataSharing(config, sharingParts);
  const parts = { groups, authenticators, attributes, throttle, signIns, proofs, sharing, registry, cluster };
  const desk = new OperatorDesk({ ...parts, certificate: own.facts });
  const ofAuthenticators = partsOfAuthenticators(chain, { throttle, signIns, desk, ordered: told.ordered });
  const about = { own, groups, authenticators, kinds, clock, externalUrl, cluster: cluster?.health };
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
    routes: routesOf({
      ...{ servers, tokens, registry, sharing, cluster: cluster?.health, ...ofAuthenticators },
      facts: serviceFacts(options, about),
      certificate: own.pem,
      generation: options.generation,
      draining: () => draining,
      shareAdministration: sharing && new ShareAdministration(sharing.store, sharedClock),
      features: config.features,
      nameService: config.resolveClientNames ? new NameService() : undefined,
    }),
    desk,
    drain: () => draining = true,
    renewTls: (renewed) => renewTls(renewed, own, outgoing),
    close,
  };
}

async function openShared(
  options: ServiceOptions,
  { own, log, clock, keep, told }: Pick<Surroundings, "log" | "clock"> & {
    readonly own: OwnCertificate;
    readonly keep: Kept["keep"];
    readonly told: Pick<Surroundings, "sharedLearned" | "learned">;
  },
) {
  const database = await openDatabase(options.config, { own, log, clock, keep });
  const following = { log, clock, keep, known: options.shared, learned: told.sharedLearned };
  const sharedClock = await openClock(database, following);
  const cluster = joinOthers(database, { ...options, log, keep, learned: told.learned });
  return { database, following, sharedClock, cluster };
}

async function openAttributes(
  { attributes, dynamicAttributes, outgoing: { showCertificate } }: ServiceConfig,
  { sources }: ServiceKinds,
  { outgoing, ...parts }: { readonly outgoing: OutgoingClients } & Omit<SourceParts, "outgoing">,
) {
  const asking = { ...parts, outgoing: () => outgoing.client(showCertificate) };
  return await createAttributes(attributes, dynamicAttributes, sources, asking);
}

function renewTls(renewed: TlsMaterial, own: OwnCertificate, outgoing: OutgoingClients): void {
  own.renew(renewed);
  outgoing.renew();
}

/** Parts that depend on the authenticators. */
function partsOfAuthenticators(
  chain: AuthenticationChain,
  { throttle, signIns, desk, ordered }: {
    readonly throttle: LoginThrottle;
    readonly signIns: SignIns;
    readonly desk: OperatorDesk;
    readonly ordered: Ordered | undefined;
  },
) {
  const { authenticators, realm: siteName } = chain;
  const password = authenticators.some(({ challenges }) => challenges.includes("Basic"));
  const certificate = authenticators.some(({ looksAtCertificates }) => looksAtCertificates);
  const providers = new Map(
    authenticators.flatMap(({ name, browserLogin }) =>
      browserLogin === undefined ? [] : [[name, browserLogin] as const]
    ),
  );
  const parts = {
    admit: (address: string, signal: AbortSignal) => throttle.admitKey(address, signal),
    unauthenticated: (reason: string) => unauthenticated(chain, reason),
  };
  const signIn: SignInParts = { ...parts, signIns, ways: { password, certificate, providers }, siteName };
  return {
    issuers: authenticators.flatMap(({ issuer }) => issuer ?? []),
    certificates: certificateParts(authenticators, throttle),
    desk: administratorsDesk(desk, { authenticators, throttle, ordered }),
    unauthenticated: parts.unauthenticated,
    /** Absent if no authenticator takes browser credentials. */
    signIn: password || certificate || providers.size > 0 ? signIn : undefined,
  };
}
