import type { Sink } from "./sink.ts";

/** About 5 MB. */
const MOST_KEPT = 10_000;

/** Queue of audit lines; drops the oldest beyond the limit and counts them as lost. */
export class KeptLines {
  #lines: string[] = [];

  /** @param to Destination, for the operator. */
  constructor(readonly to: string, readonly sink: Sink) {}

  get count(): number {
    return this.#lines.length;
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

  written(): void {
    this.sink.written();
  }

  /** Requeues lines before newer ones. */
  putBack(lines: readonly string[]): void {
    this.#lines = [...lines, ...this.#lines];
  }

  failed(lines: readonly string[], error: unknown): void {
    this.putBack(lines);
    this.sink.failed(error, this.to);
    const excess = this.#lines.length - MOST_KEPT;
    if (excess <= 0) return;
    this.#lines = this.#lines.slice(excess);
    this.sink.lose(excess);
  }
}
