import { closeQuietly, writeAll } from "../model/regular_file.ts";
import { BufferedLines } from "./buffered_lines.ts";
import type { Sink } from "./sink.ts";

interface Connection {
  /** @throws If not all bytes are written. */
  write(bytes: Uint8Array): Promise<void>;
  close(): void;
}

/** Receiver of audit lines over a connection. */
export interface AuditReceiver {
  readonly name: string; // for the operator
  /** @throws If it cannot be reached. */
  open(signal: AbortSignal): Promise<Connection>;
  frame(line: string): Uint8Array;
}

const AUDIT_IDENTIFIER = "authserver-audit"; // for `journalctl -t authserver-audit`

/** Stream socket (sd_journal_stream_fd(3)); the datagram socket busy-waits here while the journal is slow. */
const SOCKET = "/run/systemd/journal/stdout";

/** Stream header: identifier, unit (detected), priority (6: info), priority prefix, and forwarding to three others. */
const OPENING = new TextEncoder().encode(`${AUDIT_IDENTIFIER}\n\n6\n0\n0\n0\n0\n`);

/** Returns the systemd journal. */
export function systemdJournal(path = SOCKET): AuditReceiver {
  return {
    name: path,
    async open() {
      const socket = await Deno.connect({ transport: "unix", path });
      const connection = {
        write: (bytes: Uint8Array) => writeAll(socket, bytes),
        close: () => socket.close(),
      };
      try {
        await connection.write(OPENING);
        return connection;
      } catch (error) {
        connection.close();
        throw error;
      }
    },
    frame: (line) => new TextEncoder().encode(`${line}\n`),
  };
}

const CLOSE_MS = 2000; // deadline of pending lines on close

/** Audit log that is sent to a receiver. */
export class AuditStream extends BufferedLines {
  readonly #closing = new AbortController();
  #connection: Connection | undefined;
  #writing: Promise<void> | undefined;

  constructor(readonly receiver: AuditReceiver, sink: Sink) {
    super(receiver.name, sink);
  }

  retry(): void {
    if (this.count > 0) this.#writing ??= this.#writeBuffered();
  }

  async close(): Promise<readonly string[]> {
    this.retry();
    const timer = setTimeout(() => {
      this.#closing.abort();
      this.#disconnect();
    }, CLOSE_MS);
    await this.#writing;
    clearTimeout(timer);
    this.#disconnect();
    return this.take();
  }

  async #writeBuffered(): Promise<void> {
    while (this.count > 0) {
      const lines = this.take();
      const wasOpen = this.#connection !== undefined;
      const left = await this.#send(lines);
      if (left === undefined) {
        this.sink.written();
        continue;
      }
      this.#disconnect();
      if (wasOpen && !this.#closing.signal.aborted) {
        this.putBack(left.lines); // retry on a new connection: the receiver may have restarted
        continue;
      }
      this.failed(left.lines, left.error);
      break;
    }
    this.#writing = undefined;
  }

  /** Returns unsent lines with the error; `undefined` if all were sent. */
  async #send(lines: readonly string[]): Promise<{ lines: readonly string[]; error: unknown } | undefined> {
    let sent = 0;
    try {
      this.#connection ??= await this.receiver.open(this.#closing.signal);
      for (const line of lines) {
        await this.#connection.write(this.receiver.frame(line));
        sent++;
      }
      return undefined;
    } catch (error) {
      return { lines: lines.slice(sent), error };
    }
  }

  #disconnect(): void {
    closeQuietly(this.#connection);
    this.#connection = undefined;
  }
}
