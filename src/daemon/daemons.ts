import { commandAddress } from "./exchange.ts";
import type { CommandSocket } from "./command_connection.ts";
import { Daemon, type DaemonParts, type DaemonState } from "./daemon.ts";

/** Daemon states by {@link commandAddress}. */
export type KnownDaemons = ReadonlyMap<string, DaemonState>;

/** Physical daemons, shared by logical servers with the same command socket and trust. */
export class Daemons {
  readonly #daemons = new Map<string, Daemon>();

  /** @param options.known From a predecessor. @param options.clusterMembers Instances that send commands. Default: 1. */
  constructor(
    readonly options: {
      readonly known?: KnownDaemons;
      readonly learned?: (address: string, state: DaemonState) => void;
      readonly clusterMembers?: () => number;
    } = {},
  ) {}

  /** Returns the daemon at a command socket. @param trust Its own anchors, if any. @param parts For a new daemon. */
  at(
    socket: CommandSocket,
    trust: string | undefined,
    parts: Omit<DaemonParts, "socket" | "known" | "learned" | "clusterMembers">,
  ): Daemon {
    const { host, port, tls } = socket;
    const address = commandAddress(host, port);
    const { expectedDn = "", allowUnverifiable = false } = tls ?? {};
    const key = JSON.stringify([address, tls !== undefined, expectedDn, allowUnverifiable, trust ?? ""]);
    const { known, learned, clusterMembers } = this.options;
    const made = () =>
      new Daemon({
        ...parts,
        socket,
        known: known?.get(address),
        clusterMembers,
        learned: (state) => learned?.(address, state),
      });
    return this.#daemons.getOrInsertComputed(key, made);
  }
}
