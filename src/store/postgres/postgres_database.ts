import { type Clock, type Stopwatch, stopwatch, unlessAborted, wholeMs } from "../../model/clock.ts";
import { type DatabaseCondition, DatabaseState } from "./database_state.ts";
import {
  BATCH,
  type ChangeOptions,
  checkValues,
  type Database,
  DatabaseFailure,
  DatabaseUnavailable,
  deleteInBatches,
  type Row,
  row,
  type SqlSteps,
  type Values,
} from "../database.ts";
import { CHANGES_CHANNEL, type PostgresConnection, type PostgresLogin } from "./postgres_connection.ts";
import { consequenceOf, isDefect, PostgresError, toFailure } from "./postgres_failure.ts";
import { type Deadline, PostgresPool } from "./postgres_pool.ts";
import { checkSchema } from "./postgres_schema.ts";
import { type Connect, type PostgresServer, PostgresServers } from "./postgres_servers.ts";
import { connectPlain } from "./connect_plain.ts";
import { forPostgres, positionalValues } from "./postgres_sql.ts";
import { PostgresWatch, SHARED_SESSIONS } from "./postgres_watch.ts";

export interface PostgresOptions {
  readonly servers: readonly PostgresServer[]; // primary and standbys, in any order
  readonly login: PostgresLogin;
  readonly connect?: Connect; // default: TCP without TLS
  readonly connections: number; // most connections; one of them listens for notifications
  readonly timeoutMs: number; // deadline for one piece of work, in milliseconds
  readonly changed?: (condition: DatabaseCondition) => void; // called when the condition changes
  /** Called when a statement begins to fail because of a defect of the service, or of missing tables. */
  readonly defective?: (statement: string, error: PostgresError) => void;
  readonly elapsed?: Stopwatch;
  /** Checks the tables; default: ours. @throws {DatabaseFailure} */
  readonly checkSchema?: (connection: PostgresConnection) => Promise<void>;
  readonly clock?: Clock; // replaces the database's clock in tests
}

const FIRST_PAUSE_MS = 5; // first pause between retries, in milliseconds; doubles each time
const MAX_PAUSE_MS = 250;

/** Lifetime of change ids and interval of their deletion; far longer than any retry needs. */
const KEEP_IDS_MS = 10 * 60_000;
const INSERT_ID = "INSERT INTO change_made (id, at) VALUES (:id, :now) ON CONFLICT DO NOTHING RETURNING id";
const CLEAR_IDS = `DELETE FROM change_made WHERE id IN (
  SELECT id FROM change_made WHERE at < :now - :kept ORDER BY at LIMIT ${BATCH}) RETURNING id`;

/** Status for health and metrics. */
export type DatabaseStatus = DatabaseCondition & {
  readonly outageMs: number; // milliseconds of the current outage; 0 if up
  readonly defects: number; // failures of statements because of a defect of the service, or of missing rights
  readonly refused: number; // statements that failed so when they last ran
};

interface Change<T> {
  readonly id: string;
  readonly work: () => SqlSteps<T>;
  readonly options: ChangeOptions;
  /** Result of an attempt that lost its connection during commit: it may have been committed. */
  kept?: { readonly result: T };
}

/**
 * PostgreSQL database for several instances. Retries attempts without effect until the deadline. Each change stores an
 * id, so that a retry after a lost connection sees whether it was committed: never twice.
 */
export class PostgresDatabase implements Database {
  readonly #elapsed: Stopwatch;
  readonly #state: DatabaseState;
  readonly #pool: PostgresPool;
  readonly #watch: PostgresWatch;
  readonly #statements = new Map<string, ReturnType<typeof forPostgres>>();
  readonly #reported = new Map<string, string>(); // last reported defect of each statement, until it succeeds
  #isOpen = true;
  #isFull = false; // whether the last change failed for lack of disk space
  #defects = 0;
  #clearedAt: number;

  /** Connects on demand, and starts to listen for notifications. */
  constructor(readonly options: PostgresOptions) {
    const { servers, login, connect = connectPlain, connections, timeoutMs, elapsed = stopwatch } = options;
    this.#elapsed = elapsed;
    this.#clearedAt = elapsed() - KEEP_IDS_MS * Math.random();
    this.#state = new DatabaseState({ elapsed, toleranceMs: timeoutMs, changed: options.changed });
    const all = new PostgresServers({
      servers,
      login,
      connect,
      checkSchema: options.checkSchema ?? checkSchema,
      timeoutMs,
      state: this.#state,
    });
    this.#pool = new PostgresPool(all, this.#state, Math.max(1, connections - 1));
    this.#watch = new PostgresWatch(all, {
      timeoutMs,
      state: this.#state,
      unusable: () => this.#pool.closeIdle(),
      pinged: (isStuck) => this.#maintain(isStuck),
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isReachable(): boolean {
    return this.#watch.isListening;
  }

  /** Number of times that it began to listen; after each, the server may be another one. */
  get sessions(): number {
    return this.#watch.sessions;
  }

  /** Condition of the connections, which notice a failure within seconds. */
  get status(): DatabaseStatus {
    const { condition, outageMs } = this.#state;
    return { ...condition, outageMs, defects: this.#defects, refused: this.#reported.size };
  }

  read<T>(work: () => SqlSteps<T>): Promise<T> {
    return this.#untilDone((deadline) => this.#pool.use(deadline, (on) => this.#run(on, work())));
  }

  change<T>(work: () => SqlSteps<T>, options: ChangeOptions = {}): Promise<T> {
    const change: Change<T> = { id: crypto.randomUUID(), work, options };
    return this.#untilDone((deadline) =>
      this.#pool.use(deadline, (on) => this.#transact(on, change, deadline))
    );
  }

  version(table: string): number {
    return this.#watch.version(table);
  }

  readonly onChange = (listener: (table: string) => void): void => this.#watch.onChange(listener);

  [Symbol.dispose](): void {
    this.close();
  }

  close(): void {
    this.#isOpen = false;
    this.#state.close();
    this.#watch.close();
    this.#pool.close();
  }

  /** Checks that notifications arrive from another connection. @throws {DatabaseFailure} If a pooler is in between. */
  async checkSessions(): Promise<void> {
    using deadline = this.#deadline();
    await unlessAborted(this.#watch.listening, deadline.signal);
    const heard = new Promise<void>((resolve) => this.onChange((table) => table === CHECKED && resolve()));
    await this.read(() => row(`SELECT pg_notify('${CHANGES_CHANNEL}', '${CHECKED}')`, {}));
    await unlessAborted(heard, deadline.signal).catch(() => {
      throw new DatabaseFailure(SHARED_SESSIONS);
    });
  }

  async #untilDone<T>(attempt: (deadline: Deadline) => Promise<T>): Promise<T> {
    using deadline = this.#deadline();
    let before: unknown; // a better reason than the timeout
    try {
      for (let pause = FIRST_PAUSE_MS;; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
        try {
          return await attempt(deadline);
        } catch (error) {
          const maybeLater = error instanceof PostgresError
            ? consequenceOf(error) !== "refused"
            : error instanceof DatabaseUnavailable;
          if (maybeLater && deadline.signal.aborted) throw before ?? deadline.signal.reason;
          if (!maybeLater || !this.#isOpen || this.#state.refusesWork || deadline.left() <= pause) {
            throw error;
          }
          before = error;
          await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
        }
      }
    } catch (error) {
      throw toFailure(error);
    }
  }

  #deadline(): Deadline & Disposable {
    const { timeoutMs } = this.options;
    const end = this.#elapsed() + timeoutMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DatabaseUnavailable("no answer in time")), timeoutMs);
    const left = () => Math.max(1, Math.ceil(end - this.#elapsed()));
    return { signal: late.signal, left, [Symbol.dispose]: () => clearTimeout(timer) };
  }

  async #transact<T>(on: PostgresConnection, change: Change<T>, deadline: Deadline): Promise<T> {
    try {
      if (!await this.#begin(on, change, deadline) && change.kept !== undefined) {
        await on.run("ROLLBACK");
        return change.kept.result;
      }
      change.kept = undefined; // the id is free: no earlier attempt was committed
      const result = await this.#run(on, change.work());
      change.kept = { result };
      // Without limit: a commit canceled while waiting for standbys would look like a replicated one.
      await on.run("SET LOCAL statement_timeout = 0; COMMIT");
      this.#isFull = false;
      return result;
    } catch (error) {
      this.#isFull ||= error instanceof PostgresError && error.code === "53100";
      if (on.isAlive) await on.run("ROLLBACK").catch(() => on.destroy());
      throw error;
    }
  }

  /** Begins a transaction, with its lock if any, and inserts its id. @returns False if the change was committed already. */
  async #begin(
    on: PostgresConnection,
    { id, options: { lock, asyncCommit = false } }: Change<unknown>,
    deadline: Deadline,
  ): Promise<boolean> {
    const settings = [
      `statement_timeout = ${deadline.left()}`,
      ...asyncCommit ? ["synchronous_commit = off"] : [],
    ];
    const begun = on.run(["BEGIN", ...settings.map((setting) => `SET LOCAL ${setting}`)].join("; "));
    const locked = lock === undefined
      ? []
      : [on.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [lock])];
    const [made] = await Promise.all([this.#rows(on, INSERT_ID, { id }), begun, ...locked]);
    return made.length > 0;
  }

  async #run<T>(on: PostgresConnection, work: SqlSteps<T>): Promise<T> {
    let step = work.next();
    while (step.done !== true) step = work.next(await this.#rows(on, step.value.sql, step.value.values));
    return step.value;
  }

  /** Probes for a connection if the database is down and idle; deletes old change ids. */
  #maintain(isStuck: boolean): void {
    const now = this.#elapsed();
    this.#state.setStuck(isStuck || this.#isFull);
    if (this.#state.isTrialDue) {
      const deadline = this.#deadline();
      void this.#pool.openIdle(deadline).catch(() => {}).finally(deadline[Symbol.dispose]); // the state has the reason
    }
    if (now - this.#clearedAt < KEEP_IDS_MS) return;
    this.#clearedAt = now;
    void deleteInBatches(this, CLEAR_IDS, { kept: KEEP_IDS_MS / 1000 }).catch(() => {}); // retried next time
  }

  async #rows(on: PostgresConnection, sql: string, values: Values): Promise<readonly Row[]> {
    const { clock } = this.options;
    const statement = this.#statements.getOrInsertComputed(sql, () => forPostgres(sql, clock !== undefined));
    checkValues(values);
    const time = clock && wholeMs(clock());
    const bound = time === undefined ? values : { ...values, now: Math.floor(time / 1000), clock: time };
    try {
      const found = await on.query(statement.text, positionalValues(statement.names, bound));
      this.#reported.delete(sql);
      return found;
    } catch (error) {
      if (error instanceof PostgresError && isDefect(error)) {
        this.#defects++;
        if (this.#reported.get(sql) !== error.message) this.options.defective?.(nameOf(sql), error);
        this.#reported.set(sql, error.message);
      }
      throw error;
    }
  }
}

function nameOf(sql: string): string {
  const [, verb = "", table = ""] = /^\s*(\w+)(?:[^]*?\b(?:INTO|FROM|UPDATE)\s+(\w+))?/.exec(sql) ?? [];
  return `${verb} ${verb === "UPDATE" ? /^\s*UPDATE\s+(\w+)/.exec(sql)?.[1] : table}`.trimEnd();
}

const CHECKED = "connection_check";
