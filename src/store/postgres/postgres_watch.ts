import { realTime, type Schedule } from "../../model/schedule.ts";
import { CHANGES_CHANNEL, type Heard, type PostgresConnection } from "./postgres_connection.ts";
import { TAKES_NO_CHANGES } from "./postgres_servers.ts";

/** After this time everything is read again, even if nobody said that it changed. */
const REREAD_MS = 15_000;

/** How often the connection is tried out, since a silent one may be dead. */
const PING_MS = 2_000;

/** Pauses between tries to find a server again. */
const PAUSE_MS = 250;

/** How long ids of changes are kept: far longer than anybody asks for them. Looked at so often, too. */
const KEEP_IDS_MS = 10 * 60_000;

/** What is used of a connection. */
type Listener = Pick<PostgresConnection, "run" | "destroy" | "isAlive">;

/** Who opens connections. */
interface Servers {
  /** @throws If no server can be reached. */
  open(signal: AbortSignal, heard: Heard): Promise<Listener>;
}

/** Told of each change of whether there is a server, with the reason why not. */
export type Changed = (isThere: boolean, why?: string) => void;

/**
 * Hears on a connection of its own what others change, and so knows for each table whether it may be different from what
 * was read. Whatever happened while there was no connection is unknown: then, all tables are.
 */
export class PostgresWatch {
  readonly #servers: Servers;
  readonly #timeoutMs: number;
  readonly #versions = new Map<string, number>();
  readonly #closing = new AbortController();
  /** Counts when everything may be different. */
  #all = 0;
  #connection: Listener | undefined;
  /** Whether the connection does, by now. */
  #hears = false;
  readonly #changed: Changed;
  readonly #schedule: Schedule;
  /** What was told last. */
  #told: boolean | undefined;
  #wake: (() => void) | undefined;

  /** @param options.timeoutMs Longest time for a connection and for each answer, in milliseconds. */
  constructor(servers: Servers, { timeoutMs, changed = () => {}, schedule = realTime }: {
    readonly timeoutMs: number;
    readonly changed?: Changed | undefined;
    readonly schedule?: Schedule;
  }) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
    this.#changed = changed;
    this.#schedule = schedule;
    this.#run();
  }

  get isListening(): boolean {
    return this.#hears && (this.#connection?.isAlive ?? false);
  }

  version(table: string): number {
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
        this.#tell(false, "the server takes no changes any more");
      } catch (error) {
        this.#tell(false, error instanceof Error ? error.message : String(error));
      }
      this.#connection?.destroy();
      this.#connection = undefined;
      this.#hears = false;
      await this.#pause(PAUSE_MS);
    }
  }

  /** Listens until the connection is lost. */
  async #listen(): Promise<void> {
    const connection = await this.#inTime((signal) =>
      this.#servers.open(signal, (table) => this.#versions.set(table, (this.#versions.get(table) ?? 0) + 1))
    );
    this.#connection = connection;
    await this.#asked(connection, `LISTEN ${CHANGES_CHANNEL}`);
    this.#all++;
    this.#hears = true;
    this.#tell(true);
    let [reread, cleared] = [0, KEEP_IDS_MS * Math.random()];
    while (!this.#closing.signal.aborted) {
      await this.#pause(PING_MS);
      const [state] = await this.#asked(connection, `SELECT ${TAKES_NO_CHANGES} AS "readOnly"`);
      if (state?.["readOnly"] !== false) return;
      if ((reread += PING_MS) >= REREAD_MS) {
        reread = 0;
        this.#all++;
      }
      if ((cleared += PING_MS) >= KEEP_IDS_MS) {
        cleared = 0;
        const oldest = `extract(epoch FROM statement_timestamp()) - ${KEEP_IDS_MS / 1000}`;
        await this.#asked(connection, `DELETE FROM change_made WHERE at < ${oldest}`);
      }
    }
  }

  #tell(isThere: boolean, why?: string): void {
    if (this.#told === isThere || this.#closing.signal.aborted) return;
    this.#told = isThere;
    this.#changed(isThere, why);
  }

  /** What the connection answers; it is ended if there is no answer in time. */
  async #asked(connection: Listener, text: string) {
    return await this.#inTime(async (signal) => {
      const end = () => connection.destroy();
      signal.addEventListener("abort", end, { once: true });
      try {
        return await connection.run(text);
      } finally {
        // Else the signal of the end would keep one for each time it was asked.
        signal.removeEventListener("abort", end);
      }
    });
  }

  async #inTime<T>(action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const inTime = this.#schedule(this.#timeoutMs, () => late.abort(new Error("no answer in time")));
    try {
      return await action(AbortSignal.any([late.signal, this.#closing.signal]));
    } catch (error) {
      late.signal.throwIfAborted(); // that is why the connection was ended
      throw error;
    } finally {
      inTime();
    }
  }

  /** Until the time is over or it is closed, or, while listening, nothing else. */
  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.#closing.signal.aborted) return resolve();
      const callOff = this.#schedule(ms, resolve);
      this.#wake = () => {
        callOff();
        resolve();
      };
    });
  }
}
