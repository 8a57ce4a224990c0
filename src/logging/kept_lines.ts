import type { Logger } from "./logger.ts";

/** Lines kept in memory while they cannot be written: some 5 MB. */
const MOST_KEPT = 10_000;

/** Audit lines that wait to be written. If there are too many the oldest are given up, and the log says how many. */
export class KeptLines {
  readonly #log: Logger;
  readonly #to: string;
  #lines: string[] = [];
  #lost = 0;
  #failing = false;

  /** @param to Where they are to be written, for the log. */
  constructor(to: string, log: Logger) {
    this.#to = to;
    this.#log = log;
  }

  get count(): number {
    return this.#lines.length;
  }

  /** Whether they could not be written the last time. */
  get failing(): boolean {
    return this.#failing;
  }

  add(lines: readonly string[]): void {
    this.#lines.push(...lines);
    if (this.#lines.length > MOST_KEPT) this.failed([], "they are taken too slowly");
  }

  /** All lines, to be written now; {@link written}, {@link failed} or {@link putBack} follows. */
  take(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  written(count: number): void {
    if (this.#failing) {
      this.#log.warn("audit lines written again", { to: this.#to, lines: count, lost: this.#lost });
    }
    this.#failing = false;
    this.#lost = 0;
  }

  /** Before those that came meanwhile. */
  putBack(lines: readonly string[]): void {
    this.#lines = [...lines, ...this.#lines];
  }

  /** @param lines Those that are still to be written. */
  failed(lines: readonly string[], error: unknown): void {
    this.putBack(lines);
    if (!this.#failing) {
      this.#log.error("audit lines not written, they are kept in memory", { to: this.#to, error });
    }
    this.#failing = true;
    this.#giveUpOldest();
  }

  #giveUpOldest(): void {
    const excess = this.#lines.length - MOST_KEPT;
    if (excess <= 0) return;
    this.#lines = this.#lines.slice(excess);
    this.#lost += excess;
  }
}
