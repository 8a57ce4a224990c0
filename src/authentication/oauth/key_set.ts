import { KeyObject } from "node:crypto";
import { createLocalJWKSet, errors, type LocalJWKSet } from "jose";
import type { Logger } from "../../logging/logger.ts";
import { onError } from "../../model/attempt.ts";
import { BoundedMap } from "../../model/bounded_map.ts";
import { type Schedule, type Stopwatch, unlessAborted } from "../../model/clock.ts";
import { SingleFlight } from "../../model/single_flight.ts";
import { RemoteUnavailable } from "../../outgoing/remote_unavailable.ts";
import { InvalidToken } from "../signed_token.ts";
import type { Provider } from "./provider.ts";

const KEPT_MS = 24 * 60 * 60_000; // validity of keys during an outage, in milliseconds
const REFRESH_MS = 10 * 60_000; // refresh interval, after which withdrawn keys stop being valid
const RETRY_MS = 30_000; // refresh interval after a failure
const BURST = 3; // fetches for unknown keys without a pause; later pauses double
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
const QUIET_MS = 60_000; // time after which the pauses are reset
const MOST_UNKNOWN = 1_000;
const WARM_UP_MS = 5_000; // longest delay of a start

interface KeyHeader {
  readonly alg: string;
  readonly kid: string | undefined;
}

interface CachedKeys {
  readonly set: LocalJWKSet;
  readonly found: Map<string, readonly KeyObject[]>; // keys by algorithm and name
  readonly body: string;
  readonly since: number; // by the stopwatch
}

const CALLER = { queueKey: "keys", known: true, credential: "keys", address: "keys" };

/**
 * Public keys of an issuer, fetched every ten minutes and kept for a day during outages. An unknown key
 * triggers a rate-limited fetch; its token is refused if a later fetch lacks the key.
 */
export class KeySet {
  version = 0; // increases with each different set, which may lack the key of an already verified token
  readonly #fetching = new SingleFlight<void>();
  readonly #closing = new AbortController();
  #cached: CachedKeys | undefined;
  #begun = 0; // started fetches
  #answered = 0; // last successful fetch
  /** Value of `#begun` when a token first named an unknown key. */
  readonly #unknown = new BoundedMap<string, number>(MOST_UNKNOWN);
  #caused = 0; // fetches for unknown keys since the last quiet period, and the earliest time of the next
  #nextAt = -Infinity;
  #cancelNext: () => void = () => {};

  constructor(
    readonly parts: {
      readonly provider: Provider;
      readonly elapsed: Stopwatch;
      readonly schedule: Schedule;
      readonly log: Logger;
    },
  ) {}

  async warmUp(): Promise<void> {
    await unlessAborted(this.#fetch(), AbortSignal.timeout(WARM_UP_MS)).catch((error) =>
      this.parts.log.warn("issuer keys not yet available: its tokens are refused for now", { error })
    );
  }

  /** Returns the keys of this name, or all for the algorithm. @throws {InvalidToken | RemoteUnavailable} */
  async matching(header: KeyHeader, signal: AbortSignal): Promise<readonly KeyObject[]> {
    let found = await this.#matchingNow(header);
    if (found.length > 0) return found;
    const key = JSON.stringify([header.alg, header.kid]);
    const since = this.#unknown.get(key) ?? this.#begun;
    this.#unknown.set(key, since);
    // A previously unknown key may exist by now.
    let again = this.#answered > since && this.#pauseMs() <= 0;
    while (found.length === 0 && (again || this.#answered <= since)) {
      again = false;
      await unlessAborted(this.#fetch(() => this.#admitUnknown()), signal);
      found = await this.#matchingNow(header);
    }
    if (found.length === 0) throw new InvalidToken("signed by a key that the issuer does not have");
    return found;
  }

  close(): void {
    this.#cancelNext();
    this.#closing.abort(new Error("the method is closing"));
  }

  /** Milliseconds until an unknown key may trigger a fetch. */
  #pauseMs(): number {
    return this.#nextAt - this.parts.elapsed();
  }

  #admitUnknown(): void {
    const pauseMs = this.#pauseMs();
    if (pauseMs > 0) {
      const { remote } = this.parts.provider.status();
      const options = { retryAfterSeconds: pauseMs / 1000 };
      throw new RemoteUnavailable(remote, "unknown keys were named too often", options);
    }
    if (pauseMs <= -QUIET_MS) this.#caused = 0;
    const doubled = FIRST_PAUSE_MS * 2 ** (++this.#caused - BURST);
    this.#nextAt = this.parts.elapsed() + (this.#caused < BURST ? 0 : Math.min(doubled, LONGEST_PAUSE_MS));
  }

  async #matchingNow(
    header: KeyHeader,
  ): Promise<readonly KeyObject[]> {
    const cached = this.#cached;
    if (cached === undefined || this.parts.elapsed() - cached.since >= KEPT_MS) return [];
    const { alg, kid } = header;
    const question = JSON.stringify([alg, kid]);
    const known = cached.found.get(question);
    if (known !== undefined) return known;
    try {
      const found = await find(cached.set, header);
      cached.found.set(question, found);
      return found;
    } catch (error) {
      if (error instanceof errors.JOSEError) return [];
      this.parts.log.warn("a key of the issuer cannot be used", { kid, error });
      return [];
    }
  }

  /** @param admit Throws if no fetch may begin; a running one is joined. @throws {RemoteUnavailable} */
  async #fetch(admit = () => {}): Promise<void> {
    await this.#fetching.join("keys", async () => {
      admit();
      this.#cancelNext();
      const number = ++this.#begun;
      let nextMs = RETRY_MS;
      try {
        await this.#fetchNow();
        this.#answered = number;
        nextMs = REFRESH_MS;
      } finally {
        this.#planNext(nextMs);
      }
    }, this.#closing.signal);
  }

  async #fetchNow(): Promise<void> {
    const { body, keys, leftOut } = await this.parts.provider.keys({
      ...CALLER,
      signal: this.#closing.signal,
    });
    const since = this.parts.elapsed();
    if (this.#cached?.body === body) {
      this.#cached = { ...this.#cached, since };
      return;
    }
    this.#cached = { set: createLocalJWKSet(keys), found: new Map(), body, since };
    this.version++;
    const ids = keys.keys.map(({ kid = "(without name)", alg, kty }) => `${kid} ${alg ?? kty}`);
    this.parts.log.info("keys of the issuer", { keys: ids, ...(leftOut.length > 0 && { leftOut }) });
  }

  #planNext(ms: number): void {
    if (this.#closing.signal.aborted) return;
    this.#cancelNext = this.parts.schedule(ms, () => {
      this.#fetch().catch((error) => {
        if (this.#closing.signal.aborted) return;
        this.parts.log.warn("keys of the issuer not renewed, the previous ones stay in use for a day", {
          error,
        });
      });
    });
  }
}

async function find(set: LocalJWKSet, { alg, kid }: KeyHeader): Promise<readonly KeyObject[]> {
  const several = onError(errors.JWKSMultipleMatchingKeys, (error) => Array.fromAsync(error));
  const found = await set({ alg, ...(kid !== undefined && { kid }) }).then((key) => [key], several);
  return found.map((key) => KeyObject.from(key));
}
