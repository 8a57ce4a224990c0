/** A connection as far as it matters here. */
interface Connection {
  once(event: "close", told: () => void): unknown;
}

/**
 * Who may have a connection. One group of addresses never holds more of them than are still free: alone it gets half,
 * of two each a third, and however many come, there is one left for somebody else (dynamic thresholds, as switches
 * share their buffers).
 */
export class ConnectionShares {
  readonly #most: number;
  readonly #open = new Map<string, number>();
  /** Whose each connection is. */
  readonly #groups = new WeakMap<Connection, string | undefined>();
  #count = 0;

  /** @param most Connections in all; 0 is no limit. */
  constructor(most: number) {
    this.#most = most === 0 ? Infinity : most;
  }

  /**
   * @param group Addresses that share; `undefined` for those that may have all there are, such as a gateway's.
   * @returns Whether the connection may stay; it counts until it is closed.
   */
  admit(socket: Connection, group: string | undefined): boolean {
    if (!this.#hasWorker(group, this.#count)) return false;
    this.#count++;
    this.#enter(socket, group);
    socket.once("close", () => {
      this.#count--;
      this.#leave(socket);
    });
    return true;
  }

  /**
   * It has turned out whose a connection is that was admitted.
   * @returns Whether it may stay.
   */
  assign(socket: Connection, group: string | undefined): boolean {
    this.#leave(socket);
    const fits = this.#hasWorker(group, this.#count - 1);
    this.#enter(socket, fits ? group : undefined);
    return fits;
  }

  /** @param others Connections besides. */
  #hasWorker(group: string | undefined, others: number): boolean {
    return this.#most - others > (group === undefined ? 0 : this.#open.get(group) ?? 0);
  }

  #enter(socket: Connection, group: string | undefined): void {
    this.#groups.set(socket, group);
    if (group !== undefined) this.#open.set(group, (this.#open.get(group) ?? 0) + 1);
  }

  #leave(socket: Connection): void {
    const group = this.#groups.get(socket);
    if (group === undefined) return;
    const left = (this.#open.get(group) ?? 1) - 1;
    if (left === 0) this.#open.delete(group);
    else this.#open.set(group, left);
  }
}
