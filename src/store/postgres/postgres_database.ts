import { stopwatch } from "../../model/clock.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import { type DatabaseCondition, DatabaseState } from "./database_state.ts";
import {
  BATCH,
  checkValues,
  type Database,
  DatabaseAway,
  DatabaseFailure,
  deleteInBatches,
  type Manner,
  type Row,
  row,
  type Values,
  type Work,
} from "../database.ts";
import { unlessAborted } from "../../model/unless_aborted.ts";
import { CHANGES_CHANNEL, type PostgresConnection, type PostgresLogin } from "./postgres_connection.ts";
import { isDefect, meaningOf, PostgresError, toFailure } from "./postgres_failure.ts";
import { type Deadline, PostgresPool } from "./postgres_pool.ts";
import { checkSchema } from "./postgres_schema.ts";
import { type PostgresServer, PostgresServers, type Reach } from "./postgres_servers.ts";
import { reachPlain } from "./reach_plain.ts";
import { forPostgres, inOrder } from "./postgres_sql.ts";
import { PostgresWatch, SHARED_SESSIONS } from "./postgres_watch.ts";

/** Which database, and how to deal with it. */
export interface PostgresOptions {
  /** Of one database: the primary server and those that may take its place, in any order. */
  readonly servers: readonly PostgresServer[];
  readonly login: PostgresLogin;
  /** TCP without TLS, if left out. */
  readonly reach?: Reach;
  /** How many connections at a time: one hears what others change, and at least one works. */
  readonly connections: number;
  /** Longest time for one piece of work, in milliseconds. */
  readonly timeoutMs: number;
  /** Told when it turns out to be up, degraded or away. */
  readonly changed?: (condition: DatabaseCondition) => void;
  /** Told of a statement that the database refuses although it could do it: an error of the service. */
  readonly defective?: (statement: string, error: PostgresError) => void;
  readonly elapsed?: Stopwatch;
  /** Whether the tables are those that are needed, by default ours. @throws {DatabaseFailure} If not. */
  readonly checkSchema?: (connection: PostgresConnection) => Promise<void>;
  /** In the place of the database's own, for tests. */
  readonly clock?: Clock;
}

/** Pauses between tries of what did not happen, in milliseconds: each twice the one before. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;

/** How long ids of changes are kept: far longer than anybody asks for them. They are deleted so often, too. */
const KEEP_IDS_MS = 10 * 60_000;
const CLEAR_IDS = `DELETE FROM change_made WHERE id IN (
  SELECT id FROM change_made WHERE at < :now - :kept ORDER BY at LIMIT ${BATCH}) RETURNING id`;

/** How a database is, for health, status and metrics. */
export type DatabaseStatus = DatabaseCondition & {
  /** Milliseconds for which it has been away; 0 if it is not. */
  readonly awayMs: number;
  /** Statements since the start that failed for a defect of the service. */
  readonly defects: number;
};

/** A change on its way: what is known of its earlier tries. */
interface Change<T> {
  readonly id: string;
  readonly work: () => Work<T>;
  readonly manner: Manner;
  /** What came of a try that was about to be kept when the connection was lost: it may have been. */
  kept?: { readonly result: T };
}

/**
 * A PostgreSQL database that several instances share. Each piece of work has a deadline, which the server knows too; what
 * certainly did not happen is tried again until then. Each change leaves its id, so that after a lost connection it can be
 * seen whether it happened: it happens once, or not at all.
 */
export class PostgresDatabase implements Database {
  readonly #options: PostgresOptions;
  readonly #elapsed: Stopwatch;
  readonly #state: DatabaseState;
  readonly #pool: PostgresPool;
  readonly #watch: PostgresWatch;
  readonly #statements = new Map<string, ReturnType<typeof forPostgres>>();
  #isOpen = true;
  /** Statements that failed for a defect of the service. */
  #defects = 0;
  /** When ids of changes were deleted last. */
  #clearedAt: number;

  /** Connects when there is something to do, and begins to listen for what others change. */
  constructor(options: PostgresOptions) {
    const { servers, login, reach = reachPlain, connections, timeoutMs, elapsed = stopwatch, changed } =
      options;
    this.#options = options;
    this.#elapsed = elapsed;
    this.#clearedAt = elapsed() - KEEP_IDS_MS * Math.random();
    this.#state = new DatabaseState({ elapsed, toleranceMs: timeoutMs, changed });
    const all = new PostgresServers({
      servers,
      login,
      reach,
      checkSchema: options.checkSchema ?? checkSchema,
      timeoutMs,
      state: this.#state,
    });
    this.#pool = new PostgresPool(all, this.#state, Math.max(1, connections - 1));
    this.#watch = new PostgresWatch(all, {
      timeoutMs,
      state: this.#state,
      unusable: () => this.#pool.leaveIdle(),
      tried: () => this.#tend(),
    });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether changes of other instances are heard of. */
  get isReachable(): boolean {
    return this.#watch.isListening;
  }

  /** As connections show it, which learn of an end within some seconds. */
  get status(): DatabaseStatus {
    const { condition, awayMs } = this.#state;
    return { ...condition, awayMs, defects: this.#defects };
  }

  read<T>(work: () => Work<T>): Promise<T> {
    return this.#untilDone((deadline) => this.#pool.use(deadline, (on) => this.#walk(on, work())));
  }

  change<T>(work: () => Work<T>, manner: Manner = {}): Promise<T> {
    const change: Change<T> = { id: crypto.randomUUID(), work, manner };
    return this.#untilDone((deadline) =>
      this.#pool.use(deadline, (on) => this.#transact(on, change, deadline))
    );
  }

  version(table: string): number {
    return this.#watch.version(table);
  }

  close(): void {
    this.#isOpen = false;
    this.#state.close();
    this.#watch.close();
    this.#pool.close();
  }

  /**
   * Tries out whether instances hear of each other: notifies itself over another connection than the one that listens.
   * @throws {DatabaseFailure} If it does not, as with a pooler that shares sessions between connections.
   */
  async checkSessions(): Promise<void> {
    const { deadline: { signal }, settle } = this.#deadline();
    try {
      await unlessAborted(this.#watch.listening, signal);
      const heard = this.#watch.heard(CHECKED);
      await this.read(() => row(`SELECT pg_notify('${CHANGES_CHANNEL}', '${CHECKED}')`, {}));
      await unlessAborted(heard, signal).catch(() => {
        throw new DatabaseFailure(SHARED_SESSIONS);
      });
    } finally {
      settle();
    }
  }

  /** Tries until it is done, will not go, or the time is over. */
  async #untilDone<T>(attempt: (deadline: Deadline) => Promise<T>): Promise<T> {
    const { deadline, settle } = this.#deadline();
    try {
      for (let pause = FIRST_PAUSE_MS;; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
        try {
          return await attempt(deadline);
        } catch (error) {
          const maybeLater = error instanceof PostgresError
            ? meaningOf(error) !== "refused"
            : error instanceof DatabaseAway;
          if (maybeLater && deadline.signal.aborted) throw deadline.signal.reason;
          if (!maybeLater || !this.#isOpen || this.#state.refusesWork || deadline.left() <= pause) {
            throw error;
          }
          await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random() / 2)));
        }
      }
    } catch (error) {
      throw toFailure(error);
    } finally {
      settle();
    }
  }

  #deadline(): { deadline: Deadline; settle: () => void } {
    const { timeoutMs } = this.#options;
    const end = this.#elapsed() + timeoutMs;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new DatabaseAway("no answer in time")), timeoutMs);
    const left = () => Math.max(1, Math.ceil(end - this.#elapsed()));
    return { deadline: { signal: late.signal, left }, settle: () => clearTimeout(timer) };
  }

  async #transact<T>(on: PostgresConnection, change: Change<T>, deadline: Deadline): Promise<T> {
    try {
      await begin(on, change, deadline);
      change.kept = undefined; // nobody has its id: no earlier try was kept
      const result = await this.#walk(on, change.work());
      change.kept = { result };
      // The limit is off: a commit that it ended while standbys are waited for would be taken for one that they have.
      await on.run("SET LOCAL statement_timeout = 0; COMMIT");
      return result;
    } catch (error) {
      const before = change.kept;
      if (on.isAlive) await on.run("ROLLBACK").catch(() => on.destroy());
      if (before !== undefined && isOfId(error)) return before.result;
      throw error;
    }
  }

  async #walk<T>(on: PostgresConnection, work: Work<T>): Promise<T> {
    let step = work.next();
    while (step.done !== true) step = work.next(await this.#rows(on, step.value.sql, step.value.values));
    return step.value;
  }

  /** Opens a connection when none could be opened and nobody needs one; deletes old ids of changes. */
  #tend(): void {
    const now = this.#elapsed();
    if (this.#state.isTrialDue) {
      const { deadline, settle } = this.#deadline();
      void this.#pool.refill(deadline).catch(() => {}).finally(settle); // the state knows why
    }
    if (now - this.#clearedAt < KEEP_IDS_MS) return;
    this.#clearedAt = now;
    void deleteInBatches(this, CLEAR_IDS, { kept: KEEP_IDS_MS / 1000 }).catch(() => {}); // then the next time
  }

  async #rows(on: PostgresConnection, sql: string, values: Values): Promise<readonly Row[]> {
    const { clock } = this.#options;
    const statement = this.#statements.get(sql) ?? forPostgres(sql, clock !== undefined);
    this.#statements.set(sql, statement);
    checkValues(values);
    const time = clock?.();
    const bound = time === undefined ? values : { ...values, now: Math.floor(time / 1000), clock: time };
    try {
      return await on.query(statement.text, inOrder(statement.names, bound));
    } catch (error) {
      if (error instanceof PostgresError && isDefect(error)) {
        this.#defects++;
        this.#options.defective?.(nameOf(sql), error);
      }
      throw error;
    }
  }
}

/** Name of a statement: what it does, and the table. */
function nameOf(sql: string): string {
  const [, verb = "", table = ""] = /^\s*(\w+)(?:[^]*?\b(?:INTO|FROM|UPDATE)\s+(\w+))?/.exec(sql) ?? [];
  return `${verb} ${verb === "UPDATE" ? /^\s*UPDATE\s+(\w+)/.exec(sql)?.[1] : table}`.trimEnd();
}

/** What an instance notifies itself with. */
const CHECKED = "connection_check";

/** Name of the key of the ids of changes. */
const ID_KEY = "change_made_pkey";

/** Begins the transaction: alone if so asked, and with its id, which nobody else has unless this very change was made. */
async function begin(
  on: PostgresConnection,
  { id, manner: { alone, asyncCommit = false } }: Change<unknown>,
  deadline: Deadline,
): Promise<void> {
  const settings = [
    `statement_timeout = ${deadline.left()}`,
    ...asyncCommit ? ["synchronous_commit = off"] : [],
  ];
  const steps = [on.run(["BEGIN", ...settings.map((setting) => `SET LOCAL ${setting}`)].join("; "))];
  if (alone !== undefined) {
    steps.push(on.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [alone]));
  }
  steps.push(
    on.query("INSERT INTO change_made (id, at) VALUES ($1, extract(epoch FROM statement_timestamp()))", [id]),
  );
  await Promise.all(steps);
}

function isOfId(error: unknown): boolean {
  return error instanceof PostgresError && error.code === "23505" && error.message.includes(ID_KEY);
}
