import type { LogicalServerConfig } from "../config/service_config.ts";
import type { DaemonKnowledge } from "../daemon/daemon.ts";
import { commandAddress, type KnownDaemons } from "../daemon/daemons.ts";

/** What the cores know of the daemons, outside of them: one that starts begins with it, and asks no less for that. */
export class DaemonCopy {
  #known = new Map<string, DaemonKnowledge>();

  /** A core learned something. */
  adopt(address: string, knowledge: DaemonKnowledge): void {
    this.#known.set(address, knowledge);
  }

  /** What is known of these servers' daemons; what is known of others is forgotten. */
  of(servers: readonly LogicalServerConfig[]): KnownDaemons {
    const known = new Map<string, DaemonKnowledge>();
    for (const { commandHost, commandPort } of servers.flatMap(({ instances }) => instances)) {
      const address = commandAddress(commandHost, commandPort);
      const knowledge = this.#known.get(address);
      if (knowledge) known.set(address, knowledge);
    }
    return this.#known = known;
  }
}
