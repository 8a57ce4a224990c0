import type { Daemon } from "./daemon.ts";
import type { DaemonHealth, InstanceStatus } from "./daemon_group.ts";
import { hostsOf } from "../model/host_list.ts";

/** A physical daemon as one logical server has it: under a number, with the address that its clients are told. */
export class Instance {
  #made: { readonly health: DaemonHealth; readonly status: InstanceStatus } | undefined;

  readonly #host: string;
  /** Port of the listen socket, as the daemon told it last. */
  #told: number | undefined;

  /**
   * @param number Counted from 1.
   * @param listen Its listen socket; without port, the daemon tells that with each session.
   */
  constructor(
    readonly number: number,
    readonly listen: { readonly host: string; readonly port?: number },
    readonly daemon: Daemon,
  ) {
    this.#host = hostsOf(listen.host)[0] ?? listen.host;
  }

  /** `host:port` of the listen socket; `host` alone as long as nobody has told the port. */
  get address(): string {
    const port = this.listen.port ?? this.#told;
    if (port !== undefined) return `${this.#host}:${port}`;
    return this.#host.includes(":") ? `[${this.#host}]` : this.#host;
  }

  /** Takes note of the port that the daemon named, where none is configured. */
  listensAt(port: number): void {
    if (this.listen.port === undefined && this.#told !== port) {
      this.#told = port;
      this.#made = undefined;
    }
  }

  /** The same object as long as nothing has changed. */
  status(): InstanceStatus {
    const health = this.daemon.health();
    if (this.#made?.health !== health) {
      this.#made = { health, status: { instance: this.number, address: this.address, ...health } };
    }
    return this.#made.status;
  }
}
