import type { Duplex } from "node:stream";
import { DatabaseAway, DatabaseFailure } from "../database.ts";
import type { DatabaseState } from "./database_state.ts";
import {
  type Heard,
  POSTGRES_SCHEMA,
  PostgresConnection,
  type PostgresLogin,
} from "./postgres_connection.ts";
import { toFailure } from "./postgres_failure.ts";

/** Where a server listens. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
}

/** Makes a connection to a server, with TLS where there is to be; given up when the signal is aborted. */
export type Reach = (server: PostgresServer, signal: AbortSignal) => Promise<Duplex>;

/** One primary server and those that may take its place. */
interface ServersOptions {
  readonly servers: readonly PostgresServer[];
  readonly login: PostgresLogin;
  readonly reach: Reach;
  /** Whether the tables are those that we know. @throws {DatabaseFailure} If not. */
  readonly checkSchema: (connection: PostgresConnection) => Promise<void>;
  /** Longest time for anything, in milliseconds. */
  readonly timeoutMs: number;
  readonly state: DatabaseState;
}

/** Opens connections to whichever server takes changes. */
export class PostgresServers {
  readonly #options: ServersOptions;

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /**
   * All servers are asked at once, the first that takes changes is it: after a fail-over nobody waits for the silent one.
   * @param heard Absent: the connection is for work.
   * @throws {DatabaseAway} If there is none, or none may be looked for now.
   * @throws {DatabaseFailure} If there is one that is not for us: wrong password, other tables.
   */
  async open(signal: AbortSignal, heard?: Heard): Promise<PostgresConnection> {
    const { state } = this.#options;
    const connection = await state.attempt(() => this.#openAny(signal, heard));
    if (heard === undefined) state.works(connection.closed);
    return connection;
  }

  async #openAny(signal: AbortSignal, heard: Heard | undefined): Promise<PostgresConnection> {
    const enough = new AbortController();
    const tries = this.#options.servers.map((server) => this.#openOne(server, signal, enough, heard));
    try {
      return await Promise.any(tries);
    } catch (error) {
      const errors = error instanceof AggregateError ? error.errors : [error];
      const refusal = errors.find((each) =>
        each instanceof DatabaseFailure && !(each instanceof DatabaseAway)
      );
      if (refusal !== undefined) throw refusal;
      const reasons = new Set(errors.map((each) => each instanceof Error ? each.message : String(each)));
      throw new DatabaseAway([...reasons].join("; "), { cause: error });
    }
  }

  async #openOne(
    server: PostgresServer,
    signal: AbortSignal,
    enough: AbortController,
    heard: Heard | undefined,
  ): Promise<PostgresConnection> {
    const { reach, login, timeoutMs, checkSchema } = this.#options;
    const end = AbortSignal.any([signal, enough.signal]);
    const socket = await reach(server, end);
    const destroy = () => socket.destroy();
    end.addEventListener("abort", destroy, { once: true });
    try {
      const connection = await PostgresConnection.open(socket, login, heard);
      await prepareSession(connection, timeoutMs);
      await checkSchema(connection);
      end.throwIfAborted();
      end.removeEventListener("abort", destroy);
      enough.abort(new DatabaseAway("another server was faster"));
      return connection;
    } catch (error) {
      socket.destroy();
      throw end.aborted ? end.reason : toFailure(error);
    }
  }
}

/** Whether a server is a standby, or was told to take no changes. */
export const TAKES_NO_CHANGES = "(pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on')";

/** @throws {DatabaseAway} If the server takes no changes. */
async function prepareSession(connection: PostgresConnection, timeoutMs: number): Promise<void> {
  // Whoever turned off that what is acknowledged is kept did not think of shares that are used once.
  const [session] = await connection.query(
    `SELECT ${TAKES_NO_CHANGES} AS "readOnly",
       set_config('search_path', '${POSTGRES_SCHEMA}, pg_temp', false),
       set_config('statement_timeout', $1, false), set_config('lock_timeout', $1, false),
       set_config('idle_in_transaction_session_timeout', $1, false),
       CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`,
    [String(timeoutMs)],
  );
  if (session?.["readOnly"] !== false) throw new DatabaseAway("the server takes no changes");
}
