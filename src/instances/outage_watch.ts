import type { Stopwatch } from "../model/clock.ts";
import { realTime, type Schedule } from "../model/schedule.ts";

/** How often is looked, in milliseconds. */
const LOOK_MS = 500;

/** Knows for how long the database has been away. */
export class OutageWatch {
  #awaySince: number | undefined;
  #cancel: (() => void) | undefined;
  readonly #bornAt: number;

  constructor(
    readonly parts: {
      readonly database: { readonly isReachable: boolean };
      readonly elapsed: Stopwatch;
      readonly schedule?: Schedule;
    },
  ) {
    this.#bornAt = parts.elapsed();
    this.#plan();
  }

  /** Milliseconds for which the database has been away; 0 if it is there. */
  get awayMs(): number {
    return this.#awaySince === undefined ? 0 : Math.max(1, this.parts.elapsed() - this.#awaySince);
  }

  #look(): void {
    const { database, elapsed } = this.parts;
    const now = elapsed();
    if (database.isReachable) this.#awaySince = undefined;
    else if (now - this.#bornAt >= LOOK_MS) this.#awaySince ??= now;
  }

  close(): void {
    this.#cancel?.();
  }

  #plan(): void {
    const { schedule = realTime } = this.parts;
    this.#cancel = schedule(LOOK_MS, () => {
      this.#look();
      this.#plan();
    });
  }
}
