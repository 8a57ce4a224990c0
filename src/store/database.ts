/** A row as a database gives it. */
export type Row = Readonly<Record<string, unknown>>;

/** Values to bind, by the name of their parameter. */
export type Values = Readonly<Record<string, string | number | null>>;

/**
 * A statement, written so that SQLite and PostgreSQL understand it (`postgres/postgres_sql.ts` translates the little that differs).
 * `:now` and `:clock` are bound by the database to what its own clock says, in seconds rounded down and in milliseconds
 * since the epoch.
 */
interface Statement {
  readonly sql: string;
  readonly values: Values;
}

/** Work on a database in steps: each is a statement, for which its rows come back. */
export type Work<T> = Generator<Statement, T, readonly Row[]>;

/** In what manner something is changed. */
export interface Manner {
  /** No two changes that name the same run at a time, on whatever instance; in SQLite none do. */
  readonly alone?: string;
  /** Nobody waits until it is on the disk: a crash of the database may lose it. For what is of use for a while. */
  readonly asyncCommit?: boolean;
}

/** Where something is kept: an SQLite file, or a PostgreSQL database that several instances share. */
export interface Database {
  readonly isOpen: boolean;
  /** @throws {DatabaseFailure} What the work throws. */
  read<T>(work: () => Work<T>): Promise<T>;
  /**
   * Runs the work as one transaction, which is on disk when the promise resolves unless it is loose. It may be run again from its start if
   * nothing had happened yet.
   * @throws {DatabaseFailure} What the work throws: then nothing is changed.
   */
  change<T>(work: () => Work<T>, manner?: Manner): Promise<T>;
  /**
   * A number that differs from what it was whenever others may have changed something in a table: another process, or
   * another instance at most some moments ago. Cheap enough for each request.
   */
  version(table: string): number;
  close(): void;
}

/** The database cannot do what was asked: a full disk, a lock that nobody gave up, nobody there who answers. */
export class DatabaseFailure extends Error {
  override readonly name = "DatabaseFailure";
}

/** Nobody answers who takes changes: what was to be done may be tried later. */
export class DatabaseAway extends DatabaseFailure {}

/** Rows that one statement of {@link deleteInBatches} deletes at most: far less work than a statement may take time. */
export const BATCH = 1000;

/**
 * Deletes rows until none are left, each batch in a transaction of its own, so that however many there are none takes long.
 * @param sql Deletes at most {@link BATCH} rows, by an index, and returns a row for each.
 * @returns How many rows were deleted. @throws {DatabaseFailure} Batches that were deleted before stay so.
 */
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

/** One step that gives its rows. */
export function* rows(sql: string, values: Values): Work<readonly Row[]> {
  return yield { sql, values };
}

/** One step that gives its first row. */
export function* row(sql: string, values: Values): Work<Row | undefined> {
  return (yield* rows(sql, values))[0];
}

/**
 * Refuses values that one of the databases would change or refuse: both read text only up to the first NUL, or not at all,
 * and PostgreSQL takes whole numbers alone where we bind numbers. Clocks tell fractions of a millisecond: round them.
 * @throws {TypeError}
 */
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
