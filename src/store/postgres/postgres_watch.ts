import { coalescedTimeout, realTime, type Schedule } from "../../model/clock.ts";
import { messageOf } from "../../model/text.ts";
import type { DatabaseState } from "./database_state.ts";
import { type ChangeListener, CHANGES_CHANNEL, type PostgresConnection } from "./postgres_connection.ts";
import { IS_READ_ONLY } from "./postgres_servers.ts";

const REREAD_MS = 15_000;

const PING_MS = 5_000; // interval of pings, since a silent connection may be dead

const PAUSE_MS = 250;

/** Ping; fails without our tables; finds stuck changes of any instance: sessions outlive connections. */
const ALIVE = `SELECT ${IS_READ_ONLY} AS "readOnly", pg_backend_pid() AS backend, EXISTS (
  SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
    AND query LIKE '%; COMMIT' AND query_start < now() - interval '5 s') AS stuck FROM schema_version`;

/** Message for a connection without a session of its own. */
export const SHARED_SESSIONS =
  "notifications from other instances do not arrive: a pooler in between must give each connection a session of its own " +
  "(pgbouncer: pool_mode = session)";

type ListenConnection = Pick<PostgresConnection, "run" | "destroy" | "isAlive" | "closed">;

interface Servers {
  /** @throws If no server is available. */
  open(signal: AbortSignal, listener: ChangeListener): Promise<ListenConnection>;
}

interface WatchParts {
  readonly timeoutMs: number; // timeout of connecting and of each response
  readonly state: Pick<DatabaseState, "setListening" | "isListening" | "waitMs">;
  /** Called when the server stopped responding or became read-only, to close its other connections, too. */
  readonly unusable?: () => void;
  readonly pinged?: (isStuck: boolean) => void; // called after each ping; stuck: changes are not committed
  readonly schedule?: Schedule;
}

/** Listens for notifications on its own connection and tracks which tables may have changed; after a reconnect, all. */
export class PostgresWatch {
  readonly #versions = new Map<string, number>();
  readonly #closing = new AbortController();
  #all = 0; // increases when all tables may have changed
  #sessions = 0;
  #connection: ListenConnection | undefined;
  #wake: (() => void) | undefined;
  readonly #listening = Promise.withResolvers<void>();
  readonly #listeners = new Set<ChangeListener>();

  constructor(readonly servers: Servers, readonly parts: WatchParts) {
    this.#run();
  }

  get sessions(): number {
    return this.#sessions;
  }

  get isListening(): boolean {
    return this.parts.state.isListening && (this.#connection?.isAlive ?? false);
  }

  get listening(): Promise<void> {
    return this.#listening.promise;
  }

  /** Calls a listener after each change of a version, with the table; empty: all may have changed. */
  onChange(listener: ChangeListener): void {
    this.#listeners.add(listener);
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
        this.parts.unusable?.();
        this.#disconnect("the server takes no changes any more");
      } catch (error) {
        this.#disconnect(messageOf(error));
      }
      await this.#pause(Math.max(PAUSE_MS, this.parts.state.waitMs));
    }
  }

  async #listen(): Promise<void> {
    const connection = await this.#withTimeout((signal) =>
      this.servers.open(signal, (table) => {
        this.#versions.set(table, (this.#versions.get(table) ?? 0) + 1);
        this.#notify(table);
      })
    );
    this.#connection = connection;
    await this.#query(connection, `LISTEN ${CHANGES_CHANNEL}`);
    this.#all++;
    this.#sessions++;
    this.parts.state.setListening();
    this.#notify();
    this.#listening.resolve();
    void connection.closed.then(() => this.#connection === connection && this.#wake?.());
    let reread = 0;
    let backend: unknown;
    while (!this.#closing.signal.aborted) {
      await this.#pause(PING_MS);
      const [state] = await this.#query(connection, ALIVE);
      if (state?.["readOnly"] !== false) return;
      if (backend !== undefined && state["backend"] !== backend) throw new Error(SHARED_SESSIONS);
      backend = state["backend"];
      if ((reread += PING_MS) >= REREAD_MS) {
        reread = 0;
        this.#all++;
        this.#notify();
      }
      this.parts.pinged?.(state["stuck"] === true);
    }
  }

  /** @param table Absent: all may have changed. */
  #notify(table = ""): void {
    for (const listener of this.#listeners) listener(table);
  }

  #disconnect(why: string): void {
    this.#connection?.destroy();
    this.#connection = undefined;
    if (!this.#closing.signal.aborted) this.parts.state.setListening(why);
  }

  /** Sends a query; closes the connection after a timeout. */
  async #query(connection: ListenConnection, text: string) {
    return await this.#withTimeout(async (signal) => {
      const end = () => {
        connection.destroy();
        this.parts.unusable?.();
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

  async #withTimeout<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const { schedule = realTime, timeoutMs } = this.parts;
    const cancel = schedule(timeoutMs, () => late.abort(new Error("no answer in time")));
    try {
      return await action(AbortSignal.any([late.signal, this.#closing.signal]));
    } catch (error) {
      late.signal.throwIfAborted(); // the timeout closed it
      throw error;
    } finally {
      cancel();
    }
  }

  /** Waits for a time, for closing, or, while listening, for the connection's end. */
  #pause(ms: number): Promise<void> {
    const { schedule = coalescedTimeout } = this.parts;
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
