/** Connections a daemon accepts: one served plus its backlog (daemon-protocol.md 1.5). More are dropped. */
const PLACES = 4;

/** Decay of the fastest exchange, since a daemon may have become slower. */
const DRIFT = 1.02;

/**
 * Limits commands of several instances to one daemon: together no more connections than its backlog; up to two
 * instances may use two each. With more instances than places, each pauses between commands while its exchanges show a
 * full backlog.
 */
export class Crowd {
  readonly #instances: () => number;
  #quickestMs = Infinity;

  /** @param instances Number of instances, this one included. */
  constructor(instances: () => number) {
    this.#instances = instances;
  }

  /** Returns the allowed concurrent commands. @param ready Whether a second one may wait in the backlog. */
  underWay(ready: boolean): 1 | 2 {
    return ready && 2 * this.#instances() <= PLACES ? 2 : 1;
  }

  /** Returns the pause after an exchange, in milliseconds. */
  pauseAfter(exchangeMs: number): number {
    this.#quickestMs = Math.min(exchangeMs, this.#quickestMs * DRIFT);
    const tooMany = this.#instances() - PLACES;
    const taken = exchangeMs / Math.max(this.#quickestMs, 0.1);
    return tooMany <= 0 || taken < PLACES - 1 ? 0 : tooMany * this.#quickestMs;
  }
}
