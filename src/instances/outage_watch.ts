import type { Stopwatch } from "../model/clock.ts";
import { realTime, type Schedule } from "../model/schedule.ts";

/** How often is looked, in milliseconds; so long it has at first to answer. */
const LOOK_MS = 500;

/** Knows for how long the database has been away. */
export class OutageWatch {
  #awaySince: number | undefined;
  #cancel: (() => void) | undefined;

  constructor(
    readonly parts: {
      readonly database: { readonly isReachable: boolean };
      readonly elapsed: Stopwatch;
      readonly schedule?: Schedule;
    },
  ) {
    this.#plan();
  }

  /** Milliseconds for which the database has been away; 0 if it is there. */
  get awayMs(): number {
    return this.#awaySince === undefined ? 0 : Math.max(1, this.parts.elapsed() - this.#awaySince);
  }

  #look(): void {
    const { database, elapsed } = this.parts;
    this.#awaySince = database.isReachable ? undefined : this.#awaySince ?? elapsed();
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
