import type { Logger } from "../logging/logger.ts";
import { coalescedTimeout, type Schedule } from "../model/clock.ts";
import { isHttpError } from "../model/http_error.ts";
import { DatabaseAway } from "./database.ts";

interface FollowingParts {
  readonly look: () => Promise<void>;
  readonly everyMs: number; // pause between polls, in milliseconds
  readonly trouble: string; // log message of a failed poll, except while the database is down
  readonly log: Logger;
  readonly schedule?: Schedule;
  /** Registers a listener with the polled store, which calls it after changes: the next poll then comes soon. */
  readonly onChange?: ((listener: () => void) => void) | undefined;
}

/** Longest pause after a change, in milliseconds. Changes in quick succession share a poll. */
const SOON_MS = 250;

/** Poller of state that instances share; continues after a failed poll. */
export class Following {
  readonly #poll: FollowingParts;
  #cancel: (() => void) | undefined;
  #closed = false;
  #changed = false; // since the last poll began
  #current: Promise<void> = Promise.resolve();
  #reported: string | undefined; // last reported failure, logged once

  constructor(poll: FollowingParts) {
    this.#poll = poll;
    poll.onChange?.(() => {
      if (this.#changed) return;
      this.#changed = true;
      if (this.#cancel !== undefined) this.#plan();
    });
  }

  /** Starts polling. Resolves after the first poll, even if it fails. */
  follow(): Promise<void> {
    return this.#current = this.#lookAndPlan();
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  async end(): Promise<void> {
    this.close();
    await this.#current;
  }

  async #lookAndPlan(): Promise<void> {
    const { look, trouble, log } = this.#poll;
    this.#cancel = undefined;
    this.#changed = false;
    try {
      await look();
      this.#reported = undefined;
    } catch (error) {
      const reason = String(error);
      const cause = isHttpError(error, "ERR_RECORD_STORE") ? error.cause : error;
      // The state of the database reports that it is down.
      if (!(cause instanceof DatabaseAway) && reason !== this.#reported) {
        this.#reported = reason;
        log.error(trouble, { error });
      }
    }
    this.#plan();
  }

  #plan(): void {
    const { everyMs, schedule = coalescedTimeout } = this.#poll;
    this.#cancel?.();
    if (this.#closed) return;
    this.#cancel = schedule(this.#changed ? Math.min(SOON_MS, everyMs) : everyMs, () => void this.follow());
  }
}
