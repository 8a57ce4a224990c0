interface Connection {
  once(event: "close", told: () => void): unknown;
}

/**
 * Fair shares of connections: no group holds more than are free, so one gets half, two a third each, and a newcomer
 * always finds one (dynamic thresholds, as in switch buffers).
 */
export class ConnectionShares {
  readonly #most: number;
  readonly #open = new Map<string, number>();
  readonly #groups = new WeakMap<Connection, string | undefined>();
  #count = 0;

  /** @param most Total; 0: no limit. */
  constructor(most: number) {
    this.#most = most === 0 ? Infinity : most;
  }

  /** Admits a connection until it closes. @param group Client; `undefined` for gateways, which have no limit. */
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

  /** Assigns an admitted connection to its client. Returns whether it may stay. */
  assign(socket: Connection, group: string | undefined): boolean {
    this.#leave(socket);
    const fits = this.#hasWorker(group, this.#count - 1);
    this.#enter(socket, fits ? group : undefined);
    return fits;
  }

  /** @param others Other connections. */
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
