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

/** One step that gives its rows. */
export function* rows(sql: string, values: Values): Work<readonly Row[]> {
  return yield { sql, values };
}

/** One step that gives its first row. */
export function* row(sql: string, values: Values): Work<Row | undefined> {
  return (yield* rows(sql, values))[0];
}

/**
 * Both databases read text only up to the first NUL, or not at all: a path could come back as another one. There are none.
 * @throws {TypeError}
 */
export function checkValues(values: Values): void {
  for (const value of Object.values(values)) {
    if (typeof value === "string" && value.includes("\0")) {
      throw new TypeError("NUL in a value for the database");
    }
  }
}
