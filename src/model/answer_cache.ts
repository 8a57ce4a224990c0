import { BoundedMap } from "./bounded_map.ts";
import { type Stopwatch, stopwatch } from "./clock.ts";
import { SingleFlight } from "./single_flight.ts";

/** Short-lived cache that merges concurrent lookups; failures are not cached. */
export class AnswerCache<T> {
  readonly #answers: BoundedMap<string, { readonly answer: T; readonly until: number }>;
  readonly #asked = new SingleFlight<T>();
  readonly #lifetimeMs: number;
  readonly #elapsed: Stopwatch;

  /** @param options.lifetimeMs 0: no caching. @param options.size Entries; evicts the least recently used. */
  constructor(
    { lifetimeMs, size, elapsed = stopwatch }: {
      readonly lifetimeMs: number;
      readonly size: number;
      readonly elapsed?: Stopwatch;
    },
  ) {
    this.#answers = new BoundedMap(size);
    this.#lifetimeMs = lifetimeMs;
    this.#elapsed = elapsed;
  }

  /** @param ask Its signal aborts when all callers gave up. @throws What `ask` throws; the signal's reason. */
  async get(question: string, ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const kept = this.#answers.get(question);
    if (kept !== undefined && this.#elapsed() < kept.until) return kept.answer;
    return await this.#asked.join(question, async (signal) => {
      const answer = await ask(signal);
      if (this.#lifetimeMs > 0) {
        this.#answers.set(question, { answer, until: this.#elapsed() + this.#lifetimeMs });
      }
      return answer;
    }, signal);
  }
}
