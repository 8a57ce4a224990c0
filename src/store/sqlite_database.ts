import { DatabaseSync, type StatementSync } from "node:sqlite";

/** A row as SQLite gives it. */
export type Row = Record<string, unknown>;

/** Values to bind, by the name of their parameter. */
export type Values = Record<string, string | number | null>;

/** What a database file is, and the steps from one version of its schema to the next. */
export interface Schema {
  /** For messages, such as `share database`. */
  readonly what: string;
  /** Identifies the files to `file(1)`. */
  readonly applicationId: number;
  /** The version of a file is the number of steps taken (`PRAGMA user_version`). */
  readonly steps: readonly string[];
}

/** A database file that this version must not touch: not ours, or from a newer version. */
export class UnknownDatabase extends Error {
  override readonly name = "UnknownDatabase";
}

/** Milliseconds to wait for the lock of another process, such as the operator's command or a core being replaced. */
const LOCK_WAIT_MS = 5000;

/**
 * A database in an SQLite file: write-ahead log with full synchronisation, so what was acknowledged survives a killed
 * process and a power cut.
 */
export class SqliteDatabase {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  /**
   * Opens a file, which is made if it is not there, and brings it to the newest schema.
   * @throws {UnknownDatabase} If the file is not of this schema, or newer than this service.
   */
  constructor(file: string, schema: Schema) {
    // What is inside is secret: the file, and with it the log that SQLite puts beside it, is for the service's account only.
    Deno.openSync(file, { create: true, write: true, mode: 0o600 }).close();
    this.#database = new DatabaseSync(file, { timeout: LOCK_WAIT_MS, enableForeignKeyConstraints: true });
    try {
      this.#database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF",
      );
      this.#migrate(file, schema);
    } catch (error) {
      this.#database.close();
      throw error;
    }
  }

  get isOpen(): boolean {
    return this.#database.isOpen;
  }

  /** One transaction, which holds the write lock from its start. */
  change<T>(action: () => T): T {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const result = action();
      this.#database.exec("COMMIT");
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  /** How many rows a statement changed. */
  run(sql: string, values: Values): number {
    return Number(this.#statement(sql).run(checked(values)).changes);
  }

  rows(sql: string, values: Values): Row[] {
    return this.#statement(sql).all(checked(values));
  }

  row(sql: string, values: Values): Row | undefined {
    return this.rows(sql, values)[0];
  }

  close(): void {
    this.#database.close();
  }

  #statement(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Brings the database to the newest schema, in one transaction. */
  #migrate(file: string, { what, applicationId, steps }: Schema): void {
    this.change(() => {
      const version = this.#pragma("user_version");
      const application = this.#pragma("application_id");
      const tables = Number(this.#database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.n);
      if (application !== applicationId && tables > 0) {
        throw new UnknownDatabase(`${file}: not a ${what} of this service (application_id ${application})`);
      }
      if (version > steps.length) {
        throw new UnknownDatabase(
          `${file}: schema version ${version}, this service knows up to ${steps.length}`,
        );
      }
      for (const step of steps.slice(version)) this.#database.exec(step);
      this.#database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}`);
    });
  }

  #pragma(name: "user_version" | "application_id"): number {
    return Number(this.#database.prepare(`PRAGMA ${name}`).get()?.[name]);
  }
}

/** Whether SQLite could not do what was asked: a full disk, a lock that nobody gave up. */
export function isOfDatabase(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
}

/** `node:sqlite` reads text only up to the first NUL, so that a path could come back as another one: there are none. */
function checked(values: Values): Values {
  for (const value of Object.values(values)) {
    if (typeof value === "string" && value.includes("\0")) {
      throw new TypeError("NUL in a value for the database");
    }
  }
  return values;
}
