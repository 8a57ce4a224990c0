import type { AuditSink } from "./audit_sink.ts";
import { KeptLines } from "./kept_lines.ts";
import type { Sink } from "./sink.ts";

/** Console or file, which {@link AppendFile} is. */
interface AuditOutput {
  readonly path: string;
  /** @throws If not all of the text is written. */
  append(text: string): void;
  close(): void;
}

export class AuditLines implements AuditSink {
  readonly #kept: KeptLines;

  constructor(readonly output: AuditOutput, sink: Sink) {
    this.#kept = new KeptLines(output.path, sink);
  }

  write(lines: readonly string[]): void {
    this.#kept.add(lines);
    this.retry();
  }

  retry(): void {
    if (this.#kept.count === 0) return;
    const lines = this.#kept.take();
    try {
      this.output.append(`${lines.join("\n")}\n`);
      this.#kept.written();
    } catch (error) {
      this.#kept.failed(lines, error);
    }
  }

  close(): Promise<readonly string[]> {
    this.retry();
    this.output.close();
    return Promise.resolve(this.#kept.take());
  }
}
