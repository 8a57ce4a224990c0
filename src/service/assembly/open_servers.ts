import type { LogicalServerConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import { NO_RESERVATIONS, type ReservationRegistry } from "../../reservations/reservation.ts";
import { loginPolicy } from "../../resource/login_policy.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { DaemonPool } from "../../daemon/daemon_pool.ts";
import type { Daemons } from "../../daemon/daemons.ts";
import type { Opening } from "./service_options.ts";

/** Opens the logical servers of daemons in the configured order. */
export async function openServers(
  groups: readonly DaemonGroup[],
  { config: { servers, features, sharing }, log, clock, autoClose }: Opening,
): Promise<ReadonlyMap<string, ServerFacts>> {
  const registries: ReservationRegistry[] = [];
  for (const { reservations } of servers) {
    if (reservations === undefined) registries.push(NO_RESERVATIONS);
    else {
      const { openReservationRegistry } = await import("../../reservations/reservation_registry.ts");
      registries.push(autoClose(await openReservationRegistry({ ...reservations, clock, log })));
    }
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

/** Opens the daemons of a logical server. */
export function openDaemons(
  { name, description, instances, truststore }: LogicalServerConfig,
  daemons: Daemons,
  { own, log, clock }: Opening,
): DaemonGroup {
  const trust = truststore && { trust: name };
  return new DaemonPool({ name, description, instances, ...trust }, {
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
