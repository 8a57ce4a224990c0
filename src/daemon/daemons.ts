import { commandAddress } from "./exchange.ts";
import type { CommandSocket } from "./command_connection.ts";
import { Daemon, type DaemonKnowledge, type DaemonParts } from "./daemon.ts";

/** Daemon states by {@link commandAddress}. */
export type KnownDaemons = ReadonlyMap<string, DaemonKnowledge>;

/** Physical daemons, shared by logical servers with the same command socket and trust. */
export class Daemons {
  readonly #daemons = new Map<string, Daemon>();
  readonly #known: KnownDaemons;
  readonly #learned: (address: string, knowledge: DaemonKnowledge) => void;
  readonly #clusterMembers: (() => number) | undefined;

  /** @param options.known From a predecessor. @param options.clusterMembers Instances that send commands. Default: 1. */
  constructor({ known = new Map(), learned = () => {}, clusterMembers }: {
    readonly known?: KnownDaemons;
    readonly learned?: (address: string, knowledge: DaemonKnowledge) => void;
    readonly clusterMembers?: () => number;
  } = {}) {
    this.#clusterMembers = clusterMembers;
    this.#known = known;
    this.#learned = learned;
  }

  /** Returns the daemon at a command socket. @param trust Its own anchors, if any. @param parts For a new daemon. */
  at(
    socket: CommandSocket,
    trust: string | undefined,
    parts: Omit<DaemonParts, "socket" | "known" | "learned" | "clusterMembers">,
  ): Daemon {
    const { host, port, tls } = socket;
    const address = commandAddress(host, port);
    const key = JSON.stringify([
      address,
      tls !== undefined,
      tls?.expectedDn ?? "",
      tls?.allowUnverifiable === true,
      trust ?? "",
    ]);
    const same = this.#daemons.get(key);
    if (same !== undefined) return same;
    const known = this.#known.get(address);
    const daemon = new Daemon({
      ...parts,
      socket,
      known,
      clusterMembers: this.#clusterMembers,
      learned: (knowledge) => this.#learned(address, knowledge),
    });
    this.#daemons.set(key, daemon);
    return daemon;
  }
}
