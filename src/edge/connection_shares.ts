/** A connection as far as it matters here. */
interface Connection {
  readonly remoteAddress?: string | undefined;
  once(event: "close", told: () => void): unknown;
}

/**
 * Who may have a connection. One group of addresses never holds more of them than are still free: alone it gets half,
 * of two each a third, and however many come, there is one left for somebody else (dynamic thresholds, as switches
 * share their buffers).
 */
export class ConnectionShares {
  readonly #most: number;
  readonly #groupOf: (address: string) => string | undefined;
  readonly #open = new Map<string, number>();
  #count = 0;

  /**
   * @param most Connections in all; 0 is no limit.
   * @param groupOf Addresses that share; `undefined` for those that may have all there are, such as a gateway's.
   */
  constructor(most: number, groupOf: (address: string) => string | undefined) {
    this.#most = most === 0 ? Infinity : most;
    this.#groupOf = groupOf;
  }

  /** @returns Whether the connection may stay; it counts until it is closed. */
  admit(socket: Connection): boolean {
    const group = this.#groupOf(socket.remoteAddress ?? "");
    const free = this.#most - this.#count;
    const own = group === undefined ? 0 : this.#open.get(group) ?? 0;
    if (free <= own) return false;
    this.#count++;
    if (group !== undefined) this.#open.set(group, own + 1);
    socket.once("close", () => this.#leave(group));
    return true;
  }

  #leave(group: string | undefined): void {
    this.#count--;
    if (group === undefined) return;
    const left = (this.#open.get(group) ?? 1) - 1;
    if (left === 0) this.#open.delete(group);
    else this.#open.set(group, left);
  }
}
