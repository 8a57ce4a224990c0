import type { Logger } from "../logging/logger.ts";
import { coalescedTimeout, type Schedule } from "../model/clock.ts";
import { isHttpError } from "../model/http_error.ts";
import { DatabaseUnavailable } from "./database.ts";

interface PollerParts {
  readonly poll: () => Promise<void>;
  readonly intervalMs: number; // pause between polls, in milliseconds
  readonly failureMessage: string; // log message of a failed poll, except while the database is down
  readonly log: Logger;
  readonly schedule?: Schedule;
  /** Registers a listener with the polled store, which calls it after changes: the next poll then comes soon. */
  readonly onChange?: ((listener: () => void) => void) | undefined;
}

/** Longest pause after a change, in milliseconds. Changes in quick succession share a poll. */
const SOON_MS = 250;

/** Poller of state that instances share; continues after a failed poll. */
export class Poller {
  readonly #parts: PollerParts;
  #cancel: (() => void) | undefined;
  #closed = false;
  #changed = false; // since the last poll began
  #current: Promise<void> = Promise.resolve();
  #reported: string | undefined; // last reported failure, logged once

  constructor(parts: PollerParts) {
    this.#parts = parts;
    parts.onChange?.(() => {
      if (this.#changed) return;
      this.#changed = true;
      if (this.#cancel !== undefined) this.#schedule();
    });
  }

  /** Starts polling. Resolves after the first poll, even if it fails. */
  start(): Promise<void> {
    return this.#current = this.#pollAndSchedule();
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  async end(): Promise<void> {
    this.close();
    await this.#current;
  }

  async #pollAndSchedule(): Promise<void> {
    const { poll, failureMessage, log } = this.#parts;
    this.#cancel = undefined;
    this.#changed = false;
    try {
      await poll();
      this.#reported = undefined;
    } catch (error) {
      const reason = String(error);
      const cause = isHttpError(error, "ERR_RECORD_STORE") ? error.cause : error;
      // The state of the database reports that it is down.
      if (!(cause instanceof DatabaseUnavailable) && reason !== this.#reported) {
        this.#reported = reason;
        log.error(failureMessage, { error });
      }
    }
    this.#schedule();
  }

  #schedule(): void {
    const { intervalMs, schedule = coalescedTimeout } = this.#parts;
    this.#cancel?.();
    if (this.#closed) return;
    const pause = this.#changed ? Math.min(SOON_MS, intervalMs) : intervalMs;
    this.#cancel = schedule(pause, () => void this.start());
  }
}
