import type { Daemon } from "./daemon.ts";
import type { DaemonHealth, InstanceStatus } from "./daemon_group.ts";
import { hostsOf } from "../model/host_list.ts";

/** Physical daemon within a logical server. */
export class Instance {
  #made: { readonly health: DaemonHealth; readonly status: InstanceStatus } | undefined;

  readonly #host: string;
  #reportedPort: number | undefined; // port that the daemon last reported

  /** @param number From 1. @param listen Listen socket; without port, the daemon reports it with each session. */
  constructor(
    readonly number: number,
    readonly listen: { readonly host: string; readonly port?: number },
    readonly daemon: Daemon,
  ) {
    this.#host = hostsOf(listen.host)[0] ?? listen.host;
  }

  /** `host:port` of the listen socket, or `host` while the port is unknown. */
  get address(): string {
    const port = this.listen.port ?? this.#reportedPort;
    if (port !== undefined) return `${this.#host}:${port}`;
    return this.#host.includes(":") ? `[${this.#host}]` : this.#host;
  }

  /** Stores the reported port, unless configured. */
  listensAt(port: number): void {
    if (this.listen.port === undefined && this.#reportedPort !== port) {
      this.#reportedPort = port;
      this.#made = undefined;
    }
  }

  /** The same object until something changes. */
  status(): InstanceStatus {
    const health = this.daemon.health();
    if (this.#made?.health !== health) {
      this.#made = { health, status: { instance: this.number, address: this.address, ...health } };
    }
    return this.#made.status;
  }
}
