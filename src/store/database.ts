import type { WholeMs } from "../model/clock.ts";
import { OperatorError } from "../model/diagnostic.ts";

export type Row = Readonly<Record<string, unknown>>;

/** Parameters that are times; the sources of others, in seconds, already give whole numbers. */
type TimeName = "ago" | "forgotten" | "lasts" | "lifetime" | "since" | "upSince" | "wait" | "window";

/** Values by parameter name. */
export type Values =
  & Readonly<Record<string, string | number | null>>
  & { readonly [name in TimeName]?: WholeMs };

/**
 * Steps of work: yields statements for SQLite and PostgreSQL, and receives their rows.
 * In them, the database sets `:now` (seconds) and `:clock` (milliseconds). They are a generator, since SQLite runs it
 * at once and PostgreSQL waits for each statement; `yield*` runs other work within it, such as {@link rows}.
 * - The database may run it again from its beginning, so it must change nothing outside.
 * - An error that it throws undoes all its statements. After it has returned, the transaction may still fail.
 * - Statements are those of SQLite; `forPostgres()` translates parameters, index hints, JSON lists and counts.
 */
export type SqlSteps<T> = Generator<{ readonly sql: string; readonly values: Values }, T, readonly Row[]>;

export interface ChangeOptions {
  /** Changes with the same name exclude each other on all instances; SQLite runs one at a time anyway. */
  readonly lock?: string;
  readonly asyncCommit?: boolean; // does not wait for the disk: a crash of the database may lose the change
}

/** SQLite file, or PostgreSQL database shared by instances. */
export interface Database {
  readonly isOpen: boolean;
  /** @throws {DatabaseFailure} Also errors of the work. */
  read<T>(work: () => SqlSteps<T>): Promise<T>;
  /**
   * Runs work as one transaction, on disk when it resolves unless `asyncCommit`; may restart work without effect.
   * @throws {DatabaseFailure} If the disk fails after the commit, the change may hold. Errors of the work undo all its changes.
   */
  change<T>(work: () => SqlSteps<T>, options?: ChangeOptions): Promise<T>;
  /** Returns a number that changes soon after any change to a table, on any instance. Cheap enough for each request. */
  version(table: string): number;
  /** Calls a listener after each change of a version; absent: poll the versions. */
  onChange?(listener: () => void): void;
  close(): void;
}

/** Options for tables that a crash of the database may empty, so that changes need not wait for the disk. */
export const ASYNC_COMMIT: ChangeOptions = { asyncCommit: true };

/** Error of the database: full disk, lock timeout, no connection. */
export class DatabaseFailure extends OperatorError {}

/** Error if no server accepts changes; the caller may retry. */
export class DatabaseUnavailable extends DatabaseFailure {}

/** Most rows that a subquery selects to delete. The outer condition repeats the inner one: rows may change meanwhile. */
export const BATCH = 1000;

/** Deletes rows in short transactions. @param sql Deletes at most {@link BATCH} rows and returns each. @throws {DatabaseFailure} */
export async function deleteInBatches(
  database: Pick<Database, "change">,
  sql: string,
  values: Values = {},
): Promise<number> {
  for (let all = 0;;) {
    const { length } = await database.change(() => rows(sql, values), { asyncCommit: true });
    all += length;
    if (length < BATCH) return all;
  }
}

/** Runs a statement and returns its rows. */
export function* rows(sql: string, values: Values): SqlSteps<readonly Row[]> {
  return yield { sql, values };
}

/** Runs a statement and returns its first row. */
export function* row(sql: string, values: Values): SqlSteps<Row | undefined> {
  return (yield* rows(sql, values))[0];
}

/** Refuses text with NUL, and fractions, which the databases truncate or reject. @throws {TypeError} */
export function checkValues(values: Values): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "number" && !Number.isSafeInteger(value)) {
      throw new TypeError(`${name} is no whole number: ${value}`);
    }
    if (typeof value === "string" && value.includes("\0")) {
      throw new TypeError("NUL in a value for the database");
    }
  }
}
