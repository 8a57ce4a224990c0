import type { Sink } from "./sink.ts";

const MAX_BUFFERED = 10_000; // about 5 MB

/** Destination of audit lines. Keeps lines that it cannot write; drops the oldest beyond the limit as lost. */
export abstract class BufferedLines {
  #lines: string[] = [];

  /** @param to Destination, for the operator. */
  constructor(readonly to: string, readonly sink: Sink) {}

  get count(): number {
    return this.#lines.length;
  }

  /** @param lines Without line ends. */
  write(lines: readonly string[]): void {
    this.#lines.push(...lines);
    if (this.#lines.length > MAX_BUFFERED) this.failed([], "they are taken too slowly");
    this.retry();
  }

  abstract retry(): void; // writes the kept lines

  /** Writes what it can and closes. Returns the rest. */
  abstract close(): Promise<readonly string[]>;

  /** Takes all lines; call `sink.written()`, {@link failed} or {@link putBack} next. */
  take(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  putBack(lines: readonly string[]): void {
    this.#lines = [...lines, ...this.#lines];
  }

  failed(lines: readonly string[], error: unknown): void {
    this.putBack(lines);
    this.sink.failed(error, this.to);
    const excess = this.#lines.length - MAX_BUFFERED;
    if (excess <= 0) return;
    this.#lines = this.#lines.slice(excess);
    this.sink.lose(excess);
  }
}
