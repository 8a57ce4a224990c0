import type { Logger } from "../logging/logger.ts";
import { realTime, type Schedule } from "../model/schedule.ts";
import { isHttpError } from "../model/http_error.ts";
import { DatabaseAway } from "./database.ts";

/** What is looked at, and how often. */
interface FollowingParts {
  readonly look: () => Promise<void>;
  /** From the end of one look to the next, in milliseconds. */
  readonly everyMs: number;
  /** What the log says of a look that failed for another reason than that the database is away, which others tell. */
  readonly trouble: string;
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/** Looks again and again into what instances share; a look that fails ends nothing. */
export class Following {
  #cancel: (() => void) | undefined;
  #closed = false;
  #current: Promise<void> = Promise.resolve();
  /** What the log says already, so that it says it once. */
  #reported: string | undefined;

  constructor(readonly parts: FollowingParts) {}

  /** Looks now, and from now on. Resolves after the first look, whatever became of it. */
  begin(): Promise<void> {
    return this.#current = this.#lookAndPlan();
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }

  /** Looks no more; resolves after the look that is under way. */
  async end(): Promise<void> {
    this.close();
    await this.#current;
  }

  async #lookAndPlan(): Promise<void> {
    const { look, everyMs, trouble, log, schedule = realTime } = this.parts;
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
    if (!this.#closed) this.#cancel = schedule(everyMs, () => void this.begin());
  }
}

/** Whether nothing went wrong but that the database is away, which its state tells. */
function isAway(error: unknown): boolean {
  return error instanceof DatabaseAway ||
    (isHttpError(error, "ERR_RECORD_STORE") && error.cause instanceof DatabaseAway);
}
