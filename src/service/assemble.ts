import { createAttributes } from "../attributes/registry.ts";
import { TokenIssuer } from "../authentication/issued_token/issue.ts";
import { issuedToken } from "../authentication/issued_token/verify.ts";
import { challengeHeader } from "../authentication/unauthenticated.ts";
import { createMethods } from "../authentication/registry.ts";
import { externalUrlAt } from "../config/read_site.ts";
import type { LogicalServerConfig, ServiceConfig } from "../config/service_config.ts";
import type { DaemonGroup } from "../daemon/daemon_group.ts";
import { createDaemonGroup } from "../daemon/daemon_pool.ts";
import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { TlsMaterial } from "../model/tls_material.ts";
import { Regulator } from "../regulation/regulator.ts";
import type { ServerFacts, ServerReservations } from "../resource/server_facts.ts";
import type { IdentityParts } from "./identify.ts";
import { OwnCertificate } from "./own_certificate.ts";
import type { Route } from "./router.ts";
import { routesOf } from "./routes.ts";
import { VERSION } from "./version.ts";

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
}

/** A service's parts, put together and running. */
export interface ServiceParts extends IdentityParts {
  readonly config: ServiceConfig;
  /** Base of links, without trailing slash. */
  readonly externalUrl: string;
  readonly routes: readonly Route[];
  /** `WWW-Authenticate` of a 401 that comes from elsewhere than authentication. */
  readonly challenge: string;
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
  { config, material, assertionIssuers, generation, upSince, port }: ServiceOptions,
  { log, now }: { readonly log: Logger; readonly now: Clock },
): Promise<ServiceParts> {
  const own = new OwnCertificate(material);
  const groups = config.servers.map((server) => createGroup(server, own, { log, now }));
  try {
    const attributes = await createAttributes(config.attributes, { log });
    const methods = await createMethods(config.authentication.methods, {
      log,
      now,
      keySources: groups.map(keySource),
      serverName: () => own.name() ?? "",
    });
    const issued = await createIssued(config, own, { log, now });
    const servers = await createServers(config, groups);
    const facts = {
      siteName: config.site.name,
      version: VERSION,
      upSince,
      now,
      credential: own.facts,
      trustedCAs: own.trusted,
      trustedSAMLIssuers: () => assertionIssuers,
      externalConnections: () => Object.fromEntries(groups.flatMap(connections)),
    };
    const { tokens, verifier } = issued;
    return {
      config,
      externalUrl: externalUrlAt(config.site, port),
      chain: {
        ...(verifier && { issuedTokens: verifier }),
        methods,
        failOnMissingCredentials: config.authentication.failOnMissingCredentials,
        realm: config.site.name,
      },
      challenge: challengeHeader(config.site.name, methods.flatMap(({ challenges }) => challenges)),
      regulator: new Regulator({ config: config.regulation, log, now }),
      attributes,
      accessControl: config.accessControl.enabled,
      serverName: own.name,
      routes: routesOf({ servers, facts, tokens, certificate: own.pem, generation }),
      renewTls: (renewed) => own.renew(renewed),
      close: async () => {
        methods.forEach((method) => method.close());
        attributes.close();
        await Promise.all(groups.map((group) => group.close()));
      },
    };
  } catch (error) {
    await Promise.all(groups.map((group) => group.close()));
    throw error;
  }
}

function createGroup(
  { name, description, instances }: LogicalServerConfig,
  own: OwnCertificate,
  { log, now }: { readonly log: Logger; readonly now: Clock },
): DaemonGroup {
  const addresses = instances.map(({ expectedDn, ...instance }) => ({
    ...instance,
    ...(expectedDn !== undefined && { expectedDn }),
  }));
  return createDaemonGroup({ name, description, instances: addresses }, {
    tls: own.material,
    clock: now,
    log,
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
  { log, now }: { readonly log: Logger; readonly now: Clock },
) {
  if (own.pem() === undefined) return { tokens: undefined, verifier: undefined };
  const { lifetimeSeconds, maxLifetimeSeconds, hmacSecret, trustedIssuerFiles } = config.issuedTokens;
  const trustedIssuers = await Promise.all(trustedIssuerFiles.map((file) => Deno.readTextFile(file)));
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
      clock: now,
      log,
    }),
  };
}

const NO_RESERVATIONS: ServerReservations = { limitFor: () => undefined, descriptionsFor: () => [] };

// deno-lint-ignore require-await
async function createServers(
  config: ServiceConfig,
  groups: readonly DaemonGroup[],
): Promise<ReadonlyMap<string, ServerFacts>> {
  const sharing = config.features.share ? config.sharing.servers : [];
  return new Map(groups.map((daemons) => [daemons.name, {
    name: daemons.name,
    description: daemons.description,
    daemons,
    sharing: sharing.includes(daemons.name),
    reservations: NO_RESERVATIONS,
  }]));
}

/** States of a server's daemons, under the names the Java service gives them (rest-api.md 1.9). */
function connections(group: DaemonGroup): [string, string][] {
  const { name, size } = group;
  return group.status().instances.map(({ instance, up }) => [
    `UFTPD server '${size === 1 ? name : `${name}-${instance}`}'`,
    up ? "OK" : "DOWN",
  ]);
}
