import type { LogicalServerConfig, ServiceConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import type { Logger } from "../../logging/logger.ts";
import { type Clock, stopwatch } from "../../model/clock.ts";
import {
  hostZone,
  NO_RESERVATIONS,
  openReservationRegistry,
  type ReservationRegistry,
} from "../../reservations/reservation_registry.ts";
import { SharedReservations } from "../../reservations/shared_reservations.ts";
import { loginPolicy } from "../../resource/login_policy.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import type { Database } from "../../store/database.ts";
import type { SharedKnown } from "./open_cluster.ts";

interface ServerParts {
  readonly log: Logger;
  readonly clock: Clock;
  /** Cluster clock. */
  readonly sharedClock: Clock;
  /** Initial reservations from the database. */
  readonly known?: SharedKnown;
  readonly learned?: (known: SharedKnown) => void;
  /** Shared database with the reservations of servers without file. */
  readonly database: Database | undefined;
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
  parts: ServerParts,
): Promise<ReadonlyMap<string, ServerFacts>> {
  const shared = await followShared(servers, parts);
  const registries: ReservationRegistry[] = [];
  for (const server of servers) registries.push(parts.keep(await openRegistry(server, shared, parts)));
  const policies = servers.map(({ logins }) => loginPolicy(logins, parts.clock));
  return new Map(groups.map((daemons, i) => [daemons.name, {
    name: daemons.name,
    description: daemons.description,
    daemons,
    sharing: features.share && sharing.servers.includes(daemons.name),
    reservations: registries[i] ?? NO_RESERVATIONS,
    logins: policies[i],
  }]));
}

async function followShared(
  servers: readonly LogicalServerConfig[],
  { database, log, sharedClock, known, learned = () => {}, keep }: ServerParts,
): Promise<SharedReservations | undefined> {
  const isNeeded = servers.some(({ reservations }) => reservations && reservations.file === undefined);
  if (database === undefined || !isNeeded) return undefined;
  const shared = keep(
    new SharedReservations({
      database,
      elapsed: stopwatch,
      clock: sharedClock,
      log,
      known: known?.reservations,
      learned: (reservations) => learned({ reservations }),
    }),
  );
  await shared.follow();
  return shared;
}

async function openRegistry(
  { name, reservations }: LogicalServerConfig,
  shared: SharedReservations | undefined,
  { log, clock }: ServerParts,
): Promise<ReservationRegistry> {
  if (reservations === undefined) return NO_RESERVATIONS;
  const { file, timeZone: zone = hostZone() } = reservations;
  if (file !== undefined) return await openReservationRegistry({ file, zone, clock, log });
  return shared?.registry(name, zone) ?? NO_RESERVATIONS;
}
