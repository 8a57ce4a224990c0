import type { CommandSocket } from "./command_connection.ts";
import { Daemon, type DaemonKnowledge, type DaemonParts } from "./daemon.ts";

/** What is known of daemons, by {@link commandAddress}. */
export type KnownDaemons = ReadonlyMap<string, DaemonKnowledge>;

/** `host:port` of a command socket. */
export function commandAddress(host: string, port: number): string {
  return `${host.toLowerCase()}:${port}`;
}

/**
 * The physical daemons of a service, each once: logical servers that name the same command socket, and trust the same
 * certificate there, share its queue and what is known of it.
 */
export class Daemons {
  readonly #daemons = new Map<string, Daemon>();
  readonly #known: KnownDaemons;
  readonly #learned: (address: string, knowledge: DaemonKnowledge) => void;
  readonly #clusterMembers: (() => number) | undefined;

  /**
   * @param options.known What another instance of the service knew.
   * @param options.learned Told of what changes.
   * @param options.clusterMembers How many instances of the service send commands to the same daemons; default 1.
   */
  constructor({ known = new Map(), learned = () => {}, clusterMembers }: {
    readonly known?: KnownDaemons;
    readonly learned?: (address: string, knowledge: DaemonKnowledge) => void;
    readonly clusterMembers?: () => number;
  } = {}) {
    this.#clusterMembers = clusterMembers;
    this.#known = known;
    this.#learned = learned;
  }

  /**
   * The daemon at a command socket.
   * @param trust Whose anchors vouch for its certificate; absent: the common ones.
   * @param parts Used if nobody else has asked for it.
   */
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
