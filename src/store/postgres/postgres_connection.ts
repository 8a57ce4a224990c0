import type { Duplex } from "node:stream";
import process from "node:process";
import type { Row } from "../database.ts";
import { PostgresError } from "./postgres_failure.ts";

/** Whom to be on the server, and in which database. */
export interface PostgresLogin {
  readonly database: string;
  readonly user: string;
  /** Empty where the server asks for none. */
  readonly password: string;
}

/** Name of the schema that has our tables. */
export const POSTGRES_SCHEMA = "authserver";

/** Channel on which triggers tell of tables that were changed. */
export const CHANGES_CHANNEL = "authserver_changed";

/** What a connection hears: the name of a table, when somebody changed it. */
export type Heard = (table: string) => void;

type Value = string | number | null;

/** What we use of the driver. */
interface Driver {
  unsafe(text: string, values?: Value[], options?: { prepare?: boolean }): Promise<readonly Row[]>;
}

/** Numbers of eight bytes come as text otherwise; ours are all exact. */
const BIGINT = { to: 20, from: [20], parse: Number, serialize: String };

/**
 * One connection to one server. The driver's own ways to connect anew, to queue and to look for other servers are not
 * used: its queue has no end while the server is down, and what follows in a transaction would go to a new connection.
 */
export class PostgresConnection {
  readonly #driver: Driver;
  readonly #socket: Duplex;
  #alive = true;
  /** Resolves when it is of no use any more. */
  readonly closed: Promise<void>;
  /** Gives up statements under way: of some that are lost with the connection the driver never tells. */
  readonly #underWay = new Set<(error: PostgresError) => void>();

  private constructor(driver: Driver, socket: Duplex) {
    this.#driver = driver;
    this.#socket = socket;
    this.closed = new Promise((resolve) =>
      socket.once("close", () => {
        this.#alive = false;
        for (const giveUp of this.#underWay) giveUp(connectionLost());
        resolve();
      })
    );
  }

  /**
   * Signs in at a server. What it waits for ends when the socket is destroyed.
   * @throws {PostgresError} Such as for a wrong password.
   */
  static async open(
    socket: Duplex,
    { database, user, password }: PostgresLogin,
    heard?: Heard,
  ): Promise<PostgresConnection> {
    const { default: postgres } = await import("postgres");
    let given = false;
    const options = {
      socket: () => {
        if (given) throw connectionLost();
        given = true;
        return socket;
      },
      host: "database", // for the driver's messages, which nobody sees
      port: 5432,
      database,
      user,
      password: () => password,
      max: 1,
      ssl: false, // the socket's affair
      prepare: true,
      fetch_types: false,
      idle_timeout: undefined,
      connect_timeout: 0,
      max_lifetime: null,
      max_pipeline: 100,
      keep_alive: 60,
      backoff: () => 0,
      debug: false,
      target_session_attrs: undefined,
      onnotice: () => {},
      onnotify: (_channel: string, table: string) => heard?.(table),
      types: { bigint: BIGINT },
      connection: { application_name: "authserver" },
    };
    const connection = new PostgresConnection(withoutEnvironment(() => postgres(options)), socket);
    try {
      await connection.run("SELECT 1");
    } catch (error) {
      connection.destroy();
      throw error;
    }
    return connection;
  }

  /** Whether it may be used further. */
  get isAlive(): boolean {
    return this.#alive;
  }

  /** One statement with values; `$1` is the first. @throws {PostgresError} */
  query(text: string, values: Value[]): Promise<readonly Row[]> {
    return this.#told(() => this.#driver.unsafe(text, values, { prepare: true }));
  }

  /** Statements without values, with semicolons between; rows come of a single one only. @throws {PostgresError} */
  run(text: string): Promise<readonly Row[]> {
    return this.#told(() => this.#driver.unsafe(text));
  }

  #told(statement: () => Promise<readonly Row[]>): Promise<readonly Row[]> {
    if (!this.#alive) return Promise.reject(connectionLost());
    return new Promise((resolve, reject) => {
      this.#underWay.add(reject);
      statement().then(
        (rows) => resolve(alone(rows)),
        (error: unknown) => reject(new PostgresError(error)),
      ).finally(() => this.#underWay.delete(reject));
    });
  }

  /** Ends it at once: what is under way fails. */
  destroy(): void {
    this.#alive = false;
    this.#socket.destroy();
  }
}

/**
 * The driver looks into the environment for whatever it is not told, and for its name in each case. There is nothing for
 * it: neither is the environment the place of our configuration, nor may a worker read it.
 */
function withoutEnvironment<T>(action: () => T): T {
  const { env } = process;
  process.env = {};
  try {
    return action();
  } finally {
    process.env = env;
  }
}

/** Rows as the driver gives them, without what it adds to their list. */
function alone(rows: readonly Row[]): readonly Row[] {
  return [...rows];
}

function connectionLost(): PostgresError {
  return new PostgresError(Object.assign(new Error("the connection is lost"), { code: "CONNECTION_CLOSED" }));
}
