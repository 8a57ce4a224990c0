import type { Logger } from "../logging/logger.ts";
import { CircuitBreaker } from "../model/circuit_breaker.ts";
import { type Clock, type Stopwatch, stopwatch } from "../model/clock.ts";
import { FairSemaphore, NoPermit, type SemaphoreWaiter } from "../model/fair_semaphore.ts";
import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "./outgoing_http.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";
import { retryAfterSeconds } from "./retry_after.ts";

/** What real outcomes say about another system; for status pages and the operator. */
export interface RemoteStatus {
  /** `host:port`. */
  readonly remote: string;
  readonly up: boolean;
  /** Reason why the system is down. */
  readonly reason?: string;
  /** When the state was last confirmed, in milliseconds since the epoch; absent before the first outcome. */
  readonly since?: number;
}

/** What another system is reached with. */
interface RemoteSystemOptions {
  /** Address of the system; only its host and port are used here. */
  readonly address: string;
  readonly http: OutgoingHttp;
  /** For what is shown. */
  readonly clock: Clock;
  /** For pauses. */
  readonly elapsed?: Stopwatch;
  readonly log: Logger;
}

/** On whose behalf the system is asked. */
export interface Asker extends SemaphoreWaiter {
  /** What the question is about; the same for the same credential, and nothing that gives it away. */
  readonly credential: string;
  /** Group of addresses that the caller is in. */
  readonly address: string;
}

/** Requests under way where the client does not say how many connections there are. */
const AT_ONCE = 6;
/** Those that wait: of strangers and of known users each, and of one queue key. */
const WAITING = 512;
/** A course behind one address, all of whom log in at once, is served. */
const WAITING_PER_KEY = 256;
/** How long one waits for a turn, in milliseconds. */
const MAX_WAIT_MS = 5_000;

/** So many credentials, from so many addresses, have to fail one after the other before the system counts as down. */
const CREDENTIALS = 3;
const ADDRESSES = 2;
/** Failures that are remembered, and addresses that may try whether they alone do better while it is down. */
const REMEMBERED = 64;

/** Milliseconds until the first trial; each that fails doubles the pause, up to the longest. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

interface Down {
  readonly reason: string;
  /** Whether connections are made, so that it may be what was asked that fails. */
  readonly connects: boolean;
}

/**
 * One other system and whether it is up (authentication.md 5.5).
 *
 * Where there is a connection, an answer that cannot be used concerns the credential that caused it: whoever finds a token
 * at which a provider stumbles must not keep its users out. So the system counts as down when no connection can be made,
 * or when three different credentials from two addresses have failed with no success in between. It is then left alone for
 * a second, and the next request tries it again; each trial that fails doubles the pause, up to half a minute. Where
 * connections are made, addresses that have not failed need not wait for that: one of them may do better.
 *
 * A system that answers 429 with `Retry-After` is left alone for so long, by everybody.
 *
 * A caller who gives up says nothing about the system. Those who wait for a connection do so in queues.
 */
export class RemoteSystem {
  readonly #remote: string;
  readonly #options: RemoteSystemOptions;
  readonly #breaker: CircuitBreaker;
  readonly #semaphore: FairSemaphore;
  /** Since the last success: credential -> address. */
  readonly #failures = new Map<string, string>();
  #down: Down | undefined;
  #since: number | undefined;

  constructor(options: RemoteSystemOptions) {
    this.#remote = URL.parse(options.address)?.host ?? "(unreadable address)";
    this.#options = options;
    this.#breaker = new CircuitBreaker({
      elapsed: options.elapsed ?? stopwatch,
      firstPauseMs: FIRST_PAUSE_MS,
      longestPauseMs: LONGEST_PAUSE_MS,
    });
    const atOnce = options.http.connectionsPerHost ?? AT_ONCE;
    const atOncePerKey = Math.ceil(atOnce / 2);
    // Or a few strangers, with tokens over which the provider thinks for long, would keep its users out.
    const forKnown = Math.floor(atOnce / 3);
    this.#semaphore = new FairSemaphore({
      atOnce,
      forKnown,
      atOncePerKey,
      waiting: WAITING,
      perKey: WAITING_PER_KEY,
      maxWaitMs: MAX_WAIT_MS,
    });
  }

  status(): RemoteStatus {
    return {
      remote: this.#remote,
      up: this.#down === undefined,
      reason: this.#down?.reason,
      since: this.#since,
    };
  }

  /**
   * Sends a request, if the system is up or due for another try, when there is a connection for it.
   * @param read Makes something of the answer, whatever its status; throws what {@link unusable} gives if it cannot.
   * @throws {RemoteUnavailable} What `read` throws; the signal's reason.
   */
  async ask<T>(
    request: OutgoingRequest,
    asker: Asker,
    read: (response: OutgoingResponse) => T | Promise<T>,
  ): Promise<T> {
    this.#admit(asker);
    try {
      return await this.#semaphore.run(() => this.#exchange(request, asker, read), asker);
    } catch (error) {
      if (error instanceof NoPermit) {
        throw new RemoteUnavailable(this.#remote, error.message, { cause: error });
      }
      throw error;
    }
  }

  /** An answer came that says nothing. */
  unusable(reason: string, cause?: unknown): RemoteUnavailable {
    return new RemoteUnavailable(this.#remote, reason, { cause, connected: true });
  }

  async #exchange<T>(
    request: OutgoingRequest,
    asker: Asker,
    read: (response: OutgoingResponse) => T | Promise<T>,
  ): Promise<T> {
    const trial = this.#admit(asker) === "trial";
    const end = trial ? this.#breaker.begin() : undefined;
    try {
      const response = await this.#options.http.send(request, asker.signal);
      this.#checkPace(response);
      const result = await read(response);
      this.#succeeded();
      return result;
    } catch (error) {
      if (error instanceof RemoteUnavailable && !asker.signal.aborted) this.#failed(error, asker, trial);
      throw error;
    } finally {
      end?.();
    }
  }

  /** @throws {RemoteUnavailable} If the system asks to be left alone for a while (RFC 6585, 4; RFC 9110, 15.6.4). */
  #checkPace(response: OutgoingResponse): void {
    const { status } = response;
    if (status !== 429 && status !== 503) return;
    const seconds = retryAfterSeconds(response, this.#options.clock());
    if (seconds === undefined) return;
    throw new RemoteUnavailable(
      this.#remote,
      `unexpected status ${status}, with the request to wait ${seconds} s`,
      { retryAfterSeconds: seconds, connected: true, throttled: status === 429 },
    );
  }

  /** @throws {RemoteUnavailable} If the system is left alone. */
  #admit({ address }: Asker): "up" | "trial" | "beside" {
    if (this.#down === undefined) return "up";
    const { reason, connects } = this.#down;
    if (this.#breaker.admits) return "trial";
    const failing = new Set(this.#failures.values());
    if (connects && !failing.has(address) && failing.size < REMEMBERED) return "beside";
    throw new RemoteUnavailable(this.#remote, `left alone after: ${reason}`, {
      retryAfterSeconds: this.#breaker.waitMs / 1000,
    });
  }

  #succeeded(): void {
    if (this.#down !== undefined) {
      this.#options.log.info("remote system is up again", { remote: this.#remote });
    }
    this.#down = undefined;
    this.#breaker.succeeded();
    this.#failures.clear();
    this.#since = this.#options.clock();
  }

  #failed(error: RemoteUnavailable, { credential, address }: Asker, trial: boolean): void {
    this.#failures.delete(credential);
    this.#failures.set(credential, address);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > REMEMBERED && oldest !== undefined) this.#failures.delete(oldest);

    const { connected, throttled, retryAfterSeconds: asked = 0 } = error;
    const isDown = !connected || throttled ||
      (this.#failures.size >= CREDENTIALS && new Set(this.#failures.values()).size >= ADDRESSES);
    if (this.#down === undefined ? !isDown : !trial && !throttled) return;
    if (this.#down === undefined) {
      this.#options.log.warn("remote system is down", { remote: this.#remote, error });
    }
    this.#breaker.failed((dueMs) => throttled ? asked * 1000 : Math.max(dueMs, asked * 1000));
    this.#down = { reason: error.reason, connects: connected && !throttled };
    this.#since = this.#options.clock();
  }
}
