import { onError } from "../model/attempt.ts";
import type { Logger } from "../logging/logger.ts";
import { CircuitBreaker } from "../model/circuit_breaker.ts";
import { type Clock, type Stopwatch, stopwatch } from "../model/clock.ts";
import { FairSemaphore, NoPermit, type SemaphoreWaiter } from "../model/fair_semaphore.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";

/** Status of another system, from real requests. */
export interface RemoteStatus {
  readonly remote: string;
  readonly up: boolean;
  readonly reason?: string;
  readonly since?: number; // last confirmation in milliseconds since the epoch
}

export interface RemoteSystemOptions {
  readonly address: string; // only host and port are used
  readonly maxConcurrent?: number | undefined; // concurrent requests
  readonly clock: Clock;
  readonly elapsed?: Stopwatch;
  readonly log: Logger;
}

/** Caller on whose behalf a request is sent. */
export interface Requester extends SemaphoreWaiter {
  readonly credential: string; // opaque key of the credential
  readonly address: string; // caller's address group
}

const MAX_CONCURRENT = 6;
const WAITING = 512; // waiting requests of unknown clients and of known users
const WAITING_PER_KEY = 256; // enough for a course behind one address
const MAX_WAIT_MS = 5_000;

const CREDENTIALS = 3; // failed credentials before the system counts as down
const ADDRESSES = 2; // addresses from which they come
const REMEMBERED = 64; // remembered failures, and addresses that may try during an outage
const FIRST_PAUSE_MS = 1_000; // first pause in milliseconds; doubles up to the longest
const MAX_PAUSE_MS = 30_000;

/**
 * Health of another system (credentials.md 5.5). After a connection, an unusable response counts only
 * against its credential, so that a token that crashes a provider locks nobody out. The system is down when
 * connections fail, or when three credentials from two addresses failed in a row. Then a trial follows after
 * a second, with doubling pauses up to half a minute; if connections work, other addresses may try meanwhile.
 * Callers wait for connections in queues; an abort says nothing about the system.
 */
export class RemoteSystem {
  readonly remote: string; // host and port
  readonly #breaker: CircuitBreaker;
  readonly #semaphore: FairSemaphore;
  readonly #failures = new Map<string, string>(); // address by credential, since the last success
  /** With `connects`, connections work, so that the request may be at fault. */
  #down: { readonly reason: string; readonly connects: boolean } | undefined;
  #since: number | undefined;

  constructor(readonly options: RemoteSystemOptions) {
    this.remote = URL.parse(options.address)?.host ?? "(unreadable address)";
    this.#breaker = new CircuitBreaker({
      elapsed: options.elapsed ?? stopwatch,
      firstPauseMs: FIRST_PAUSE_MS,
      maxPauseMs: MAX_PAUSE_MS,
    });
    const { maxConcurrent = MAX_CONCURRENT } = options;
    const maxConcurrentPerKey = Math.ceil(maxConcurrent / 2);
    // Reserved, so that unknown clients with slow tokens cannot block known users.
    const reservedForKnown = Math.floor(maxConcurrent / 3);
    this.#semaphore = new FairSemaphore({
      maxConcurrent,
      reservedForKnown,
      maxConcurrentPerKey,
      waiting: WAITING,
      perKey: WAITING_PER_KEY,
      maxWaitMs: MAX_WAIT_MS,
    });
  }

  status(): RemoteStatus {
    return {
      remote: this.remote,
      up: this.#down === undefined,
      reason: this.#down?.reason,
      since: this.#since,
    };
  }

  /**
   * Runs an exchange with the system if it is up or due for a trial.
   * @param exchange Obeys the caller's signal; throws {@link RemoteUnavailable} without a usable response.
   * @throws {RemoteUnavailable}
   */
  async run<T>(caller: Requester, exchange: () => Promise<T>): Promise<T> {
    this.#admit(caller);
    const run = this.#semaphore.run(() => this.#attempt(caller, exchange), caller);
    return await run.catch(onError(NoPermit, (cause) => {
      throw new RemoteUnavailable(this.remote, cause.message, { cause });
    }));
  }

  unusable(reason: string, cause?: unknown): RemoteUnavailable {
    return new RemoteUnavailable(this.remote, reason, { cause, connected: true });
  }

  async #attempt<T>(caller: Requester, exchange: () => Promise<T>): Promise<T> {
    const trial = this.#admit(caller) === "trial";
    const end = trial ? this.#breaker.begin() : undefined;
    try {
      const result = await exchange();
      this.#succeeded();
      return result;
    } catch (error) {
      if (error instanceof RemoteUnavailable && !caller.signal.aborted) this.#failed(error, caller, trial);
      throw error;
    } finally {
      end?.();
    }
  }

  /** @throws {RemoteUnavailable} During a pause. */
  #admit({ address }: Requester): "up" | "trial" | "beside" {
    if (this.#down === undefined) return "up";
    const { reason, connects } = this.#down;
    if (this.#breaker.admits) return "trial";
    const failing = new Set(this.#failures.values());
    if (connects && !failing.has(address) && failing.size < REMEMBERED) return "beside";
    throw new RemoteUnavailable(this.remote, `left alone after: ${reason}`, {
      retryAfterSeconds: this.#breaker.waitMs / 1000,
    });
  }

  #succeeded(): void {
    if (this.#down !== undefined) this.options.log.info("remote system is up again", { remote: this.remote });
    this.#down = undefined;
    this.#breaker.succeeded();
    this.#failures.clear();
    this.#since = this.options.clock();
  }

  #failed(error: RemoteUnavailable, { credential, address }: Requester, trial: boolean): void {
    this.#failures.delete(credential);
    this.#failures.set(credential, address);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > REMEMBERED && oldest !== undefined) this.#failures.delete(oldest);

    const { connected, throttled, retryAfterSeconds: asked = 0 } = error;
    const isDown = !connected || throttled ||
      (this.#failures.size >= CREDENTIALS && new Set(this.#failures.values()).size >= ADDRESSES);
    if (this.#down === undefined ? !isDown : !trial && !throttled) return;
    if (this.#down === undefined) {
      this.options.log.warn("remote system is down", { remote: this.remote, error });
    }
    this.#breaker.failed((dueMs) => throttled ? asked * 1000 : Math.max(dueMs, asked * 1000));
    this.#down = { reason: error.reason, connects: connected && !throttled };
    this.#since = this.options.clock();
  }
}
