import { hash } from "node:crypto";
import { BoundedMap } from "./bounded_map.ts";
import { type Clock, type Stopwatch, stopwatch } from "./clock.ts";
import { SingleFlight } from "./single_flight.ts";

/** Result of a lookup with its lifetime; 0: not cached. */
export interface Answer<T> {
  readonly value: T;
  readonly good: boolean; // good and bad results are cached apart, so that guesses evict no real user
  readonly lifetimeMs: number; // milliseconds from now
  readonly endsAt?: number; // expiry of the credential itself, in milliseconds since the epoch
}

interface AnswerCacheOptions {
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
  readonly capacity?: number; // limit of good entries, and of bad ones. Default: 1,000.
}

interface Kept<T> {
  readonly answer: Answer<T>;
  readonly staleAt: number; // by the stopwatch
}

/** Caches answers by the keyed hash of questions, which may be secret; merges concurrent lookups, drops failed ones. */
export class AnswerCache<T> {
  readonly #secret = crypto.getRandomValues(new Uint8Array(32)).toHex();
  readonly #good: BoundedMap<string, Kept<T>>;
  readonly #bad: BoundedMap<string, Kept<T>>;
  readonly #closing = new AbortController();
  readonly #underWay = new SingleFlight<Answer<T>>(this.#closing.signal);
  readonly #clock: Clock;
  readonly #elapsed: Stopwatch;

  constructor({ clock, elapsed = stopwatch, capacity = 1000 }: AnswerCacheOptions) {
    this.#clock = clock;
    this.#elapsed = elapsed;
    this.#good = new BoundedMap(capacity);
    this.#bad = new BoundedMap(capacity);
  }

  /** @param ask Aborted on {@link close} or when all callers gave up; its key is a hash of the question. */
  async get(
    question: readonly string[],
    ask: (signal: AbortSignal, key: string) => Promise<Answer<T>>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    const key = hash("sha256", this.#secret + JSON.stringify(question), "base64");
    const known = this.#recall(this.#good, key) ?? this.#recall(this.#bad, key);
    if (known !== undefined) return known.value;
    const answer = await this.#underWay.join(
      key,
      async (abandoned) => this.#remember(key, await ask(abandoned, key)),
      signal,
    );
    return answer.value;
  }

  close(): void {
    this.#closing.abort(new Error("the method is closing"));
    this.#good.clear();
    this.#bad.clear();
  }

  #recall(from: BoundedMap<string, Kept<T>>, key: string): Answer<T> | undefined {
    const kept = from.get(key);
    if (kept === undefined || this.#isUsable(kept)) return kept?.answer;
    from.delete(key);
    return undefined;
  }

  #isUsable({ answer, staleAt }: Kept<T>): boolean {
    return this.#elapsed() < staleAt && this.#clock() < (answer.endsAt ?? Infinity);
  }

  #remember(key: string, answer: Answer<T>): Answer<T> {
    const kept = { answer, staleAt: this.#elapsed() + answer.lifetimeMs };
    if (this.#closing.signal.aborted || !this.#isUsable(kept)) return answer;
    (answer.good ? this.#good : this.#bad).set(key, kept);
    return answer;
  }
}
