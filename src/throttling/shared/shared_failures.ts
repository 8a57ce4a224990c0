import { realTime, type Schedule, wholeMs, within } from "../../model/clock.ts";
import { BATCH, type Database, deleteInBatches, row, rows, type SqlSteps } from "../../store/database.ts";
import type { CountedFailure, Counting } from "../login_throttle.ts";
import { KNOWN_MS } from "../memory.ts";
import type { Digests } from "./digest.ts";

const SQL = {
  count: `INSERT INTO failed_login (counted, name, who_user, who_address, failures, ends)
          VALUES (:counted, :name, :user, :address, :failures, :clock + :window)
          ON CONFLICT (counted, name) DO UPDATE SET ends = :clock + :window, failures = CASE
            WHEN failed_login.ends <= :clock OR failed_login.failures < :failures THEN :failures
            ELSE failed_login.failures + 1 END
          RETURNING failures`,
  keep: `UPDATE failed_login SET ends = ends + :wait WHERE counted = :counted AND name = :name`,
  look: `SELECT failures FROM failed_login WHERE counted = :counted AND name = :name AND ends > :clock`,
  clear: `DELETE FROM failed_login WHERE counted IN ('pairs', 'tokens') AND name = :name`,
  note: `INSERT INTO known_login (name, seen, told) VALUES (:name, :clock - :ago, :clock)
         ON CONFLICT (name) DO UPDATE SET seen = excluded.seen, told = excluded.told`,
  time: `SELECT :clock AS now`,
  known: `SELECT name, :clock - seen AS ago FROM known_login WHERE told > :since OR seen > :since
          ORDER BY seen DESC LIMIT :most`,
  purgeFailures: `DELETE FROM failed_login WHERE ends <= :clock AND (counted, name) IN (
    SELECT counted, name FROM failed_login WHERE ends <= :clock ORDER BY ends LIMIT ${BATCH}) RETURNING name`,
  purgeKnown: `DELETE FROM known_login WHERE seen <= :clock - :lifetime AND name IN (
    SELECT name FROM known_login WHERE seen <= :clock - :lifetime ORDER BY seen LIMIT ${BATCH}) RETURNING name`,
} as const;

const MAX_IN_FLIGHT = 4; // concurrent counts, so that guesses cannot occupy the database
/** How long attempts wait for a shared count before the local one decides, in milliseconds. */
const MAX_WAIT_MS = 1000;
const LATE_MS = 2000; // longest transaction in milliseconds: rows may become visible this late

/** Successful login by key of user and address. */
export interface KnownLogin {
  readonly pair: string;
  readonly clears: boolean; // whether it ends earlier failures of the pair
  readonly agoMs: number;
}

/** Failed and known logins in a database, by its clock. Reads and changes throw {@link DatabaseFailure}. */
export class SharedFailures {
  #inFlight = 0;

  constructor(
    readonly database: Database,
    readonly digests: Digests,
    readonly schedule: Schedule = realTime,
  ) {}

  /** Counts a failure for all instances and publishes `passed`; absent if the database is unavailable. */
  count(failed: readonly CountedFailure[], passed: readonly KnownLogin[]): Counting | undefined {
    if (this.#inFlight >= MAX_IN_FLIGHT) return undefined;
    this.#inFlight++;
    const work = () => countAll(failed, passed, this.digests);
    // While the database is unavailable, its circuit breaker fails each change at once.
    const totals = this.#change(work).catch(() => []).finally(() => this.#inFlight--);
    return { totals, soon: within(totals, MAX_WAIT_MS, this.schedule).then(() => {}) };
  }

  /** Publishes logins. */
  passed(logins: readonly KnownLogin[]): Promise<void> {
    return this.#change(() => noteAll(logins, this.digests));
  }

  /** Reads known logins, latest first. @param until From the last read, by the database's clock; absent: a whole day. */
  known(
    until: number | undefined,
    most: number,
  ): Promise<{ readonly logins: readonly KnownLogin[]; readonly until: number }> {
    return this.database.read(function* () {
      const now = Number((yield* row(SQL.time, {}))?.["now"]);
      const since = wholeMs(until === undefined ? now - KNOWN_MS : until - LATE_MS);
      const logins = (yield* rows(SQL.known, { since, most })).map((found) => {
        const name: unknown = JSON.parse(String(found["name"]));
        return { pair: String(name), clears: typeof name === "string", agoMs: Number(found["ago"]) };
      });
      return { logins, until: now };
    });
  }

  /** The unlogged tables need no wait for the disk. */
  #change<T>(work: () => SqlSteps<T>): Promise<T> {
    return this.database.change(work, { asyncCommit: true });
  }

  async purge(lifetimeMs: number): Promise<void> {
    await deleteInBatches(this.database, SQL.purgeFailures);
    await deleteInBatches(this.database, SQL.purgeKnown, { lifetime: wholeMs(lifetimeMs) });
  }
}

function* noteAll(logins: readonly KnownLogin[], digests: Digests): SqlSteps<void> {
  for (const { pair, clears, agoMs } of logins) {
    const name = JSON.stringify(clears ? pair : [pair]);
    yield* row(SQL.note, { name, ago: wholeMs(Math.max(0, agoMs)) });
    if (clears) yield* row(SQL.clear, { name: digests.of(pair) });
  }
}

function* countAll(
  failed: readonly CountedFailure[],
  passed: readonly KnownLogin[],
  digests: Digests,
): SqlSteps<readonly (number | undefined)[]> {
  const totals: (number | undefined)[] = [];
  let isFirst = true;
  yield* noteAll(passed, digests);
  for (const { counter: { counted, key, subject, table, once }, record: { failures } } of failed) {
    const name = digests.of(key);
    if (once && !isFirst) {
      totals.push(numberIn(yield* row(SQL.look, { counted, name })));
      continue;
    }
    const total = numberIn(
      yield* row(SQL.count, {
        counted,
        name,
        failures,
        window: wholeMs(table.options.policy.windowMs),
        ...digests.ofSubject(subject),
      }),
    );
    isFirst = total === 1;
    const wait = total === undefined ? 0 : table.waitAfter(key, total);
    if (wait > 0) yield* row(SQL.keep, { counted, name, wait: wholeMs(wait) });
    totals.push(total);
  }
  return totals;
}

function numberIn(found: Readonly<Record<string, unknown>> | undefined): number | undefined {
  return found === undefined ? undefined : Number(found["failures"]);
}
