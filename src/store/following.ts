import type { Logger } from "../logging/logger.ts";
import { realTime, type Schedule } from "../model/schedule.ts";
import { isHttpError } from "../model/http_error.ts";
import { DatabaseFailure } from "./database.ts";

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

  constructor(readonly parts: FollowingParts) {}

  /** Looks now, and from now on. Resolves after the first look, whatever became of it. */
  async begin(): Promise<void> {
    const { look, everyMs, trouble, log, schedule = realTime } = this.parts;
    try {
      await look();
    } catch (error) {
      if (!isAway(error)) log.error(trouble, { error });
    }
    if (!this.#closed) this.#cancel = schedule(everyMs, () => void this.begin());
  }

  close(): void {
    this.#closed = true;
    this.#cancel?.();
  }
}

/** Whether nothing went wrong but that the database is away. */
function isAway(error: unknown): boolean {
  return error instanceof DatabaseFailure || isHttpError(error, "ERR_RECORD_STORE");
}
