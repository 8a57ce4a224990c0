import { NoPermit, FairSemaphore } from "../../model/fair_semaphore.ts";
import type { PostgresConnection } from "./postgres_connection.ts";
import { DatabaseAway, meaningOf, PostgresError } from "./postgres_failure.ts";
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
  readonly #semaphore: FairSemaphore;
  #idle: PostgresConnection[] = [];
  #closed = false;

  constructor(servers: PostgresServers, most: number) {
    this.#servers = servers;
    this.#semaphore = new FairSemaphore({ atOnce: most, waiting: WAITING, perKey: WAITING });
  }

  /**
   * Does a piece of work on a connection, which is ended when the work's time is over.
   * @throws {DatabaseAway} If there is no connection in time, or had been none for long. What the work throws.
   */
  async use<T>(deadline: Deadline, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    if (this.#servers.areAway) throw new DatabaseAway("nobody answers for some time");
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
    this.#leave(this.#idle.splice(0));
  }

  async #run<T>(deadline: Deadline, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    const connection = this.#takeIdle() ?? await this.#servers.open(deadline.signal);
    const late = () => {
      // Who does not answer one does not answer the others.
      this.#leave([connection, ...this.#idle.splice(0)]);
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

  #leave(connections: readonly PostgresConnection[]): void {
    for (const connection of connections) connection.destroy();
  }
}
