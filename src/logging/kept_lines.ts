import type { Logger } from "./logger.ts";

/** About 5 MB. */
const MOST_KEPT = 10_000;

/** Queue of audit lines; drops the oldest beyond the limit and logs their number. */
export class KeptLines {
  readonly #log: Logger;
  readonly #to: string;
  #lines: string[] = [];
  #lost = 0;
  #failing = false;

  /** @param to Destination for the log. */
  constructor(to: string, log: Logger) {
    this.#to = to;
    this.#log = log;
  }

  get count(): number {
    return this.#lines.length;
  }

  /** Whether the last write failed. */
  get failing(): boolean {
    return this.#failing;
  }

  add(lines: readonly string[]): void {
    this.#lines.push(...lines);
    if (this.#lines.length > MOST_KEPT) this.failed([], "they are taken too slowly");
  }

  /** Takes all lines; call {@link written}, {@link failed} or {@link putBack} next. */
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

  /** Requeues lines before newer ones. */
  putBack(lines: readonly string[]): void {
    this.#lines = [...lines, ...this.#lines];
  }

  /** @param lines Unwritten lines. */
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
