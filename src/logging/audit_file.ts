import { AppendFile } from "./append_file.ts";
import type { AuditSink } from "./audit_sink.ts";
import { KeptLines } from "./kept_lines.ts";
import type { Logger } from "./logger.ts";

/** Audit log in a file. */
export class AuditFile implements AuditSink {
  readonly #file: AppendFile;
  readonly #kept: KeptLines;

  constructor(path: string, log: Logger) {
    this.#file = new AppendFile(path);
    this.#kept = new KeptLines(path, log);
  }

  write(lines: readonly string[]): void {
    this.#kept.add(lines);
    this.retry();
  }

  retry(): void {
    if (this.#kept.count === 0) return;
    // Starts a new line after a partial write.
    const start = this.#kept.failing ? "\n" : "";
    const lines = this.#kept.take();
    try {
      this.#file.append(`${start}${lines.join("\n")}\n`);
      this.#kept.written(lines.length);
    } catch (error) {
      this.#kept.failed(lines, error);
    }
  }

  close(): Promise<readonly string[]> {
    this.retry();
    this.#file.close();
    return Promise.resolve(this.#kept.take());
  }
}
