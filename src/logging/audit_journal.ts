import { writeAll } from "../model/regular_file.ts";
import type { AuditSink } from "./audit_sink.ts";
import { KeptLines } from "./kept_lines.ts";
import type { Sink } from "./sink.ts";

/** For `journalctl -t authserver-audit`. */
const AUDIT_IDENTIFIER = "authserver-audit";

/** Stream socket (sd_journal_stream_fd(3)); the datagram socket busy-waits here while the journal is slow. */
const SOCKET = "/run/systemd/journal/stdout";

/**
 * Stream header lines: identifier, unit (empty: detected), priority (6: info), whether lines have a priority prefix,
 * and forwarding to syslog, kernel log and console.
 */
const OPENING = new TextEncoder().encode(`${AUDIT_IDENTIFIER}\n\n6\n0\n0\n0\n0\n`);

/** Deadline of pending lines on close. */
const CLOSE_MS = 2000;

/** Audit log in the systemd journal. */
export class AuditJournal implements AuditSink {
  readonly #path: string;
  readonly #kept: KeptLines;
  #connection: Deno.UnixConn | undefined;
  #writing: Promise<void> | undefined;
  #closing = false;

  constructor(sink: Sink, path = SOCKET) {
    this.#path = path;
    this.#kept = new KeptLines(path, sink);
  }

  write(lines: readonly string[]): void {
    this.#kept.add(lines);
    this.retry();
  }

  retry(): void {
    if (this.#kept.count > 0) this.#writing ??= this.#writeKept();
  }

  async close(): Promise<readonly string[]> {
    this.retry();
    this.#closing = true;
    const timer = setTimeout(() => this.#hangUp(), CLOSE_MS);
    await this.#writing;
    clearTimeout(timer);
    this.#hangUp();
    return this.#kept.take();
  }

  async #writeKept(): Promise<void> {
    while (this.#kept.count > 0) {
      const lines = this.#kept.take();
      const wasOpen = this.#connection !== undefined;
      const left = await this.#send(lines);
      if (left === undefined) {
        this.#kept.written();
        continue;
      }
      this.#hangUp();
      if (wasOpen && !this.#closing) {
        this.#kept.putBack(left.lines); // retry on a new stream: the journal may have restarted
        continue;
      }
      this.#kept.failed(left.lines, left.error);
      break;
    }
    this.#writing = undefined;
  }

  /** Returns unsent lines with the error; `undefined` if all were sent. */
  async #send(lines: readonly string[]): Promise<{ lines: readonly string[]; error: unknown } | undefined> {
    let sent = 0;
    try {
      this.#connection ??= await this.#connect();
      for (const line of lines) {
        await writeAll(this.#connection, new TextEncoder().encode(`${line}\n`));
        sent++;
      }
      return undefined;
    } catch (error) {
      return { lines: lines.slice(sent), error };
    }
  }

  async #connect(): Promise<Deno.UnixConn> {
    const connection = await Deno.connect({ transport: "unix", path: this.#path });
    try {
      await writeAll(connection, OPENING);
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  #hangUp(): void {
    try {
      this.#connection?.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error; // already closed
    }
    this.#connection = undefined;
  }
}
