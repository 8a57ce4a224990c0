import type { AppendFile } from "./append_file.ts";
import { BufferedLines } from "./buffered_lines.ts";
import type { Sink } from "./sink.ts";

/** Audit log in a file or on the console. */
export class AuditLines extends BufferedLines {
  constructor(readonly output: Pick<AppendFile, "path" | "append" | "close">, sink: Sink) {
    super(output.path, sink);
  }

  retry(): void {
    if (this.count === 0) return;
    const lines = this.take();
    try {
      this.output.append(`${lines.join("\n")}\n`);
      this.sink.written();
    } catch (error) {
      this.failed(lines, error);
    }
  }

  close(): Promise<readonly string[]> {
    this.retry();
    this.output.close();
    return Promise.resolve(this.take());
  }
}
