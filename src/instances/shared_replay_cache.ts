import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import type { ReplayCache, ReplayEntry, ReplayRecord } from "../model/replay_cache.ts";
import { DatabaseFailure, DatabaseUnavailable } from "../store/database.ts";
import type { Leases } from "../store/leases.ts";

/** Difference of the clocks of two instances up to which neither logs a warning, in milliseconds. */
const SKEW_MS = 60_000;

/** Replay cache of all instances. That of this instance decides first, and alone while the database is unavailable. */
export class SharedReplayCache implements ReplayRecord {
  readonly #holder = crypto.randomUUID();

  constructor(
    readonly own: ReplayCache,
    readonly parts: { readonly leases: Leases; readonly clock: Clock; readonly log: Logger },
  ) {}

  async note(seen: ReplayEntry, perOwner?: number): Promise<boolean> {
    const { leases, clock } = this.parts;
    if (!this.own.note(seen, perOwner)) return false;
    return await leases.acquire(this.#shared(seen.key), seen.endsAt - clock() + SKEW_MS).catch((error) => {
      this.#report(error);
      return true;
    });
  }

  async forget(key: string): Promise<void> {
    this.own.forget(key);
    await this.parts.leases.release(this.#shared(key)).catch((error) => this.#report(error));
  }

  #shared(key: string) {
    return { mark: `seen ${key}`, holder: this.#holder };
  }

  /** Logs failures other than outages, which the database's state reports. */
  #report(error: unknown): void {
    if (!(error instanceof DatabaseFailure)) throw error;
    if (!(error instanceof DatabaseUnavailable)) {
      this.parts.log.error("mark of the replay cache not stored for the other instances", { error });
    }
  }
}
