import { unlessAborted } from "./clock.ts";

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
