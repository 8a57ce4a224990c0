import { coalescedTimeout, realTime, type Schedule } from "../../model/clock.ts";
import { messageOf } from "../../model/text.ts";
import type { DatabaseState } from "./database_state.ts";
import { CHANGES_CHANNEL, type Heard, type PostgresConnection } from "./postgres_connection.ts";
import { TAKES_NO_CHANGES } from "./postgres_servers.ts";

const REREAD_MS = 15_000;

/** Interval of pings, since a silent connection may be dead. */
const PING_MS = 5_000;

const PAUSE_MS = 250;

/** Ping, which also looks for changes of any instance that cannot end: their sessions outlive the connections. */
const ALIVE = `SELECT ${TAKES_NO_CHANGES} AS "readOnly", pg_backend_pid() AS backend, EXISTS (
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
    AND query LIKE '%; COMMIT' AND query_start < now() - interval '5 s') AS stuck`;

/** Message for a connection without a session of its own. */
export const SHARED_SESSIONS =
  "notifications from other instances do not arrive: a pooler in between must give each connection a session of its own " +
  "(pgbouncer: pool_mode = session)";

type Listener = Pick<PostgresConnection, "run" | "destroy" | "isAlive" | "closed">;

interface Servers {
  /** @throws If no server is available. */
  open(signal: AbortSignal, heard: Heard): Promise<Listener>;
}

interface WatchParts {
  readonly timeoutMs: number; // timeout of connecting and of each response
  readonly state: Pick<DatabaseState, "listens" | "hears" | "waitMs">;
  /** Called when the server stopped responding or became read-only, to close its other connections, too. */
  readonly unusable?: () => void;
  readonly tried?: (isStuck: boolean) => void; // called after each ping; stuck: changes are not committed
  readonly schedule?: Schedule;
}

/** Listens for notifications on its own connection and tracks which tables may have changed; after a reconnect, all. */
export class PostgresWatch {
  readonly #servers: Servers;
  readonly #versions = new Map<string, number>();
  readonly #closing = new AbortController();
  #all = 0; // increases when all tables may have changed
  #sessions = 0;
  #connection: Listener | undefined;
  readonly #parts: WatchParts;
  #wake: (() => void) | undefined;
  readonly #listening = Promise.withResolvers<void>();
  readonly #heard = new Set<Heard>();

  constructor(servers: Servers, parts: WatchParts) {
    this.#servers = servers;
    this.#parts = parts;
    this.#run();
  }

  get sessions(): number {
    return this.#sessions;
  }

  get isListening(): boolean {
    return this.#parts.state.hears && (this.#connection?.isAlive ?? false);
  }

  get listening(): Promise<void> {
    return this.#listening.promise;
  }

  /** Calls a listener after each change of a version, with the table; empty: all may have changed. */
  onChange(listener: Heard): void {
    this.#heard.add(listener);
  }

  version(table: string): number {
    if (!this.isListening) this.#all++;
    return this.#all + (this.#versions.get(table) ?? 0);
  }

  close(): void {
    this.#closing.abort();
    this.#connection?.destroy();
    this.#wake?.();
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        await this.#listen();
        this.#parts.unusable?.();
        this.#ends("the server takes no changes any more");
      } catch (error) {
        this.#ends(messageOf(error));
      }
      await this.#pause(Math.max(PAUSE_MS, this.#parts.state.waitMs));
    }
  }

  async #listen(): Promise<void> {
    const connection = await this.#inTime((signal) =>
      this.#servers.open(signal, (table) => {
        this.#versions.set(table, (this.#versions.get(table) ?? 0) + 1);
        this.#tell(table);
      })
    );
    this.#connection = connection;
    await this.#asked(connection, `LISTEN ${CHANGES_CHANNEL}`);
    this.#all++;
    this.#sessions++;
    this.#parts.state.listens();
    this.#tell();
    this.#listening.resolve();
    void connection.closed.then(() => this.#connection === connection && this.#wake?.());
    let reread = 0;
    let backend: unknown;
    while (!this.#closing.signal.aborted) {
      await this.#pause(PING_MS);
      const [state] = await this.#asked(connection, ALIVE);
      if (state?.["readOnly"] !== false) return;
      if (backend !== undefined && state["backend"] !== backend) throw new Error(SHARED_SESSIONS);
      backend = state["backend"];
      if ((reread += PING_MS) >= REREAD_MS) {
        reread = 0;
        this.#all++;
        this.#tell();
      }
      this.#parts.tried?.(state["stuck"] === true);
    }
  }

  /** @param table Absent: all may have changed. */
  #tell(table = ""): void {
    for (const hear of this.#heard) hear(table);
  }

  #ends(why: string): void {
    this.#connection?.destroy();
    this.#connection = undefined;
    if (!this.#closing.signal.aborted) this.#parts.state.listens(why);
  }

  /** Sends a query; closes the connection after a timeout. */
  async #asked(connection: Listener, text: string) {
    return await this.#inTime(async (signal) => {
      const end = () => {
        connection.destroy();
        this.#parts.unusable?.();
      };
      signal.addEventListener("abort", end, { once: true });
      try {
        return await connection.run(text);
      } finally {
        // Otherwise the long-lived signal collects a listener per query.
        signal.removeEventListener("abort", end);
      }
    });
  }

  async #inTime<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const { schedule = realTime, timeoutMs } = this.#parts;
    const inTime = schedule(timeoutMs, () => late.abort(new Error("no answer in time")));
    try {
      return await action(AbortSignal.any([late.signal, this.#closing.signal]));
    } catch (error) {
      late.signal.throwIfAborted(); // the timeout closed it
      throw error;
    } finally {
      inTime();
    }
  }

  /** Waits for a time, for closing, or, while listening, for the connection's end. */
  #pause(ms: number): Promise<void> {
    const { schedule = coalescedTimeout } = this.#parts;
    return new Promise((resolve) => {
      if (this.#closing.signal.aborted) return resolve();
      const callOff = schedule(ms, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}
