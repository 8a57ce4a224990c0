import { DatabaseAway } from "../database.ts";
import { CircuitBreaker } from "../../model/circuit_breaker.ts";
import type { Stopwatch } from "../../model/clock.ts";

/** Pauses between attempts to open a connection to a database that has refused them for longer than a piece of work may take. */
const PAUSES = { firstPauseMs: 1_000, longestPauseMs: 15_000 };

/**
 * Condition of a database. Away: no work can be done. Degraded: work is done, but new connections are refused, or the
 * service does not hear of changes by other instances.
 */
export type DatabaseCondition =
  | { readonly kind: "up" }
  | { readonly kind: "degraded" | "away"; readonly reason: string };

/**
 * State of a database, as its connections show it: the one place that says whether it is up. Connections for work, the one that listens,
 * health, status and metrics go by it.
 */
export class DatabaseState {
  /** Of connections that are opened. */
  readonly #opening: CircuitBreaker;
  /** Why the last connection could not be opened. */
  #refused = "";
  /** Why changes of others are not heard of; empty while they are; absent before the first attempt. */
  #deaf: string | undefined;
  /** Connections that are open for work. */
  #working = 0;
  #awaySince: number | undefined;
  #told: DatabaseCondition = { kind: "up" };
  #closed = false;

  /** @param options.toleranceMs Longest time for a piece of work: for so long it waits for a database that is away. */
  constructor(
    readonly options: {
      readonly elapsed: Stopwatch;
      readonly toleranceMs: number;
      /** Told when the kind of the condition changes. */
      readonly changed?: ((condition: DatabaseCondition) => void) | undefined;
    },
  ) {
    this.#opening = new CircuitBreaker({ ...PAUSES, ...options });
  }

  get condition(): DatabaseCondition {
    const { isFailing } = this.#opening;
    if (!isFailing && !this.#deaf) return { kind: "up" };
    const reason = isFailing ? this.#refused : this.#deaf ?? "";
    return { kind: isFailing && this.#working === 0 ? "away" : "degraded", reason };
  }

  /** Whether changes of others are heard of. */
  get hears(): boolean {
    return this.#deaf === "";
  }

  /** Milliseconds for which it has been away; 0 if it is not. */
  get awayMs(): number {
    return this.#awaySince === undefined ? 0 : Math.max(1, this.options.elapsed() - this.#awaySince);
  }

  /** Whether work is refused at once: there is no connection, and none may be opened now. */
  get refusesWork(): boolean {
    return this.#working === 0 && !this.#opening.admits;
  }

  /** @throws {DatabaseAway} If work is refused at once. */
  checkWork(): void {
    if (this.refusesWork) throw this.#leftAlone();
  }

  /** Whether new connections were refused, and another attempt is due. */
  get isTrialDue(): boolean {
    return this.#opening.isFailing && this.#opening.admits;
  }

  /** Milliseconds until the next attempt to open a connection may be made. */
  get waitMs(): number {
    return this.#opening.waitMs;
  }

  /**
   * Makes an attempt to open a connection, if one is due.
   * @throws {DatabaseAway} If none is. What the attempt throws.
   */
  async attempt<T>(open: () => Promise<T>): Promise<T> {
    const end = this.#opening.begin();
    if (end === undefined) throw this.#leftAlone();
    try {
      const opened = await open();
      this.#opening.succeeded();
      return opened;
    } catch (error) {
      this.#refused = error instanceof Error ? error.message : String(error);
      this.#opening.failed();
      throw error;
    } finally {
      end();
      this.#tell();
    }
  }

  /** A connection for work is open until the promise resolves. */
  works(closed: Promise<void>): void {
    this.#working++;
    this.#tell();
    void closed.then(() => {
      this.#working--;
      this.#tell();
    });
  }

  /** @param deaf Why changes of others are not heard of; absent: they are. */
  listens(deaf?: string): void {
    this.#deaf = deaf ?? "";
    this.#tell();
  }

  /** Tells nobody anything any more. */
  close(): void {
    this.#closed = true;
  }

  #leftAlone(): DatabaseAway {
    return new DatabaseAway(`nobody answers for some time: ${this.#refused}`);
  }

  #tell(): void {
    const { condition } = this;
    if (condition.kind === "away") this.#awaySince ??= this.options.elapsed();
    else this.#awaySince = undefined;
    if (this.#closed || condition.kind === this.#told.kind) return;
    this.#told = condition;
    this.options.changed?.(condition);
  }
}
