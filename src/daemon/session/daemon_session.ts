import { invalidPath, tooLongName } from "../../model/absolute_path.ts";
import type { Body } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import { refusal, type Reply } from "./reply_reader.ts";
import type { ControlConnection } from "./control_connection.ts";
import { DataPortRefused, type DataPorts } from "./data_ports.ts";
import { downloadStream, type TransferResult } from "./download_stream.ts";
import { type Entry, parseEntry } from "./entry.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import { type ListingRest, readListing } from "./read_listing.ts";
import { FileSeries } from "./file_series.ts";
import { nothingThere, SessionEnded } from "./session_errors.ts";
import type { SessionTimes } from "./session_times.ts";

interface SessionParts {
  readonly ports: DataPorts;
  readonly times: SessionTimes;
  readonly logInAgain: () => Promise<ControlConnection>; // opens another connection with the same rights
  readonly onClose: () => void; // called once at the end
}

/** Session for one HTTP request (daemon-protocol.md 5). Any failure ends it: ranges would persist in the daemon. */
export class DaemonSession {
  #control: ControlConnection;
  #closed = false;
  #keepsData = false; // whether the daemon keeps data connections open

  /** @param control Logged-in connection. */
  constructor(control: ControlConnection, readonly parts: SessionParts) {
    this.#control = control;
  }

  /** Returns the entry at a path, following links. @throws {ERR_NOT_FOUND} If absent or invisible. */
  async entry(path: string): Promise<Entry> {
    return entryOf(await this.#control.command(`MLST ${argument(path)}`));
  }

  /**
   * Returns the entry with its modification time in milliseconds since the epoch, if the daemon supports `STAT`; `MLST`
   * uses its local time.
   * @throws {ERR_NOT_FOUND}
   */
  async datedEntry(path: string): Promise<Entry & { readonly modifiedAt?: number }> {
    const [facts, status] = await this.#control.commands(
      `MLST ${argument(path)}`,
      `STAT F ${argument(path)}`,
    );
    if (facts === undefined) throw httpError("ERR_DAEMON_SESSION", "No reply to MLST");
    const line = status?.code === 211 && status.inner.length === 1 ? status.inner[0] ?? "" : "";
    const milliseconds = /^[-d][-rwx]{3} \d+ (\d{1,15}) /.exec(line)?.[1];
    return { ...entryOf(facts), modifiedAt: milliseconds === undefined ? undefined : Number(milliseconds) };
  }

  /** Reads the entries of a directory, unordered. @throws {ERR_NOT_FOUND} */
  async list(path: string, take: (entry: Entry) => void): Promise<ListingRest> {
    const data = await this.#openData();
    try {
      const reply = await this.#control.command(`MLSD ${argument(path)}`);
      if (reply.code === 550) throw nothingThere(`MLSD refused: ${reply.text}`);
      if (reply.code !== 150) throw refusal("MLSD", reply);
      const listing = await readListing(data, this.parts.times.dataIdleMs, take);
      data.close();
      if (listing.complete) expect226("MLSD", await this.#control.readReply());
      return listing;
    } finally {
      data.close();
    }
  }

  /**
   * Streams a regular file from `first`. The session ends with the stream, unless it stays open after a complete one.
   * Check {@link entry} first: other files can block the daemon for good.
   * @param done Called with the result once the stream has begun.
   */
  async download(
    path: string,
    { first, length, stays = false, done }: {
      readonly first: number;
      readonly length: number;
      readonly stays?: boolean;
      readonly done: (result: TransferResult, error?: unknown) => void;
    },
  ): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
    const data = await this.#openData();
    try {
      // The end is exclusive; an explicit range tolerates a growing file.
      const range = await this.#control.command(`RANG ${first} ${first + length}`);
      if (range.code !== 350) throw refusal("RANG", range);
      const reply = await this.#control.command(`RETR ${argument(path)}`);
      if (reply.code !== 150) throw refusal("RETR", reply);
      return downloadStream(data, length, {
        times: this.parts.times,
        confirm: async () => expect226("RETR", await this.#control.readReply()),
        done: (result, error) => {
          if (!stays || !result.complete) this.close();
          done(result, error);
        },
      });
    } catch (error) {
      data.close();
      throw error;
    }
  }

  /**
   * Reads several files in order without a round trip each; all must be read before the next operation.
   * @returns Gives the next file. Daemons that close data connections get one request per file.
   */
  async series(
    files: readonly { readonly path: string; readonly length: number }[],
  ): Promise<{ next(): AsyncIterable<Uint8Array<ArrayBuffer>>; close(): void }> {
    const wanted = files.map(({ path, length }) => ({ path: argument(path), length }));
    const data = wanted.length > 1 ? await this.#openData() : undefined;
    if (data !== undefined) {
      this.#keepsData = (await this.#control.command("KEEP-ALIVE true")).code === 200;
      if (this.#keepsData) {
        const late = () => this.close();
        return new FileSeries(wanted, { control: this.#control, data, times: this.parts.times, late });
      }
      data.close();
    }
    const one = async function* (this: DaemonSession, file?: { path: string; length: number }) {
      if (file === undefined) throw new TypeError("no more files were wanted");
      yield* await this.download(file.path, { first: 0, length: file.length, stays: true, done: () => {} });
    };
    const left = files[Symbol.iterator]();
    return { next: () => one.call(this, left.next().value), close: () => {} };
  }

  /**
   * Writes a file, or its part from `first`, and checks the length afterwards: the daemon accepts truncated uploads.
   * @param body Read once the daemon is ready.
   * @param options.first Default: 0; otherwise `length` is required.
   * @param options.most Limit in bytes; default: `length`. A longer upload ends before it.
   * @param options.progress Called with the bytes sent: 0 at the start, then after each chunk.
   * @throws {ERR_UPLOAD_INCOMPLETE | ERR_DAEMON_SESSION | ERR_ACCESS_REFUSED | ERR_INVALID_PATH} The file may be
   * incomplete.
   */
  async upload(
    path: string,
    body: Body,
    { first = 0, length, most = length, progress }: {
      readonly first?: number;
      readonly length?: number;
      readonly most?: number;
      readonly progress: (bytes: number) => void;
    },
  ): Promise<void> {
    const data = await this.#openData();
    try {
      if (first > 0) {
        if (length === undefined) throw new TypeError("the length of a part must be known");
        const range = await this.#control.command(`RANG ${first} ${first + length}`);
        if (range.code !== 350) throw refusal("RANG", range);
      } else if (length !== undefined && length > 0) {
        const allocated = await this.#control.command(`ALLO ${length}`);
        if (allocated.code !== 200) throw refusal("ALLO", allocated);
      }
      const reply = await this.#control.command(`STOR ${argument(path)}`);
      if (reply.code !== 150) {
        const diagnostic = tooLongName(path);
        throw diagnostic === undefined ? refusal("STOR", reply) : invalidPath(diagnostic);
      }
      progress(0);
      const sent = await sendBody(body, data, this.parts.times, { most, progress }).catch((error) =>
        this.#whyEnded(error)
      );
      if (length !== undefined && sent !== length) {
        throw httpError("ERR_UPLOAD_INCOMPLETE", `${sent} of ${length} announced bytes came`);
      }
      expect226("STOR", await this.#control.readReply());
      const { size } = await this.entry(path);
      if (size !== first + sent) {
        throw httpError("ERR_UPLOAD_INCOMPLETE", `${sent} bytes sent from ${first} on, the file has ${size}`);
      }
    } finally {
      data.close();
    }
  }

  /** Throws the daemon's reason for an aborted upload, such as a full disk. */
  async #whyEnded(error: unknown): Promise<never> {
    if (!(error instanceof SessionEnded)) throw error;
    const reply = await this.#control.readReply().catch(() => undefined);
    throw reply === undefined || reply.code === 226 ? error : refusal("STOR", reply);
  }

  /** Makes a directory in an existing one. */
  async makeDirectory(path: string): Promise<void> {
    const reply = await this.#control.command(`MKD ${argument(path)}`);
    if (reply.code !== 257) throw refusal("MKD", reply);
  }

  /** Renames a file, replacing an existing target. */
  async rename(from: string, to: string): Promise<void> {
    const begun = await this.#control.command(`RNFR ${argument(from)}`);
    if (begun.code !== 350) throw refusal("RNFR", begun);
    const ended = await this.#control.command(`RNTO ${argument(to)}`);
    if (ended.code !== 200) throw refusal("RNTO", ended);
  }

  /** Deletes a file; requires a session with all rights. */
  async remove(path: string): Promise<void> {
    const reply = await this.#control.command(`DELE ${argument(path)}`);
    if (reply.code !== 200) throw refusal("DELE", reply);
  }

  /** Ends the session; idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // `QUIT` has no reply, and closing means the same.
    this.#control.socket.close();
    this.parts.onClose();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  async #openData(): Promise<GuardedSocket> {
    const { ports, logInAgain } = this.parts;
    if (this.#keepsData) {
      const reply = await this.#control.command("KEEP-ALIVE false");
      if (reply.code !== 200) throw refusal("KEEP-ALIVE", reply);
      this.#keepsData = false;
    }
    try {
      return await ports.open(this.#control);
    } catch (error) {
      if (!(error instanceof DataPortRefused)) throw error;
      this.#control.socket.close();
      this.#control = await logInAgain();
      return await ports.open(this.#control);
    }
  }
}

function entryOf(reply: Reply): Entry {
  if (reply.code === 550) throw nothingThere(`MLST refused: ${reply.text}`);
  const entry = reply.code === 250 && reply.inner.length === 1 ? parseEntry(reply.inner[0] ?? "") : undefined;
  if (entry === undefined) throw refusal("MLST", reply);
  return entry;
}

/** Appends `/.` to names with trailing blanks, which the daemon would trim. */
function argument(path: string): string {
  return /\s$/u.test(path) ? `${path}/.` : path;
}

function expect226(command: string, reply: Reply): void {
  if (reply.code !== 226) throw refusal(command, reply);
}

/**
 * Sends at most `options.most` bytes of a body with back-pressure. Returns the bytes sent.
 * @throws What the body throws if the client disconnects, or the signal's reason; the upload then failed.
 */
async function sendBody(
  body: Body,
  data: GuardedSocket,
  { dataIdleMs, clientIdleMs }: SessionTimes,
  { most = Infinity, progress }: { readonly most?: number; readonly progress: (bytes: number) => void },
): Promise<number> {
  let sent = 0;
  const reader = body instanceof Uint8Array ? new Blob([body]).stream().getReader() : body?.getReader();
  try {
    while (reader !== undefined) {
      const chunk = await nextChunk(reader, clientIdleMs, data.signal);
      if (chunk === undefined) break;
      if (sent + chunk.length > most) {
        throw httpError("ERR_UPLOAD_INCOMPLETE", `more than the ${most} bytes came that may`);
      }
      await data.write(chunk, dataIdleMs);
      sent += chunk.length;
      progress(sent);
    }
    await data.finishWriting(dataIdleMs);
    return sent;
  } catch (error) {
    await reader?.cancel(error).catch(() => {});
    throw error;
  } finally {
    reader?.releaseLock();
  }
}

async function nextChunk(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  ms: number,
  signal: AbortSignal,
): Promise<Uint8Array | undefined> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let giveUp = () => {};
  const late = new Promise<never>((_, reject) => {
    giveUp = () => reject(signal.reason);
    timer = setTimeout(
      () => reject(httpError("ERR_DAEMON_SESSION_TIMEOUT", "The client does not send its data")),
      ms,
    );
  });
  signal.addEventListener("abort", giveUp);
  try {
    const { value, done } = await Promise.race([reader.read(), late]);
    return done ? undefined : value;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}
