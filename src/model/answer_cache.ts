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
  /** Whether questions consist of user and password. A guess may fail uncounted, so it drops the user's good answer. */
  readonly guessable?: true;
}

interface CacheEntry<T> {
  readonly key: string;
  readonly answer: Answer<T>;
  readonly staleAt: number; // by the stopwatch
}

/** Caches answers by the keyed hash of questions, which may be secret; merges concurrent lookups, drops failed ones. */
export class AnswerCache<T> {
  readonly #secret = crypto.getRandomValues(new Uint8Array(32)).toHex();
  readonly #good: BoundedMap<string, CacheEntry<T>>;
  readonly #bad: BoundedMap<string, CacheEntry<T>>;
  readonly #closing = new AbortController();
  readonly #flights = new SingleFlight<Answer<T>>(this.#closing.signal);
  readonly #elapsed: Stopwatch;

  constructor(readonly options: AnswerCacheOptions) {
    const { capacity = 1000, elapsed = stopwatch } = options;
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
    const keyOf = (asked: unknown) => hash("sha256", this.#secret + JSON.stringify(asked), "base64");
    const key = keyOf(question);
    const place = this.options.guessable ? keyOf(question[0]) : key;
    const known = this.#recall(this.#good, place, key) ?? this.#recall(this.#bad, key, key);
    if (known !== undefined) return known.value;
    this.#good.delete(place);
    const answer = await this.#flights.join(
      key,
      async (abandoned) => this.#remember(place, key, await ask(abandoned, key)),
      signal,
    );
    return answer.value;
  }

  close(): void {
    this.#closing.abort(new Error("the method is closing"));
    this.#good.clear();
    this.#bad.clear();
  }

  #recall(from: BoundedMap<string, CacheEntry<T>>, place: string, key: string): Answer<T> | undefined {
    const kept = from.get(place);
    return kept?.key === key && this.#isUsable(kept) ? kept.answer : undefined;
  }

  #isUsable({ answer, staleAt }: CacheEntry<T>): boolean {
    return this.#elapsed() < staleAt && this.options.clock() < (answer.endsAt ?? Infinity);
  }

  #remember(place: string, key: string, answer: Answer<T>): Answer<T> {
    const kept = { key, answer, staleAt: this.#elapsed() + answer.lifetimeMs };
    if (this.#closing.signal.aborted || !this.#isUsable(kept)) return answer;
    if (answer.good) this.#good.set(place, kept);
    else this.#bad.set(key, kept);
    return answer;
  }
}
