import { DatabaseUnavailable } from "../database.ts";
import { FairSemaphore, NoPermit } from "../../model/fair_semaphore.ts";
import type { PostgresConnection } from "./postgres_connection.ts";
import { consequenceOf, PostgresError } from "./postgres_failure.ts";
import type { DatabaseState } from "./database_state.ts";
import type { PostgresServers } from "./postgres_servers.ts";

const WAITING = 1000;

/** Deadline of a piece of work. */
export interface Deadline {
  readonly signal: AbortSignal; // aborted at the deadline
  left(): number; // milliseconds left, at least 1
}

/** Bounded pool; one piece of work per connection at a time. */
export class PostgresPool {
  readonly #semaphore: FairSemaphore;
  #idle: PostgresConnection[] = [];
  #closed = false;

  constructor(readonly servers: PostgresServers, readonly state: DatabaseState, readonly most: number) {
    this.#semaphore = new FairSemaphore({ maxConcurrent: most, waiting: WAITING, perKey: WAITING });
  }

  /** Runs work, until the deadline closes the connection. @throws {DatabaseUnavailable} If no connection is free in time. */
  async use<T>(deadline: Deadline, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    this.state.checkWork();
    try {
      return await this.#semaphore.run(() => this.#run(deadline, work), {
        queueKey: "",
        known: true,
        signal: deadline.signal,
      });
    } catch (cause) {
      throw cause instanceof NoPermit ? new DatabaseUnavailable("too many are waiting", { cause }) : cause;
    }
  }

  close(): void {
    this.#closed = true;
    this.closeIdle();
  }

  /** Opens an idle connection, as a probe. @throws As {@link use}. */
  async openIdle({ signal }: Deadline): Promise<void> {
    const connection = await this.servers.open(signal);
    if (this.#closed || this.#idle.length >= this.most) connection.destroy();
    else this.#idle.push(connection);
  }

  /** Closes idle connections, since their server no longer responds. */
  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) connection.destroy();
  }

  async #run<T>(deadline: Deadline, work: (connection: PostgresConnection) => Promise<T>): Promise<T> {
    this.#idle = this.#idle.filter(({ isAlive }) => isAlive);
    const connection = this.#idle.pop() ?? await this.servers.open(deadline.signal, undefined, false);
    const late = () => {
      connection.destroy();
      this.closeIdle();
    };
    deadline.signal.addEventListener("abort", late, { once: true });
    try {
      return await work(connection);
    } catch (error) {
      if (error instanceof PostgresError && consequenceOf(error) === "lost") connection.destroy();
      throw error;
    } finally {
      deadline.signal.removeEventListener("abort", late);
      if (this.#closed) connection.destroy();
      else if (connection.isAlive) this.#idle.push(connection);
    }
  }
}
