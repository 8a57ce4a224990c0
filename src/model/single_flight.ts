import { unlessAborted } from "./unless_aborted.ts";

/** A question that is being asked. */
interface Flight<T> {
  readonly answer: Promise<T>;
  readonly abandoned: AbortController;
  /** Those who want the answer. */
  waiting: number;
}

/** Of questions asked by several at the same time only one goes out; all get its answer, or its failure. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();
  readonly #closing: AbortSignal | undefined;

  /** @param closing Ends all that is under way, and whatever is asked later, for its reason. */
  constructor(closing?: AbortSignal) {
    this.#closing = closing;
    closing?.addEventListener("abort", () => {
      for (const { abandoned } of this.#flights.values()) abandoned.abort(closing.reason);
    });
  }

  /**
   * @param ask Asks. Its signal is aborted when nobody waits any more, and by `closing`; one who gives up takes nothing from the others.
   * @throws What `ask` throws; the signal's reason.
   */
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
    if (this.#closing?.aborted) abandoned.abort(this.#closing.reason);
    const flight: Flight<T> = { abandoned, waiting: 0, answer: ask(abandoned.signal) };
    this.#flights.set(question, flight);
    const end = () => {
      if (this.#flights.get(question) === flight) this.#flights.delete(question);
    };
    flight.answer.then(end, end);
    return flight;
  }
}
