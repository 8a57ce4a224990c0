import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import { unlessAborted } from "../model/unless_aborted.ts";

/** An answer about credentials, and until when it may be used, in milliseconds since the epoch. */
export interface Answer<T> {
  readonly value: T;
  /** Good answers are kept apart from bad ones, so that guesses push no real user out. */
  readonly good: boolean;
  readonly usableUntil: number;
}

export interface CredentialCacheOptions {
  readonly clock: Clock;
  /** Most answers kept of each sort; default 1,000. */
  readonly capacity?: number;
}

/**
 * Remembers for a short while what another system said about credentials. Credentials themselves are not kept: the key
 * is a keyed hash with a key that this cache alone knows. Asked for the same credentials by several at once, it asks
 * the other system once. Failures to get an answer are not remembered.
 */
export class CredentialCache<T> {
  readonly #hashKey = randomBytes(32);
  readonly #good = new Map<string, Answer<T>>();
  readonly #bad = new Map<string, Answer<T>>();
  readonly #underWay = new Map<string, Promise<Answer<T>>>();
  readonly #closing = new AbortController();
  readonly #clock: Clock;
  readonly #capacity: number;

  constructor({ clock, capacity = 1000 }: CredentialCacheOptions) {
    this.#clock = clock;
    this.#capacity = capacity;
  }

  /**
   * @param credential Its parts, such as user name and password.
   * @param ask Gets the answer from the other system. Its signal is the cache's own: it fires on {@link close}, not
   *   when one of those who wait gives up.
   * @throws What `ask` throws, or the reason of the signal.
   */
  async get(
    credential: readonly string[],
    ask: (signal: AbortSignal) => Promise<Answer<T>>,
    signal: AbortSignal,
  ): Promise<T> {
    signal.throwIfAborted();
    const key = createHmac("sha256", this.#hashKey).update(JSON.stringify(credential)).digest("base64");
    const known = this.#recall(this.#good, key) ?? this.#recall(this.#bad, key);
    if (known !== undefined) return known.value;
    let answer = this.#underWay.get(key);
    if (answer === undefined) {
      answer = ask(this.#closing.signal).then((answer) => this.#remember(key, answer));
      this.#underWay.set(key, answer);
      answer.catch(() => {}).finally(() => this.#underWay.delete(key));
    }
    return (await unlessAborted(answer, signal)).value;
  }

  close(): void {
    this.#closing.abort(new Error("the method is closing"));
    this.#good.clear();
    this.#bad.clear();
  }

  #recall(from: Map<string, Answer<T>>, key: string): Answer<T> | undefined {
    const answer = from.get(key);
    if (answer === undefined) return undefined;
    from.delete(key);
    if (answer.usableUntil <= this.#clock()) return undefined;
    from.set(key, answer); // now the youngest
    return answer;
  }

  #remember(key: string, answer: Answer<T>): Answer<T> {
    if (this.#closing.signal.aborted || answer.usableUntil <= this.#clock()) return answer;
    const to = answer.good ? this.#good : this.#bad;
    to.set(key, answer);
    const [oldest] = to.keys();
    if (to.size > this.#capacity && oldest !== undefined) to.delete(oldest);
    return answer;
  }
}
