/** Connections that a daemon takes at once: one that it serves, and its backlog (daemon-protocol.md 1.5). More are dropped. */
const PLACES = 4;

/** By how much the quickest exchange is taken to become slower with each one: a daemon may be slower than it was. */
const DRIFT = 1.02;

/**
 * Other instances of the service that send commands to one daemon. Each sends one at a time, so that all together have no more
 * connections there than its backlog takes; alone, or with one other, two, of which one stands ready. Where there are more
 * instances than places, each lets others go before it sends the next, as long as its own exchanges show that all places
 * are taken.
 */
export class Crowd {
  readonly #instances: () => number;
  #quickestMs = Infinity;

  /** @param instances How many there are, this one included. */
  constructor(instances: () => number) {
    this.#instances = instances;
  }

  /** Commands that may be under way at once. @param ready Whether one may stand ready. */
  underWay(ready: boolean): 1 | 2 {
    return ready && 2 * this.#instances() <= PLACES ? 2 : 1;
  }

  /** Milliseconds to wait after an exchange before the next one begins. */
  pauseAfter(exchangeMs: number): number {
    this.#quickestMs = Math.min(exchangeMs, this.#quickestMs * DRIFT);
    const tooMany = this.#instances() - PLACES;
    const taken = exchangeMs / Math.max(this.#quickestMs, 0.1);
    return tooMany <= 0 || taken < PLACES - 1 ? 0 : tooMany * this.#quickestMs;
  }
}
