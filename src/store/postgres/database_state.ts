import { DatabaseUnavailable } from "../database.ts";
import { CircuitBreaker } from "../../model/circuit_breaker.ts";
import type { Stopwatch } from "../../model/clock.ts";
import { messageOf } from "../../model/text.ts";

/** Pauses between connection attempts, once these have failed for longer than the deadline of a piece of work. */
const PAUSES = { firstPauseMs: 1_000, maxPauseMs: 15_000 };

const STUCK = "changes wait for the disk of the database, which may be full, or for its synchronous standby";

/** Condition of a database. Away: it does no work; degraded: new connections, notifications or commits fail. */
export type DatabaseCondition =
  | { readonly kind: "up" }
  | { readonly kind: "degraded" | "away"; readonly reason: string };

/** State of a database, derived from its connections; used by pool, listener, health, status and metrics. */
export class DatabaseState {
  readonly #opening: CircuitBreaker;
  #lastError = ""; // reason of the last failed attempt
  /** Reason why notifications do not arrive; empty if they do; absent before the first attempt. */
  #listenError: string | undefined;
  #isStuck = false; // whether changes cannot be committed
  #connections = 0; // open connections
  #outageSince: number | undefined;
  #reported: DatabaseCondition = { kind: "up" };
  #closed = false;

  /** @param options.toleranceMs How long work waits for an unavailable database. */
  constructor(
    readonly options: {
      readonly elapsed: Stopwatch;
      readonly toleranceMs: number;
      readonly changed?: ((condition: DatabaseCondition) => void) | undefined;
    },
  ) {
    this.#opening = new CircuitBreaker({ ...PAUSES, ...options });
  }

  get condition(): DatabaseCondition {
    const { isFailing } = this.#opening;
    if (!isFailing && !this.#listenError && !this.#isStuck) return { kind: "up" };
    const reason = isFailing ? this.#lastError : this.#listenError || STUCK;
    return { kind: isFailing && this.#connections === 0 ? "away" : "degraded", reason };
  }

  get isListening(): boolean {
    return this.#listenError === "";
  }

  get outageMs(): number {
    return this.#outageSince === undefined ? 0 : Math.max(1, this.options.elapsed() - this.#outageSince);
  }

  /** Whether work fails at once: no connection is open, and none may be opened now. */
  get refusesWork(): boolean {
    return this.#connections === 0 && !this.#opening.admits;
  }

  /** @throws {DatabaseUnavailable} If work fails at once. */
  checkWork(): void {
    if (this.refusesWork) throw this.#unavailable();
  }

  get isTrialDue(): boolean {
    return this.#opening.isFailing && this.#opening.admits;
  }

  get waitMs(): number {
    return this.#opening.waitMs;
  }

  /**
   * Opens a connection if a trial is due. An attempt that the signal soon ends proves nothing while notifications arrive.
   * @throws {DatabaseUnavailable} If no trial is due, or others are open. And as `open`.
   */
  async attempt<T>(open: () => Promise<T>, isTrial = true, signal?: AbortSignal): Promise<T> {
    const { elapsed, toleranceMs } = this.options;
    const began = elapsed();
    const waits = !isTrial && this.#opening.isFailing && this.#connections > 0;
    const end = waits ? undefined : this.#opening.begin();
    if (end === undefined) throw this.#unavailable();
    try {
      const opened = await open();
      this.#opening.succeeded();
      return opened;
    } catch (error) {
      if (signal?.aborted && this.isListening && elapsed() - began < toleranceMs / 8) throw error;
      this.#lastError = messageOf(error);
      this.#opening.failed();
      throw this.#connections > 0 ? this.#unavailable() : error; // work can wait for an open connection
    } finally {
      end();
      this.#report();
    }
  }

  /** Counts a connection until the promise resolves. */
  countConnection(closed: Promise<void>): void {
    this.#connections++;
    this.#report();
    void closed.then(() => {
      this.#connections--;
      this.#report();
    });
  }

  setListening(error?: string): void {
    this.#listenError = error ?? "";
    this.#report();
  }

  setStuck(isStuck: boolean): void {
    this.#isStuck = isStuck;
    this.#report();
  }

  close(): void {
    this.#closed = true;
  }

  #unavailable(): DatabaseUnavailable {
    return new DatabaseUnavailable(`nobody answers for some time: ${this.#lastError}`);
  }

  #report(): void {
    const { condition } = this;
    if (condition.kind === "away") this.#outageSince ??= this.options.elapsed();
    else this.#outageSince = undefined;
    if (this.#closed || condition.kind === this.#reported.kind) return;
    this.#reported = condition;
    this.options.changed?.(condition);
  }
}
