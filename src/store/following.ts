import type { Logger } from "../logging/logger.ts";
import { realTime, type Schedule } from "../model/clock.ts";
import { isHttpError } from "../model/http_error.ts";
import { DatabaseAway } from "./database.ts";

interface FollowingParts {
  readonly look: () => Promise<void>;
  readonly everyMs: number; // pause between polls, in milliseconds
  readonly trouble: string; // log message of a failed poll, except while the database is down
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/** Poller of what instances share; a failed poll ends nothing. */
export class Following {
  readonly #poll: FollowingParts;
  #cancel: (() => void) | undefined;
  #closed = false;
  #current: Promise<void> = Promise.resolve();
  #reported: string | undefined; // last reported failure, logged once

  constructor(poll: FollowingParts) {
    this.#poll = poll;
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
    const { look, everyMs, trouble, log, schedule = realTime } = this.#poll;
    try {
      await look();
      this.#reported = undefined;
    } catch (error) {
      const reason = String(error);
      if (!isAway(error) && reason !== this.#reported) {
        this.#reported = reason;
        log.error(trouble, { error });
      }
    }
    if (!this.#closed) this.#cancel = schedule(everyMs, () => void this.follow());
  }
}

/** Reports whether the database is down, which its state reports. */
function isAway(error: unknown): boolean {
  return error instanceof DatabaseAway ||
    (isHttpError(error, "ERR_RECORD_STORE") && error.cause instanceof DatabaseAway);
}
