import type { ReservationsConfig, ServiceConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import {
  NO_RESERVATIONS,
  openReservationBook,
  type ReservationBook,
} from "../../reservations/reservation_book.ts";
import { loginPolicy } from "../../resource/login_policy.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";

/** What the logical servers are opened with. */
interface ServerParts {
  readonly log: Logger;
  readonly clock: Clock;
  /** Takes what is to be closed in the end. */
  readonly keep: <T extends { close(): void }>(part: T) => T;
}

/**
 * The logical servers by name, in the configured order.
 * @param groups Their daemons, in the same order.
 * @throws {InvalidFile} If a reservations file cannot be used.
 */
export async function openServers(
  { servers, features, sharing }: ServiceConfig,
  groups: readonly DaemonGroup[],
  parts: ServerParts,
): Promise<ReadonlyMap<string, ServerFacts>> {
  const books: ReservationBook[] = [];
  for (const { reservations } of servers) books.push(parts.keep(await openBook(reservations, parts)));
  const policies = servers.map(({ logins }) => loginPolicy(logins, parts.clock));
  return new Map(groups.map((daemons, i) => [daemons.name, {
    name: daemons.name,
    description: daemons.description,
    daemons,
    sharing: features.share && sharing.servers.includes(daemons.name),
    reservations: books[i] ?? NO_RESERVATIONS,
    logins: policies[i],
  }]));
}

async function openBook(
  reservations: ReservationsConfig | undefined,
  { log, clock }: ServerParts,
): Promise<ReservationBook> {
  if (reservations === undefined) return NO_RESERVATIONS;
  const { file, timeZone: zone } = reservations;
  return await openReservationBook({ file, zone, clock, log });
}
