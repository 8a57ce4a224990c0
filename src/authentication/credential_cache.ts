import { hash } from "node:crypto";
import { BoundedMap } from "../model/bounded_map.ts";
import { type Clock, type Stopwatch, stopwatch } from "../model/clock.ts";
import { SingleFlight } from "../model/single_flight.ts";

/** An answer about credentials, and how long it may be used. */
export interface Answer<T> {
  readonly value: T;
  /** Good answers are kept apart from bad ones, so that guesses push no real user out. */
  readonly good: boolean;
  /** How long it may be used after it came, in milliseconds. */
  readonly lifetimeMs: number;
  /** When it ends for another reason, as a token does: a date, in milliseconds since the epoch. */
  readonly endsAt?: number;
}

/** Clocks and size of a cache. */
interface CredentialCacheOptions {
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
  /** Most answers kept of each sort; default 1,000. */
  readonly capacity?: number;
}

interface Kept<T> {
  readonly answer: Answer<T>;
  /** As the stopwatch counts. */
  readonly staleAt: number;
}

/**
 * Remembers for a short while what another system said about credentials. Credentials themselves are not kept: the key
 * is a hash of them behind a secret that this cache alone knows. Asked for the same credentials by several at once, it asks
 * the other system once. Failures to get an answer are not remembered.
 */
export class CredentialCache<T> {
  readonly #secret = crypto.getRandomValues(new Uint8Array(32)).toHex();
  readonly #good: BoundedMap<string, Kept<T>>;
  readonly #bad: BoundedMap<string, Kept<T>>;
  readonly #closing = new AbortController();
  readonly #underWay = new SingleFlight<Answer<T>>(this.#closing.signal);
  readonly #clock: Clock;
  readonly #elapsed: Stopwatch;

  constructor({ clock, elapsed = stopwatch, capacity = 1000 }: CredentialCacheOptions) {
    this.#clock = clock;
    this.#elapsed = elapsed;
    this.#good = new BoundedMap(capacity);
    this.#bad = new BoundedMap(capacity);
  }

  /**
   * @param credential Its parts, such as user name and password.
   * @param ask Gets the answer from the other system. Its signal fires on {@link close}, and when nobody waits any more;
   *   its key stands for the credential, and gives nothing of it away.
   * @throws What `ask` throws, or the reason of the signal.
   */
  async get(
    credential: readonly string[],
    ask: (signal: AbortSignal, key: string) => Promise<Answer<T>>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    const key = hash("sha256", this.#secret + JSON.stringify(credential), "base64");
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
