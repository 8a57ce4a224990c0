import type { Duplex } from "node:stream";
import process from "node:process";
import postgres from "postgres";
import type { Row } from "../database.ts";
import { PostgresError } from "./postgres_failure.ts";

export interface PostgresLogin {
  readonly database: string;
  readonly user: string;
  readonly password: string; // empty if the server requires none
}

/** Schema of our tables. */
export const POSTGRES_SCHEMA = "authserver";

/** Channel of change notifications. */
export const CHANGES_CHANNEL = "authserver_changed";

/** Called with the name of a changed table. */
export type ChangeListener = (table: string) => void;

type Value = string | number | null;

interface Driver {
  unsafe(text: string, values?: Value[], options?: { prepare?: boolean }): Promise<readonly Row[]>;
}

/** The driver returns int8 as text; our values are safe integers. */
const BIGINT = { to: 20, from: [20], parse: Number, serialize: String };

/** Connection to one server, without the driver's reconnect, failover and unbounded queue. */
export class PostgresConnection {
  readonly closed: Promise<void>; // resolves when the connection is unusable
  /** Cancels running statements: the driver does not report all that fail with the connection. */
  readonly #inFlight = new Set<(error: PostgresError) => void>();

  private constructor(readonly driver: Driver, readonly socket: Duplex) {
    this.closed = new Promise((resolve) => {
      if (socket.destroyed) return resolve(); // the `close` event may be over
      socket.once("close", () => {
        for (const giveUp of this.#inFlight) giveUp(connectionLost());
        resolve();
      });
    });
  }

  /** Authenticates at a server. Destroying the socket cancels it. @throws {PostgresError} */
  static async open(
    socket: Duplex,
    { database, user, password }: PostgresLogin,
    listener?: ChangeListener,
  ): Promise<PostgresConnection> {
    let given = false;
    const options = {
      socket: () => {
        if (given) throw connectionLost();
        given = true;
        return socket;
      },
      host: "database", // only in the driver's messages
      port: 5432,
      database,
      user,
      password: () => password,
      max: 1,
      ssl: false, // the socket has TLS
      prepare: true,
      fetch_types: false,
      connect_timeout: 0,
      max_lifetime: null,
      backoff: () => 0,
      onnotice: () => {},
      onnotify: (_channel: string, table: string) => listener?.(table),
      types: { bigint: BIGINT },
      connection: { application_name: "authserver" },
    };
    const connection = new PostgresConnection(withoutEnvironment(() => postgres(options)), socket);
    await connection.run("SELECT 1").catch((error) => {
      connection.destroy();
      throw error;
    });
    return connection;
  }

  get isAlive(): boolean {
    return !this.socket.destroyed;
  }

  /** Runs one statement with parameters. @throws {PostgresError} */
  query(text: string, values: Value[]): Promise<readonly Row[]> {
    return this.#send(() => this.driver.unsafe(text, values, { prepare: true }));
  }

  /** Runs statements without parameters; only a single statement returns rows. @throws {PostgresError} */
  run(text: string): Promise<readonly Row[]> {
    return this.#send(() => this.driver.unsafe(text));
  }

  #send(statement: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
    if (!this.isAlive) return Promise.reject(connectionLost());
    return new Promise((resolve, reject) => {
      this.#inFlight.add(reject);
      statement().then(
        (rows) => resolve([...rows]), // without the driver's additions
        (error: unknown) => reject(new PostgresError(error)),
      ).finally(() => this.#inFlight.delete(reject));
    });
  }

  destroy(): void {
    this.socket.destroy();
  }
}

/** Hides the environment, which workers may not read, from the driver, which falls back to it for missing options. */
function withoutEnvironment<T>(action: () => T): T {
  const { env } = process;
  process.env = {};
  try {
    return action();
  } finally {
    process.env = env;
  }
}

function connectionLost(): PostgresError {
  return new PostgresError(Object.assign(new Error("the connection is lost"), { code: "CONNECTION_CLOSED" }));
}
