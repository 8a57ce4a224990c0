import type { Daemon } from "./daemon.ts";
import type { DaemonHealth, InstanceStatus } from "./daemon_group.ts";

/** A physical daemon as one logical server has it: under a number, with the address that its clients are told. */
export class Instance {
  #made: { readonly health: DaemonHealth; readonly status: InstanceStatus } | undefined;

  /**
   * @param number Counted from 1.
   * @param address `host:port` of the listen socket.
   */
  constructor(readonly number: number, readonly address: string, readonly daemon: Daemon) {}

  /** The same object as long as nothing has changed. */
  status(): InstanceStatus {
    const health = this.daemon.health();
    if (this.#made?.health !== health) {
      this.#made = { health, status: { instance: this.number, address: this.address, ...health } };
    }
    return this.#made.status;
  }
}
