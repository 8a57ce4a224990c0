import type { Logger } from "../logging/logger.ts";
import { type Schedule, wholeMs } from "../model/clock.ts";
import { ASYNC_COMMIT, BATCH, type Database, deleteInBatches, row } from "./database.ts";
import { Poller } from "./poller.ts";

const PURGE_MS = 60_000; // interval of deleting expired marks, in milliseconds

const SQL = {
  take: `INSERT INTO shared_mark (mark, holder, ends) VALUES (:mark, :holder, :clock + :lasts)
         ON CONFLICT (mark) DO UPDATE SET holder = excluded.holder, ends = excluded.ends
         WHERE shared_mark.ends <= :clock RETURNING mark`,
  release: `DELETE FROM shared_mark WHERE mark = :mark AND holder = :holder`,
  purge: `DELETE FROM shared_mark WHERE ends <= :clock AND mark IN (
    SELECT mark FROM shared_mark WHERE ends <= :clock ORDER BY ends LIMIT ${BATCH}) RETURNING mark`,
} as const;

/** Mark that one instance holds for a time, such as for a proof that a client showed or a path that a request writes. */
interface Lease {
  readonly mark: string;
  readonly holder: string;
}

/** Marks in the shared database, by its clock. */
export class Leases extends Poller {
  constructor(
    readonly database: Database,
    { log, schedule }: { readonly log: Logger; readonly schedule?: Schedule },
  ) {
    super({
      poll: () => this.purge(),
      intervalMs: PURGE_MS,
      failureMessage: "expired marks not deleted",
      log,
      schedule,
    });
  }

  /** Takes a mark unless it is held. Returns whether it was free. @throws {DatabaseFailure} */
  acquire({ mark, holder }: Lease, durationMs: number): Promise<boolean> {
    const lasts = wholeMs(durationMs);
    return this.database.change(function* () {
      return (yield* row(SQL.take, { mark, holder, lasts })) !== undefined;
    }, ASYNC_COMMIT);
  }

  /** Releases a mark before its end. @throws {DatabaseFailure} */
  async release({ mark, holder }: Lease): Promise<void> {
    await this.database.change(() => row(SQL.release, { mark, holder }), ASYNC_COMMIT);
  }

  async purge(): Promise<void> {
    await deleteInBatches(this.database, SQL.purge);
  }
}
