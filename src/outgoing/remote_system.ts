import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { OutgoingHttp, OutgoingRequest, OutgoingResponse } from "./outgoing_http.ts";
import { RemoteUnavailable } from "./remote_unavailable.ts";

/** What real outcomes say about another system; for status pages and the operator. */
export interface RemoteStatus {
  /** `host:port`. */
  readonly remote: string;
  readonly up: boolean;
  /** Why it is down. */
  readonly reason?: string;
  /** When the state was last confirmed, in milliseconds since the epoch; absent before the first outcome. */
  readonly since?: number;
}

export interface RemoteSystemOptions {
  /** Address of the system; only its host and port are used here. */
  readonly address: string;
  readonly http: OutgoingHttp;
  readonly clock: Clock;
  readonly log: Logger;
  /** How long a system that failed is left alone; default 60,000 ms. */
  readonly pauseMs?: number;
  /** Requests under way at the same time; more are turned away. Default 64. */
  readonly maxUnderWay?: number;
}

/**
 * One other system and whether it is up (authentication.md 5.5). A failed connection, a time-out or a status from 500
 * marks it down; it is then left alone for a minute, after which one request may find out. A status below 500 never
 * counts as down, and neither does a caller who gives up.
 */
export class RemoteSystem {
  readonly #remote: string;
  readonly #options: RemoteSystemOptions;
  readonly #pauseMs: number;
  #downReason: string | undefined;
  #since: number | undefined;
  #underWay = 0;
  #trial = false;

  constructor(options: RemoteSystemOptions) {
    this.#remote = URL.parse(options.address)?.host ?? "(unreadable address)";
    this.#options = options;
    this.#pauseMs = options.pauseMs ?? 60_000;
  }

  status(): RemoteStatus {
    const up = this.#downReason === undefined;
    return {
      remote: this.#remote,
      up,
      ...(this.#downReason === undefined ? {} : { reason: this.#downReason }),
      ...(this.#since === undefined ? {} : { since: this.#since }),
    };
  }

  /**
   * Sends a request if the system is up, or due for another try.
   * @param isAnswer Whether a status from 500 is an answer nevertheless, as a SOAP fault is.
   * @throws {RemoteUnavailable}
   */
  async send(
    request: OutgoingRequest,
    signal: AbortSignal,
    isAnswer: (response: OutgoingResponse) => boolean = () => false,
  ): Promise<OutgoingResponse> {
    this.#admit();
    const trial = this.#downReason !== undefined;
    if (trial) this.#trial = true;
    this.#underWay++;
    try {
      const response = await this.#options.http.send(request, signal);
      if (response.status >= 500 && !isAnswer(response)) {
        throw new RemoteUnavailable(this.#remote, `answered with status ${response.status}`);
      }
      this.#markUp();
      return response;
    } catch (error) {
      if (error instanceof RemoteUnavailable && !signal.aborted) this.#markDown(error);
      throw error;
    } finally {
      this.#underWay--;
      if (trial) this.#trial = false;
    }
  }

  #admit(): void {
    if (this.#downReason !== undefined && this.#since !== undefined) {
      const remaining = this.#since + this.#pauseMs - this.#options.clock();
      if (remaining > 0 || this.#trial) {
        throw new RemoteUnavailable(this.#remote, `left alone after: ${this.#downReason}`, {
          retryAfterSeconds: remaining > 0 ? remaining / 1000 : 10,
        });
      }
    }
    if (this.#underWay >= (this.#options.maxUnderWay ?? 64)) {
      throw new RemoteUnavailable(this.#remote, "too many requests are under way");
    }
  }

  #markUp(): void {
    if (this.#downReason !== undefined) {
      this.#options.log.info("remote system is up again", { remote: this.#remote });
    }
    this.#downReason = undefined;
    this.#since = this.#options.clock();
  }

  #markDown(error: RemoteUnavailable): void {
    this.#options.log.warn("remote system is down", { remote: this.#remote, error });
    this.#downReason = error.reason;
    this.#since = this.#options.clock();
  }
}
