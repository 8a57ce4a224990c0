import { stopwatch } from "../../model/clock.ts";
import type { Clock, Stopwatch } from "../../model/clock.ts";
import { checkValues, type Database, type Manner, type Row, type Values, type Work } from "../database.ts";
import type { PostgresConnection, PostgresLogin } from "./postgres_connection.ts";
import { DatabaseAway, meaningOf, PostgresError, toFailure } from "./postgres_failure.ts";
import { type Deadline, PostgresPool } from "./postgres_pool.ts";
import { checkSchema } from "./postgres_schema.ts";
import { type PostgresServer, PostgresServers, type Reach } from "./postgres_servers.ts";
import { reachPlain } from "./reach_plain.ts";
import { forPostgres, inOrder } from "./postgres_sql.ts";
import { type Changed, PostgresWatch } from "./postgres_watch.ts";

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
  /** Told when it turns out that the database is there or, and why, that it is away. */
  readonly changed?: Changed;
  readonly elapsed?: Stopwatch;
  /** Whether the tables are those that are needed, by default ours. @throws {DatabaseFailure} If not. */
  readonly checkSchema?: (connection: PostgresConnection) => Promise<void>;
  /** In the place of the database's own, for tests. */
  readonly clock?: Clock;
}

/** Pauses between tries of what did not happen, in milliseconds: each twice the one before. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 250;

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
  readonly #servers: PostgresServers;
  readonly #pool: PostgresPool;
  readonly #watch: PostgresWatch;
  readonly #statements = new Map<string, ReturnType<typeof forPostgres>>();
  #isOpen = true;

  /** Connects when there is something to do, and begins to listen for what others change. */
  constructor(options: PostgresOptions) {
    const { servers, login, reach = reachPlain, connections, timeoutMs, elapsed = stopwatch, changed } =
      options;
    this.#options = options;
    this.#elapsed = elapsed;
    this.#servers = new PostgresServers({
      servers,
      login,
      reach,
      checkSchema: options.checkSchema ?? checkSchema,
      timeoutMs,
      elapsed,
    });
    this.#pool = new PostgresPool(this.#servers, Math.max(1, connections - 1));
    this.#watch = new PostgresWatch(this.#servers, { timeoutMs, changed });
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether somebody was there when last looked, some seconds ago at most. */
  get isReachable(): boolean {
    return this.#watch.isListening;
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
    this.#watch.close();
    this.#pool.close();
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
          if (!maybeLater || !this.#isOpen || this.#servers.areAway || deadline.left() <= pause) throw error;
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

  #rows(on: PostgresConnection, sql: string, values: Values): Promise<readonly Row[]> {
    const { clock } = this.#options;
    const statement = this.#statements.get(sql) ?? forPostgres(sql, clock !== undefined);
    this.#statements.set(sql, statement);
    checkValues(values);
    const time = clock?.();
    const bound = time === undefined ? values : { ...values, now: Math.floor(time / 1000), clock: time };
    return on.query(statement.text, inOrder(statement.names, bound));
  }
}

/** Name of the key of the ids of changes. */
const ID_KEY = "change_made_pkey";

/** Begins the transaction: alone if so asked, and with its id, which nobody else has unless this very change was made. */
async function begin(
  on: PostgresConnection,
  { id, manner: { alone, asyncCommit = false } }: Change<unknown>,
  deadline: Deadline,
): Promise<void> {
  const settings = [`statement_timeout = ${deadline.left()}`, ...asyncCommit ? ["synchronous_commit = off"] : []];
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
