import { existsSync } from "node:fs";
import { backup, DatabaseSync, type StatementSync } from "node:sqlite";
import type { Sink } from "../logging/sink.ts";
import { attempt } from "../model/attempt.ts";
import { type Clock, stopwatch, wholeMs } from "../model/clock.ts";
import { OperatorError } from "../model/diagnostic.ts";
import {
  type ChangeOptions,
  checkValues,
  type Database,
  DatabaseFailure,
  type Row,
  type SqlSteps,
  type Values,
} from "./database.ts";

export interface Schema {
  readonly what: string; // such as `share database`, for messages
  readonly applicationId: number; // for `file(1)`
  readonly steps: readonly string[]; // migrations; `PRAGMA user_version` is the number taken
  readonly extra?: string; // created if missing; earlier versions of the service work without it
}

/** Error for a foreign or newer database. */
export class UnknownDatabase extends OperatorError {}

interface Prepared {
  readonly run: StatementSync;
  readonly usesNow: boolean;
  readonly usesClock: boolean;
}
/** Database that disappears when closed. */
export const IN_MEMORY = ":memory:";

/** Milliseconds to wait for the lock of another program or core, such as an operator's command. */
const LOCK_WAIT_MS = 5000;

const LOCK_RETRY_MS = 10; // milliseconds between attempts to take that lock

/**
 * SQLite file: acknowledged changes survive a power cut, and so do earlier ones with `asyncCommit`. Reads complete
 * synchronously; changes do not block the thread, and one write to disk stores the changes of several calls. While another
 * program writes, changes wait in the order of their calls.
 */
export class SqliteDatabase implements Database {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, Prepared>();
  readonly #log: Deno.FsFile | undefined; // write-ahead log
  readonly #opened: string | undefined; // see `identityOf()`
  #synced: Promise<void> = Promise.resolve();
  #nextSynced: Promise<void> | undefined;
  #syncFails = false;
  #lastQueued: Promise<void> | undefined; // of the changes that wait for a lock

  /**
   * Opens or creates a file, or {@link IN_MEMORY}, and migrates it.
   * @param sink Records whether changes reach the disk.
   * @throws {UnknownDatabase} If it is damaged, foreign or newer.
   */
  constructor(readonly file: string, schema: Schema, readonly clock: Clock, readonly sink?: Sink) {
    if (sink !== undefined) sink.retry = () => this.#tryWrite(schema);
    // The file contains secrets: SQLite gives its log the same mode, so only the service's account may read both.
    // We never open an existing file: closing it would release the locks that SQLite holds on it in this process.
    const create = () => Deno.openSync(file, { createNew: true, write: true, mode: 0o600 }).close();
    if (file !== IN_MEMORY) attempt(create, Deno.errors.AlreadyExists, () => {});
    this.#database = new DatabaseSync(file, { timeout: LOCK_WAIT_MS, enableForeignKeyConstraints: true });
    try {
      this.#database.exec(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF",
      );
      this.#migrate(file, schema);
      if (file === IN_MEMORY) return;
      // `FULL` would block the thread at commits, and a timeout at locks.
      this.#database.exec("PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 0");
      this.#log = Deno.openSync(`${file}-wal`);
      this.#opened = identityOf(file);
    } catch (error) {
      this.#database.close();
      // Deno 2.9.6 exposes no error code.
      if (!isSqliteError(error)) throw error;
      const Failure = DAMAGED.test(error.message) ? UnknownDatabase : DatabaseFailure;
      throw new Failure(`${file}: ${error.message}`, { cause: error });
    }
  }

  get isOpen(): boolean {
    return this.#database.isOpen;
  }

  read<T>(work: () => SqlSteps<T>): Promise<T> {
    return this.#settled(() => this.#run(work()));
  }

  async change<T>(work: () => SqlSteps<T>, { asyncCommit = false }: ChangeOptions = {}): Promise<T> {
    const result = await this.#settled(() => this.#queued(() => this.#transact(() => this.#run(work()))));
    if (this.sink?.failing) this.sink.retry?.();
    if (!asyncCommit) await this.#onDisk();
    return result;
  }

  version(): number {
    return Number(this.#rows("PRAGMA data_version", {})[0]?.["data_version"]);
  }

  close(): void {
    this.#database.close();
    this.#log?.close();
  }

  /** Waits until all committed changes are on disk. Calls during a write share the next one. */
  #onDisk(): Promise<void> {
    return this.#nextSynced ??= this.#synced.catch(() => {}).then(() => {
      this.#nextSynced = undefined;
      return this.#synced = this.#sync();
    });
  }

  async #sync(): Promise<void> {
    try {
      await this.#log?.syncData();
      if (this.#syncFails) this.sink?.written();
      this.#syncFails = false;
    } catch (error) {
      this.#syncFails = true;
      if (this.isOpen) this.sink?.failed(error, this.file);
      throw new DatabaseFailure(`${this.file}-wal: ${error}`, { cause: error });
    }
  }

  async #settled<T>(action: () => T | Promise<T>): Promise<T> {
    try {
      return await action();
    } catch (error) {
      if (isUnwritable(error)) this.sink?.failed(error, this.file);
      // Writes to other pages would succeed: only the next core, which opens the file again, checks it.
      if (this.sink !== undefined && isSqliteError(error) && DAMAGED.test(error.message)) {
        this.sink.retry = undefined;
      }
      throw isSqliteError(error) ? new DatabaseFailure(error.message, { cause: error }) : error;
    }
  }

  /** Runs a change at once, or after waiting ones. Retries while the database is locked, for {@link LOCK_WAIT_MS}. */
  async #queued<T>(change: () => T): Promise<T> {
    const end = stopwatch() + LOCK_WAIT_MS;
    const [before, { promise, resolve }] = [this.#lastQueued, Promise.withResolvers<void>()];
    this.#lastQueued = promise;
    try {
      if (before !== undefined) await before;
      for (;;) {
        try {
          return change();
        } catch (error) {
          const isLocked = isSqliteError(error) && /is locked/.test(error.message);
          if (!isLocked || stopwatch() >= end) throw error;
          await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
          if (!this.isOpen) throw error;
        }
      }
    } finally {
      if (this.#lastQueued === promise) this.#lastQueued = undefined;
      resolve();
    }
  }

  /** Tries a write by storing the schema version again: a change without effect might need no space on the disk. */
  #tryWrite({ steps }: Schema): void {
    try {
      this.#transact(() => this.#database.exec(`PRAGMA user_version = ${steps.length}`));
      if (this.#syncFails) void this.#onDisk().catch(() => {}); // `#sync()` reports the result
      else this.sink?.written();
    } catch (error) {
      if (!isSqliteError(error) && !isUnwritable(error)) throw error;
    }
  }

  #transact<T>(action: () => T): T {
    if (this.#opened !== undefined && this.#opened !== identityOf(this.file)) {
      throw new DatabaseFailure("moved, deleted or replaced: who opens it next would not find the change");
    }
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

  #run<T>(work: SqlSteps<T>): T {
    let step = work.next();
    while (step.done !== true) step = work.next(this.#rows(step.value.sql, step.value.values));
    return step.value;
  }

  #rows(sql: string, values: Values): Row[] {
    const { run, usesNow, usesClock } = this.#statement(sql);
    checkValues(values);
    if (!usesNow && !usesClock) return run.all(values);
    const clock = wholeMs(this.clock());
    const bound: Record<string, string | number | null> = { ...values };
    if (usesNow) bound["now"] = Math.floor(clock / 1000);
    if (usesClock) bound["clock"] = clock;
    return run.all(bound);
  }

  #statement(sql: string): Prepared {
    return this.#statements.getOrInsertComputed(sql, () => {
      const [usesNow, usesClock] = [/:now\b/.test(sql), /:clock\b/.test(sql)];
      return { run: this.#database.prepare(sql), usesNow, usesClock };
    });
  }

  /** Takes no lock if nothing is missing, so that a core can start while another program holds it. */
  #migrate(file: string, schema: Schema): void {
    const { applicationId, steps, extra = "" } = schema;
    const missing = () => steps.slice(knownVersion(this.#database, file, schema));
    const marks = `PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}`;
    const migrate = () => [...missing(), marks].forEach((step) => this.#database.exec(step));
    if (missing().length > 0) this.#transact(migrate);
    this.#database.exec(extra); // writes only what is missing
  }
}

/** @param isWhole Whether all pages are present. */
function knownVersion(database: DatabaseSync, file: string, schema: Schema, isWhole = true): number {
  const { what, applicationId, steps } = schema;
  const pragma = (name: "user_version" | "application_id") =>
    Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
  // Read first: another process may be creating all of it, in one transaction.
  const tables = isWhole ? database.prepare("SELECT count(*) AS n FROM sqlite_schema").get()?.["n"] : 0;
  const version = pragma("user_version");
  const application = pragma("application_id");
  if (application !== applicationId && (application !== 0 || tables !== 0)) {
    throw new UnknownDatabase(`${file}: not a ${what} of this service (application_id ${application})`);
  }
  if (version > steps.length) {
    throw new UnknownDatabase(`${file}: schema version ${version}, this service knows up to ${steps.length}`);
  }
  return version;
}

/** Copies a consistent state of a database into a new file with mode 600, also while others change it. */
export async function copyDatabase(file: string, to: string): Promise<void> {
  Deno.openSync(to, { createNew: true, write: true, mode: 0o600 }).close();
  using database = new DatabaseSync(file, { timeout: LOCK_WAIT_MS });
  await backup(database, to, { rate: ALL_PAGES });
  leaveWalMode(to);
}

/** Pages in one step: a change of another connection between two steps would restart the copy. */
const ALL_PAGES = 2 ** 30;

/** Moves the write-ahead log into its database; reports whether no other connection prevented that. */
export function leaveWalMode(file: string): boolean {
  using database = new DatabaseSync(file);
  try {
    return database.prepare("PRAGMA journal_mode = DELETE").get()?.["journal_mode"] === "delete";
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    return !/locked/.test(error.message); // the caller replaces a damaged one
  }
}

/** Bytes: the largest file to examine whole, and the largest page. */
const [MAX_EXAMINED, MAX_PAGE] = [16 * 1024 ** 2, 64 * 1024];

/**
 * Returns why a file is unusable, or `undefined`. Examines a copy in memory, since SQLite creates files beside a file: all
 * pages up to {@link MAX_EXAMINED}, but only the first one of a longer file, or if a write-ahead log may be newer.
 */
export async function databaseDamage(file: string, schema: Schema): Promise<string | undefined> {
  const { size } = await Deno.stat(file);
  if (size === 0) return undefined; // created, and not yet written
  const isWhole = size <= MAX_EXAMINED && !existsSync(`${file}-wal`);
  const bytes = new Uint8Array(isWhole ? size : Math.min(size, MAX_PAGE));
  using source = await Deno.open(file);
  await source.read(bytes);
  bytes.subarray(18, 20).fill(1); // without a write-ahead log, which memory cannot have
  if (!isWhole) bytes.subarray(28, 32).fill(0); // number of pages: computed from the size
  using database = new DatabaseSync(IN_MEMORY);
  try {
    database.deserialize(bytes);
    knownVersion(database, file, schema, isWhole);
    if (!isWhole) return undefined;
    const found = String(Object.values(database.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
    return found === "ok" ? undefined : `${file}: ${found.replaceAll("\n", " ")}`;
  } catch (error) {
    if (error instanceof UnknownDatabase) return error.message;
    if (isSqliteError(error)) return `${file}: ${error.message}`;
    throw error;
  }
}

/** Identifies the files that now have the names of a database and its log. */
function identityOf(file: string): string {
  const idOf = ({ dev, ino }: Deno.FileInfo) => `${dev} ${ino}`;
  return [file, `${file}-wal`].map((name) => attempt(() => idOf(Deno.statSync(name)), Error, String)).join();
}

/** Reports whether SQLite threw an error. */
export function isSqliteError(error: unknown): error is Error {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
}

/** Message for a damaged file; `malformed JSON` is none. */
const DAMAGED = /not a database|image is malformed|malformed database/;

/** Reports whether disk or file is full, read-only, broken or missing, or another program holds the lock. */
function isUnwritable(error: unknown): boolean {
  return error instanceof DatabaseFailure || isSqliteError(error) &&
      (DAMAGED.test(error.message) ||
        /is full|is locked|readonly|disk I\/O|unable to open/.test(error.message));
}
