import { DatabaseAway } from "../database.ts";
import { FairSemaphore, NoPermit } from "../../model/fair_semaphore.ts";
import type { PostgresConnection } from "./postgres_connection.ts";
import { meaningOf, PostgresError } from "./postgres_failure.ts";
import type { DatabaseState } from "./database_state.ts";
import type { PostgresServers } from "./postgres_servers.ts";

/** Pieces of work that wait for a connection; more are told at once that there is none. */
const WAITING = 1000;

/** Until when a piece of work has to be done. */
export interface Deadline {
  /** Aborted then. */
  readonly signal: AbortSignal;
  /** Milliseconds until then, at least 1. */
  left(): number;
}

/** A bounded number of connections, each used by one piece of work at a time. */
export class PostgresPool {
  readonly #servers: PostgresServers;
  readonly #state: DatabaseState;
  readonly #semaphore: FairSemaphore;
  readonly #most: number;
  #idle: PostgresConnection[] = [];
  #closed = false;

  constructor(servers: PostgresServers, state: DatabaseState, most: number) {
    this.#servers = servers;
    this.#state = state;
    this.#most = most;
    this.#semaphore = new FairSemaphore({ atOnce: most, waiting: WAITING, perKey: WAITING });
  }

  /**
   * Does a piece of work on a connection, which is ended when the work's time is over.
   * @throws {DatabaseAway} If there is no connection in time, or none may be opened now. What the work throws.
   */
  async use<T>(deadline: Deadline, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    this.#state.checkWork();
    try {
      return await this.#semaphore.run(() => this.#run(deadline, work), {
        queueKey: "",
        known: true,
        signal: deadline.signal,
      });
    } catch (error) {
      throw error instanceof NoPermit ? new DatabaseAway("too many are waiting", { cause: error }) : error;
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#closed = true;
    this.leaveIdle();
  }

  /** Opens a connection for work to come, and so finds out whether one can be opened. @throws As {@link use}. */
  async refill({ signal }: Deadline): Promise<void> {
    const connection = await this.#servers.open(signal);
    if (this.#closed || this.#idle.length >= this.#most) connection.destroy();
    else this.#idle.push(connection);
  }

  /** Ends the connections on which nothing is under way: who does not answer one does not answer the others. */
  leaveIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  async #run<T>(deadline: Deadline, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = this.#takeIdle() ?? await this.#servers.open(deadline.signal);
    const late = () => {
      connection.destroy();
      this.leaveIdle();
    };
    deadline.signal.addEventListener("abort", late, { once: true });
    try {
      return await work(connection);
    } catch (error) {
      if (error instanceof PostgresError && meaningOf(error) === "lost") connection.destroy();
      throw error;
    } finally {
      deadline.signal.removeEventListener("abort", late);
      if (this.#closed) connection.destroy();
      else if (connection.isAlive) this.#idle.push(connection);
    }
  }

  #takeIdle(): PostgresConnection | undefined {
    this.#idle = this.#idle.filter(({ isAlive }) => isAlive);
    return this.#idle.pop();
  }
}
