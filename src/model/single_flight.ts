import { type Stopwatch, stopwatch, unlessAborted } from "./clock.ts";
import { BoundedMap } from "./bounded_map.ts";

interface Flight<T> {
  readonly answer: Promise<T>;
  readonly abandoned: AbortController;
  waiting: number;
}

/** Deduplicates concurrent calls: callers of the same key share one result or failure. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  constructor(readonly closing?: AbortSignal) {
    closing?.addEventListener("abort", () => {
      for (const { abandoned } of this.#flights.values()) abandoned.abort(closing.reason);
    });
  }

  /** @param ask Its signal aborts on `closing`, or when all callers gave up. @throws Its error; the signal's reason. */
  async join(question: string, ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const flight = this.#flights.get(question) ?? this.#start(question, ask);
    flight.waiting++;
    try {
      return await unlessAborted(flight.answer, signal);
    } finally {
      flight.waiting--;
      if (flight.waiting === 0 && this.#flights.get(question) === flight) {
        this.#flights.delete(question);
        flight.abandoned.abort(new Error("nobody waits for the answer"));
      }
    }
  }

  #start(question: string, ask: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const abandoned = new AbortController();
    if (this.closing?.aborted) abandoned.abort(this.closing.reason);
    const flight: Flight<T> = { abandoned, waiting: 0, answer: ask(abandoned.signal) };
    this.#flights.set(question, flight);
    const end = () => {
      if (this.#flights.get(question) === flight) this.#flights.delete(question);
    };
    flight.answer.then(end, end);
    return flight;
  }
}

/** Short-lived cache that merges concurrent lookups; failures are not cached. */
export class AnswerCache<T> {
  readonly #answers: BoundedMap<string, { readonly answer: T; readonly until: number }>;
  readonly #asked = new SingleFlight<T>();

  /** @param options.lifetimeMs 0: no caching. @param options.size Entries; evicts the least recently used. */
  constructor(
    readonly options: {
      readonly lifetimeMs: number;
      readonly size: number;
      readonly elapsed?: Stopwatch;
    },
  ) {
    this.#answers = new BoundedMap(options.size);
  }

  /** @param ask Its signal aborts when all callers gave up. @throws What `ask` throws; the signal's reason. */
  async get(question: string, ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const { lifetimeMs, elapsed = stopwatch } = this.options;
    const kept = this.#answers.get(question);
    if (kept !== undefined && elapsed() < kept.until) return kept.answer;
    return await this.#asked.join(question, async (signal) => {
      const answer = await ask(signal);
      if (lifetimeMs > 0) this.#answers.set(question, { answer, until: elapsed() + lifetimeMs });
      return answer;
    }, signal);
  }
}
