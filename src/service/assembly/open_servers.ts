import type { LogicalServerConfig, ServiceConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import { NO_RESERVATIONS, type ReservationRegistry } from "../../reservations/reservation.ts";
import type { RegistryOptions } from "../../reservations/reservation_registry.ts";
import { loginPolicy } from "../../resource/login_policy.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { createDaemonGroup } from "../../daemon/daemon_pool.ts";
import type { SessionClient } from "../../daemon/session/session_client.ts";
import type { Daemons } from "../../daemon/daemons.ts";
import type { OwnCertificate } from "./own_certificate.ts";

interface ServerParts {
  readonly log: Logger;
  readonly clock: Clock;
  /** Registers a part to close at the end. */
  readonly keep: <T extends { close(): void }>(part: T) => T;
}

/**
 * Opens the logical servers in the configured order. @param groups Their daemons, in the same order. @throws {InvalidFile}
 * For invalid reservations.
 */
export async function openServers(
  { servers, features, sharing }: ServiceConfig,
  groups: readonly DaemonGroup[],
  { log, clock, keep }: ServerParts,
): Promise<ReadonlyMap<string, ServerFacts>> {
  const registries: ReservationRegistry[] = [];
  for (const { reservations } of servers) {
    registries.push(
      reservations ? keep(await openReservations({ ...reservations, clock, log })) : NO_RESERVATIONS,
    );
  }
  const policies = servers.map(({ logins }) => loginPolicy(logins, clock));
  return new Map(groups.map((daemons, i) => [daemons.name, {
    name: daemons.name,
    description: daemons.description,
    daemons,
    sharing: features.share && sharing.servers.includes(daemons.name),
    reservations: registries[i] ?? NO_RESERVATIONS,
    logins: policies[i],
  }]));
}

/** Returns clients for own data sessions: on all servers with the users' files, else on those with sharing. */
export async function openSessions(
  { features, sharing }: ServiceConfig,
  servers: ReadonlyMap<string, ServerFacts>,
  keep: ServerParts["keep"],
): Promise<ReadonlyMap<string, SessionClient>> {
  const used = [...servers.values()].filter(({ name }) => features.files || sharing.servers.includes(name));
  if (used.length === 0) return new Map();
  const { SessionClient } = await import("../../daemon/session/session_client.ts");
  const { clientAddresses } = sharing;
  return new Map(
    used.map(({ name, daemons }) => [name, keep(new SessionClient(daemons, { clientAddresses }))]),
  );
}

async function openReservations(options: RegistryOptions): Promise<ReservationRegistry> {
  const { openReservationRegistry } = await import("../../reservations/reservation_registry.ts");
  return await openReservationRegistry(options);
}

/** Opens the daemons of a logical server. */
export function openDaemons(
  { name, description, instances, truststore }: LogicalServerConfig,
  { own, daemons, log, clock }: {
    readonly own: OwnCertificate;
    readonly daemons: Daemons;
    readonly log: Logger;
    readonly clock: Clock;
  },
): DaemonGroup {
  const trust = truststore && { trust: name };
  return createDaemonGroup({ name, description, instances, ...trust }, {
    tls: () => own.daemonMaterial(name),
    clock,
    log,
    daemons,
  });
}

/** Returns users' keys as the server's daemons report them. */
export function keySource(group: DaemonGroup) {
  return {
    server: group.name,
    keyLines: async (user: string, signal: AbortSignal) => {
      const info = await group.userInfo(user, signal);
      return info.kind === "known" ? info.keyLines : [];
    },
  };
}
