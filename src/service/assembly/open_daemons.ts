import type { LogicalServerConfig } from "../../config/service_config.ts";
import type { DaemonGroup } from "../../daemon/daemon_group.ts";
import { createDaemonGroup } from "../../daemon/daemon_pool.ts";
import type { Daemons } from "../../daemon/daemons.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import type { OwnCertificate } from "./own_certificate.ts";

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
