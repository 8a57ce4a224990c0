import { createHmac, randomBytes } from "node:crypto";
import type { Clock } from "../model/clock.ts";
import { SingleFlight } from "../model/single_flight.ts";

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
  readonly #underWay = new SingleFlight<Answer<T>>();
  readonly #closing = new AbortController();
  readonly #clock: Clock;
  readonly #capacity: number;

  constructor({ clock, capacity = 1000 }: CredentialCacheOptions) {
    this.#clock = clock;
    this.#capacity = capacity;
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
    const key = createHmac("sha256", this.#hashKey).update(JSON.stringify(credential)).digest("base64");
    const known = this.#recall(this.#good, key) ?? this.#recall(this.#bad, key);
    if (known !== undefined) return known.value;
    const answer = await this.#underWay.join(
      key,
      async (abandoned) => {
        const either = AbortSignal.any([abandoned, this.#closing.signal]);
        return this.#remember(key, await ask(either, key));
      },
      signal,
    );
    return answer.value;
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
