import type { Duplex } from "node:stream";
import { unlessAborted } from "../../model/clock.ts";
import { messageOf } from "../../model/text.ts";
import { DatabaseFailure, DatabaseUnavailable } from "../database.ts";
import type { DatabaseState } from "./database_state.ts";
import {
  type ChangeListener,
  POSTGRES_SCHEMA,
  PostgresConnection,
  type PostgresLogin,
} from "./postgres_connection.ts";
import { toFailure } from "./postgres_failure.ts";

export interface PostgresServer {
  readonly host: string;
  readonly port: number;
}

/** Connects to a server, with TLS if configured, until the signal aborts. */
export type Connect = (server: PostgresServer, signal: AbortSignal) => Promise<Duplex>;

interface ServersOptions {
  readonly servers: readonly PostgresServer[];
  readonly login: PostgresLogin;
  readonly connect: Connect;
  /** Checks the tables. @throws {DatabaseFailure} */
  readonly checkSchema: (connection: PostgresConnection) => Promise<void>;
  readonly timeoutMs: number; // timeout of each operation, in milliseconds
  readonly state: DatabaseState;
}

/** Finds the server that accepts changes. */
export class PostgresServers {
  constructor(readonly options: ServersOptions) {}

  /**
   * Tries all servers at once and takes the first that accepts changes. @param listener Absent: without notifications.
   * @param isTrial Whether to try while other connections work and the last attempt failed.
   * @throws {DatabaseUnavailable} If no server accepts changes, or no trial is due.
   * @throws {DatabaseFailure} For a wrong password or other tables.
   */
  async open(signal: AbortSignal, listener?: ChangeListener, isTrial = true): Promise<PostgresConnection> {
    const { state } = this.options;
    const connection = await state.attempt(() => this.#openAny(signal, listener), isTrial, signal);
    if (listener === undefined) state.countConnection(connection.closed);
    return connection;
  }

  async #openAny(signal: AbortSignal, listener: ChangeListener | undefined): Promise<PostgresConnection> {
    const enough = new AbortController();
    const tries = this.options.servers.map((server) => this.#openOne(server, signal, enough, listener));
    try {
      return await Promise.any(tries);
    } catch (error) {
      const errors = error instanceof AggregateError ? error.errors : [error];
      const refusal = errors.find((each) =>
        each instanceof DatabaseFailure && !(each instanceof DatabaseUnavailable)
      );
      if (refusal !== undefined) throw refusal;
      const reasons = new Set(errors.map(messageOf));
      throw new DatabaseUnavailable([...reasons].join("; "), { cause: error });
    }
  }

  async #openOne(
    server: PostgresServer,
    signal: AbortSignal,
    enough: AbortController,
    listener: ChangeListener | undefined,
  ): Promise<PostgresConnection> {
    const { connect, login, timeoutMs, checkSchema } = this.options;
    const end = AbortSignal.any([signal, enough.signal]);
    const socket = await connect(server, end);
    const open = async () => {
      const connection = await PostgresConnection.open(socket, login, listener);
      await prepareSession(connection, timeoutMs);
      await checkSchema(connection);
      return connection;
    };
    try {
      const connection = await unlessAborted(open(), end);
      end.throwIfAborted();
      enough.abort(new DatabaseUnavailable("another server was faster"));
      return connection;
    } catch (error) {
      socket.destroy();
      throw end.aborted ? end.reason : toFailure(error);
    }
  }
}

/** Condition: standby or read-only. */
export const IS_READ_ONLY = "(pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on')";

/** @throws {DatabaseUnavailable} If the server is read-only. */
async function prepareSession(connection: PostgresConnection, timeoutMs: number): Promise<void> {
  // Locks of a frozen instance end after half of the time that others wait. With synchronous_commit off, a crash could undo
  // the use of a single-use share. At another level, a change that runs alone would miss changes made while it waited.
  const [session] = await connection.query(
    `SELECT ${IS_READ_ONLY} AS "readOnly",
       set_config('search_path', '${POSTGRES_SCHEMA}, pg_temp', false),
       set_config('statement_timeout', $1, false), set_config('lock_timeout', $1, false),
       set_config('idle_in_transaction_session_timeout', $2, false),
       set_config('default_transaction_isolation', 'read committed', false),
       CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'on', false) END`,
    [String(timeoutMs), String(Math.ceil(timeoutMs / 2))],
  );
  if (session?.["readOnly"] !== false) throw new DatabaseUnavailable("the server takes no changes");
}
