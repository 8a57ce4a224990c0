import type { SourceParts } from "../../attributes/attribute_source_kind.ts";
import { createAttributes } from "../../attributes/registry.ts";
import { TokenIssuer } from "../../authentication/issued_token/issue.ts";
import { issuedToken } from "../../authentication/issued_token/verify.ts";
import { type AuthenticationChain, unauthenticated } from "../../authentication/chain.ts";
import type { AttributeSource } from "../../attributes/attribute_source.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { METADATA_PATH } from "../../resource/protected_resource.ts";
import { type OpenSharing, openSharing } from "../../resource/share/open_sharing.ts";
import { challengeHeader } from "../../authentication/unauthenticated.ts";
import { type AskStanding, standingOf } from "../../authentication/standing.ts";
import type { MethodParts } from "../../authentication/authenticator_kind.ts";
import { createMethods } from "../../authentication/registry.ts";
import { kindOf } from "../../config/kind.ts";
import { externalUrlAt } from "../../config/read_site.ts";
import type {
  GatewayConfig,
  LogicalServerConfig,
  ReservationsConfig,
  ServiceConfig,
} from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import type { DaemonKnowledge } from "../../daemon/daemon.ts";
import { createDaemonGroup } from "../../daemon/daemon_pool.ts";
import { Daemons, type KnownDaemons } from "../../daemon/daemons.ts";
import { ShareAdministration } from "../../sharing/administration.ts";
import type { Logger } from "../../logging/logger.ts";
import { certificateSubject } from "../../model/certificate_subject.ts";
import { type Clock, steadyClock } from "../../model/clock.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { RegulationNews } from "../../regulation/regulation_state.ts";
import { Regulator } from "../../regulation/regulator.ts";
import {
  NO_RESERVATIONS,
  openReservationBook,
  type ReservationBook,
} from "../../reservations/reservation_book.ts";
import { readGatewayCertificate, readTrustedIssuer } from "./certificate_files.ts";
import { externalConnections } from "./external_connections.ts";
import { OutgoingClients } from "./outgoing_clients.ts";
import type { IdentityParts } from "../identify.ts";
import { OwnCertificate } from "./own_certificate.ts";
import { observed } from "./observed_method.ts";
import { KINDS, type ServiceKinds } from "../kinds.ts";
import { OperatorDesk } from "../operator_desk.ts";
import { RequestObserver } from "../request_observer.ts";
import type { Route } from "../http/router.ts";
import { routesOf } from "../http/routes.ts";
import { VERSION } from "../version.ts";

/** What a service is made from; plain data, so that it can be posted to a worker. */
export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Absent if nothing speaks TLS. */
  readonly material: TlsMaterial | undefined;
  /** Certificates of trusted SAML issuers, PEM, one each. */
  readonly assertionIssuers: readonly string[];
  /** Counts the services since the start of the process, from 1. */
  readonly generation: number;
  /** Start of the process, milliseconds since the epoch. */
  readonly upSince: number;
  /** Port that clients connect to: the configured one, or what the system chose for 0. */
  readonly port: number;
  /** What is known of the daemons already. */
  readonly daemons?: KnownDaemons;
}

/** A service's parts, put together and running. */
export interface ServiceParts extends IdentityParts {
  readonly config: ServiceConfig;
  /** Base of links, without trailing slash. */
  readonly externalUrl: string;
  readonly routes: readonly Route[];
  /** Logical servers by name, in the configured order. */
  readonly servers: ReadonlyMap<string, ServerFacts>;
  /** `WWW-Authenticate` of a 401 that comes from elsewhere than authentication. */
  readonly challenge: string;
  readonly desk: OperatorDesk;
  renewTls(material: TlsMaterial): void;
  close(): Promise<void>;
}

/** Longest time from a first token to the end of the last one got by renewal, in seconds: 30 days. */
const RENEWAL_PERIOD = 30 * 24 * 3600;

/**
 * Makes the parts that a configuration asks for, and connects them. What one part needs of another is handed over as a
 * function here, so that neighbours do not know each other.
 * @throws If a file that the configuration names cannot be used.
 */
export async function assemble(
  { config, material, assertionIssuers, generation, upSince, port, daemons: known }: ServiceOptions,
  {
    log,
    now,
    observer = new RequestObserver({ servers: [], audit: () => {} }),
    learned,
    daemonLearned,
    onAnswer,
    kinds = KINDS,
  }: {
    readonly log: Logger;
    readonly now: Clock;
    /** Told of outcomes of methods and of transfers. */
    readonly observer?: RequestObserver;
    /** Told of what is learned of failed logins. */
    readonly learned?: (news: RegulationNews) => void;
    /** Told of what is learned of the daemon with this command address. */
    readonly daemonLearned?: (address: string, knowledge: DaemonKnowledge) => void;
    /** Told of the answer of each attribute source. */
    readonly onAnswer?: SourceParts["onAnswer"];
    /** By default those there are. */
    readonly kinds?: ServiceKinds;
  },
): Promise<ServiceParts> {
  const own = new OwnCertificate(material);
  const externalUrl = externalUrlAt(config.site, port);
  const releases: (() => Promise<void> | void)[] = [];
  const release = async () => {
    await Promise.all(releases.map((release) => release()));
  };
  const keep = <T extends { close(): Promise<void> | void }>(part: T): T => {
    releases.push(() => part.close());
    return part;
  };
  const outgoing = keep(new OutgoingClients(config.outgoing, own, log));
  try {
    const daemons = new Daemons({
      ...(known && { known }),
      ...(daemonLearned && { learned: daemonLearned }),
    });
    const groups = config.servers.map((server) => keep(createGroup(server, own, { log, now, daemons })));
    const attributes = keep(
      await createAttributes(config.attributes, config.dynamicAttributes, kinds.sources, {
        log,
        now,
        outgoing: () => outgoing.client(config.outgoing.showCertificate),
        ...(onAnswer && { onAnswer }),
      }),
    );
    const created = await createMethods(config.authentication.methods, kinds.methods, {
      log,
      now,
      keySources: groups.map(keySource),
      serverName: () => own.name() ?? "",
      outgoing: outgoing.client,
      assertions: {
        url: externalUrl,
        additionalIdentifiers: config.additionalServiceIdentifiers,
        issuers: () => assertionIssuers,
        anchors: () => own.material().providerAnchors ?? own.material().anchors,
      },
      gateway: await readGateway(config.gateway),
    });
    const methods = created.map((method) => keep(observed(method, observer)));
    const standing: AskStanding = (user, signal) => standingOf(methods, user, signal);
    const { tokens, verifier } = await createIssued(config, own, { log, now, standing });
    const books: ReservationBook[] = [];
    for (const { reservations } of config.servers) {
      books.push(keep(await openBook(reservations, { log, now })));
    }
    const servers = new Map(groups.map((daemons, i) => [daemons.name, {
      name: daemons.name,
      description: daemons.description,
      daemons,
      sharing: config.features.share && config.sharing.servers.includes(daemons.name),
      reservations: books[i] ?? NO_RESERVATIONS,
    }]));
    const issuers = methods.flatMap(({ issuer }) => issuer ?? []);
    const chain = {
      ...(verifier && { issuedTokens: observed(verifier, observer) }),
      methods,
      failOnMissingCredentials: config.authentication.failOnMissingCredentials,
      realm: config.site.name,
      ...(issuers.length > 0 && { metadata: externalUrl + METADATA_PATH }),
    };
    const sharing = startSharing(config, { servers, attributes, standing, chain, observer, log, now });
    if (sharing) keep(sharing);
    const challenging = verifier === undefined ? methods : [...methods, verifier];
    const facts = {
      siteName: config.site.name,
      version: VERSION,
      upSince,
      supposedUrl: config.site.externalUrlGiven ? undefined : externalUrl,
      now,
      credential: own.facts,
      trustedCAs: own.trusted,
      trustedSAMLIssuers: () => assertionIssuers.map((issuer) => certificateSubject(issuer)),
      externalConnections: () =>
        externalConnections(
          groups,
          config.authentication.methods.map((
            method,
            i,
          ) => [kindOf(method, kinds.methods).remotes?.(method) ?? [], methods[i]]),
        ),
    };
    const regulator = new Regulator({
      config: config.regulation,
      log,
      now: steadyClock,
      clock: now,
      ...(learned && { learned }),
    });
    return {
      config,
      externalUrl,
      chain,
      challenge: challengeHeader(chain, challenging.flatMap(({ challenges }) => challenges)),
      regulator,
      attributes,
      accessControl: config.accessControl.enabled,
      serverName: own.name,
      servers,
      routes: routesOf({
        servers,
        facts,
        tokens,
        certificate: own.pem,
        generation,
        sharing,
        shareAdministration: sharing && new ShareAdministration(sharing.store, now),
        features: config.features,
        issuers,
        unauthenticated: (reason) => unauthenticated(chain, reason),
      }),
      desk: new OperatorDesk({
        groups,
        methods,
        attributes,
        regulator,
        certificate: own.facts,
        shares: sharing && (() => sharing.store.count()),
      }),
      renewTls: (renewed) => {
        own.renew(renewed);
        outgoing.renew();
      },
      close: release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

function createGroup(
  { name, description, instances, truststore }: LogicalServerConfig,
  own: OwnCertificate,
  { log, now, daemons }: { readonly log: Logger; readonly now: Clock; readonly daemons: Daemons },
): DaemonGroup {
  const addresses = instances.map(({ expectedDn, port, ...instance }) => ({
    ...instance,
    ...(port !== undefined && { port }),
    ...(expectedDn !== undefined && { expectedDn }),
  }));
  const trust = truststore && { trust: name };
  return createDaemonGroup({ name, description, instances: addresses, ...trust }, {
    tls: () => own.daemonMaterial(name),
    clock: now,
    log,
    daemons,
  });
}

/** Users' own keys, as the daemons of a server read them. */
function keySource(group: DaemonGroup) {
  return {
    server: group.name,
    keyLines: async (user: string, signal: AbortSignal) => {
      const info = await group.userInfo(user, signal);
      return info.kind === "known" ? info.keyLines : [];
    },
  };
}

async function createIssued(
  config: ServiceConfig,
  own: OwnCertificate,
  { log, now, standing }: { readonly log: Logger; readonly now: Clock; readonly standing: AskStanding },
) {
  if (own.pem() === undefined) return { tokens: undefined, verifier: undefined };
  const { lifetimeSeconds, maxLifetimeSeconds, hmacSecret, trustedIssuerFiles } = config.issuedTokens;
  const trustedIssuers = await Promise.all(trustedIssuerFiles.map(readTrustedIssuer));
  const limits = {
    defaultLifetime: lifetimeSeconds,
    maxLifetime: maxLifetimeSeconds,
    renewalPeriod: RENEWAL_PERIOD,
  };
  return {
    tokens: new TokenIssuer({ tls: own.material, limits, clock: now }),
    verifier: issuedToken({
      tls: own.material,
      trustedIssuers,
      ...(hmacSecret !== undefined && { hmacSecret }),
      standing,
      clock: now,
      log,
    }),
  };
}

/** Data sharing, if some server has it; the database is made when it is not there. */
function startSharing(
  { sharing, features }: ServiceConfig,
  { servers, attributes, standing, chain, observer, log, now }: {
    readonly servers: ReadonlyMap<string, ServerFacts>;
    readonly attributes: AttributeSource;
    readonly standing: AskStanding;
    readonly chain: AuthenticationChain;
    readonly observer: RequestObserver;
    readonly log: Logger;
    readonly now: Clock;
  },
): OpenSharing | undefined {
  const { servers: shared, directory, clientAddresses, allowWriteAccess, maxLifetimeSeconds, maxPerUser } =
    sharing;
  if (shared.length === 0 || directory === undefined || !(features.share || features.access)) {
    return undefined;
  }
  return openSharing({
    servers,
    directory,
    clientAddresses,
    allowWriteAccess,
    maxLifetimeSeconds,
    maxPerUser,
    attributes,
    standing,
    unauthenticated: (reason) => unauthenticated(chain, reason),
    transferred: (direction, bytes) => observer.transferred(direction, bytes),
    log,
    clock: now,
  });
}

async function openBook(
  reservations: ReservationsConfig | undefined,
  { log, now }: { readonly log: Logger; readonly now: Clock },
): Promise<ReservationBook> {
  if (reservations === undefined) return NO_RESERVATIONS;
  const { file, timeZone } = reservations;
  return await openReservationBook({
    file,
    ...(timeZone !== undefined && { zone: timeZone }),
    clock: now,
    log,
  });
}

async function readGateway({ enabled, certificate }: GatewayConfig): Promise<MethodParts["gateway"]> {
  if (!enabled) return undefined;
  if (certificate === undefined) return { certificate: () => undefined };
  const pem = await readGatewayCertificate(certificate);
  return { certificate: () => pem };
}
