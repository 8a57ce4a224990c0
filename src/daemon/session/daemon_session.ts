import { protectEnd, withoutSlash } from "../../model/absolute_path.ts";
import { unlessAborted } from "../../model/clock.ts";
import type { Body } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import { refusal, type Reply } from "./reply_reader.ts";
import { ChunkReader } from "./chunk_reader.ts";
import type { ChecksumAlgorithm, ControlConnection } from "./control_connection.ts";
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
  readonly reconnect: () => Promise<ControlConnection>; // opens a further connection with the same rights
  /** Reports whether the session may use an absolute path; a directory may end in a slash. Default: every path. */
  readonly reaches?: (path: string) => boolean;
  /** Called once at the end. @param idle Connection that another session can use; absent after a failure. */
  readonly onClose: (idle?: ControlConnection) => void;
}

const MIN_HASH_RATE = 20_000; // bytes per millisecond, below which a daemon computes no checksum in time
const MAX_HASH_MS = 24 * 3600 * 1000;

/** Bytes of an upload up to which a data connection of its own takes longer than the transfer. */
const SMALL_UPLOAD = 1024 ** 2;

const MAX_INLINE = 16 * 1024; // bytes of an upload that the system buffers at once, before the daemon reads

/** Session for one HTTP request (daemon-protocol.md 5). A failed transfer ends it: ranges would persist in the daemon. */
export class DaemonSession {
  #control: ControlConnection;
  #closed = false;
  #unfinished = 0; // transfers that run or failed
  #renames: string | undefined; // path whose rename has begun

  /** @param control Logged-in connection. */
  constructor(control: ControlConnection, readonly parts: SessionParts) {
    this.#control = control;
  }

  /** Returns the entry at a path, following links. @throws {ERR_NOT_FOUND} If absent or out of reach. */
  async entry(path: string): Promise<Entry> {
    return this.#entryOf(path, await this.#control.command(`MLST ${this.#argument(path, "any")}`));
  }

  #entryOf(path: string, reply: Reply): Entry {
    if (reply.code === 550) {
      this.#control.data?.close(); // as the daemon does
      throw nothingThere(`MLST refused: ${reply.text}`);
    }
    const entry = reply.code === 250 && reply.inner.length === 1
      ? parseEntry(reply.inner[0] ?? "")
      : undefined;
    if (entry === undefined) throw refusal("MLST", reply);
    if (!this.reaches(entry.kind === "directory" ? asDirectory(path) : withoutSlash(path))) {
      throw outOfReach();
    }
    return entry;
  }

  /** Reports whether an entry may exist; unlike {@link entry}, a daemon that knows `STAT` keeps its data connection. */
  async mayExist(path: string): Promise<boolean> {
    const { code, text } = await this.#control.command(`STAT F ${this.#argument(path, "any")}`);
    return code !== 500 || !text.startsWith("Error processing command 'STAT': Directory/file does not exist");
  }

  /**
   * Returns the entry with its modification time in milliseconds since the epoch, if the daemon supports `STAT`; `MLST`
   * uses its local time.
   * @throws {ERR_NOT_FOUND}
   */
  async datedEntry(path: string): Promise<Entry & { readonly modifiedAt?: number }> {
    const entry = await this.entry(path);
    const status = await this.#control.command(`STAT F ${protectEnd(path)}`);
    const line = status.code === 211 && status.inner.length === 1 ? status.inner[0] ?? "" : "";
    const milliseconds = /^[-d][-rwx]{3} \d+ (\d{1,15}) /.exec(line)?.[1];
    return { ...entry, modifiedAt: milliseconds === undefined ? undefined : Number(milliseconds) };
  }

  /** Reads the entries of a directory that the session reaches, unordered. @throws {ERR_NOT_FOUND} */
  async list(path: string, take: (entry: Entry) => void): Promise<ListingRest> {
    const directory = asDirectory(path);
    const command = `MLSD ${this.#argument(directory)}`;
    using data = await this.#openData();
    this.#unfinished++;
    const reply = await this.#control.command(command);
    if (reply.code === 550) {
      this.#unfinished--; // the daemon has closed the data connection
      throw nothingThere(`MLSD refused: ${reply.text}`);
    }
    if (reply.code !== 150) throw refusal("MLSD", reply);
    const listing = await readListing(data, this.parts.times.dataIdleMs, (entry) => {
      if (this.reaches(`${directory}${entry.name}${entry.kind === "directory" ? "/" : ""}`)) take(entry);
    });
    data.close();
    if (listing.complete) {
      await this.#control.confirm(226, "MLSD");
      this.#unfinished--;
    }
    return listing;
  }

  /**
   * Streams a regular file from `first`. The session ends with the stream, but can stay open after a complete one.
   * Check {@link entry} first: other files can block the daemon for good.
   * @param done Called with the result, unless this method throws: the daemon sent nothing.
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
    const command = `RETR ${this.#argument(path)}`;
    const chunks = new ChunkReader(await this.#openData());
    this.#unfinished++;
    try {
      // The end is exclusive; an explicit range tolerates a growing file.
      await this.#control.expect(350, `RANG ${first} ${first + length}`);
      await this.#control.expect(150, command);
      return await downloadStream(chunks, length, {
        times: this.parts.times,
        confirm: () => this.#control.confirm(226, "RETR"),
        done: (result, error) => {
          if (result.complete) this.#unfinished--;
          if (!stays || !result.complete) this.close();
          done(result, error);
        },
      });
    } catch (error) {
      chunks.close();
      throw error;
    }
  }

  /**
   * Reads several files in order without a round trip each; the caller must read all before the next operation.
   * @returns Function that returns the next file. Daemons that close data connections get one request per file.
   */
  async series(
    files: readonly { readonly path: string; readonly length: number }[],
  ): Promise<{ next(): AsyncIterable<Uint8Array<ArrayBuffer>>; close(): void }> {
    const wanted = files.map(({ path, length }) => ({ path: this.#argument(path), length }));
    const data = wanted.length > 1 ? await this.#openData(true) : undefined;
    if (data !== undefined && this.#control.data === data) {
      this.#unfinished++; // the session ends with the series
      const late = () => this.close();
      return new FileSeries(wanted, { control: this.#control, data, times: this.parts.times, late });
    }
    data?.close();
    const one = async function* (this: DaemonSession, file?: { path: string; length: number }) {
      if (file === undefined) throw new TypeError("no more files were wanted");
      yield* await this.download(file.path, { first: 0, length: file.length, stays: true, done: () => {} });
    };
    const left = files[Symbol.iterator]();
    return { next: () => one.call(this, left.next().value), close: () => {} };
  }

  /**
   * Writes a file, or its part from `first`, and checks the length afterwards: the daemon accepts truncated uploads.
   * @param body Read once the daemon is ready; a small one in memory is sent with the commands.
   * @param options.first Default: 0; otherwise `length` is required.
   * @param options.most Limit in bytes; default: `length`. A longer upload ends before it.
   * @param options.checksum Algorithm of the digest of the whole file, if that is cheap.
   * @param options.renames Whether the file is renamed next.
   * @param options.progress Called with the bytes sent: 0 at the start, then after each chunk.
   * @returns Digest in lower-case hexadecimal; undefined if it needs a request of its own.
   * @throws {ERR_UPLOAD_INCOMPLETE | ERR_DAEMON_SESSION | ERR_ACCESS_REFUSED | ERR_INVALID_PATH} The file may be
   * incomplete.
   */
  async upload(
    path: string,
    body: Body,
    { first = 0, length, most = length, checksum, renames = false, progress }: {
      readonly first?: number;
      readonly length?: number;
      readonly most?: number;
      readonly checksum?: ChecksumAlgorithm | undefined;
      readonly renames?: boolean;
      readonly progress: (bytes: number) => void;
    },
  ): Promise<string | undefined> {
    const command = `STOR ${this.#argument(path)}`;
    const data = await this.#openData(first === 0 && length !== undefined && length <= SMALL_UPLOAD);
    const isKept = this.#control.data === data;
    using _ = isKept ? undefined : data;
    // For an empty file, the reply is the same as for one byte.
    const isHashed = checksum !== undefined && isKept && Number(length) > 1 &&
      await this.#choose(checksum).then(() => true, () => false);
    const checks = [`${isHashed ? "HASH" : "MLST"} ${protectEnd(path)}`];
    if (renames) checks.push(`RNFR ${protectEnd(path)}`);
    this.#unfinished++;
    this.#renames = undefined;
    if (first > 0) {
      if (length === undefined) throw new TypeError("the length of a part must be known");
      await this.#control.expect(350, `RANG ${first} ${first + length}`);
    }
    const { times } = this.parts;
    let sending: Promise<number> | undefined;
    if (isKept) {
      const whole = body instanceof Uint8Array && body.length === length ? body : undefined;
      const inline = length === most && Number(length) <= MAX_INLINE ? whole : undefined;
      const allowed = this.#control.expect(200, `ALLO ${length}`, command, ...inline ? checks : []);
      sending = inline && data.write(inline, times.dataIdleMs).then(() => inline.length);
      sending?.catch(() => {});
      await allowed;
    }
    const reply = await (isKept ? this.#control.readReply() : this.#control.command(command));
    if (reply.code !== 150) {
      if (sending !== undefined) {
        data.close(); // the daemon has not read it
        await this.#checked(renames).catch(() => {});
      }
      throw refusal("STOR", reply);
    }
    progress(0);
    const sent = await (sending ?? sendBody(body, data, times, { most, progress })).catch(this.#throwReason);
    if (!isKept) await data.finishWriting(times.dataIdleMs).catch(this.#throwReason);
    if (length !== undefined && sent !== length) {
      throw httpError("ERR_UPLOAD_INCOMPLETE", `${sent} of ${length} announced bytes came`);
    }
    if (sending === undefined) await this.#control.pipeline(checks);
    else progress(sent);
    return await this.#stored(path, first + sent, isHashed, renames);
  }

  /** Reads the replies to `STOR` and the commands after it. @returns Digest, if the daemon sends it with the size. */
  async #stored(path: string, end: number, isHashed: boolean, renames: boolean): Promise<string | undefined> {
    const stored = await this.#control.readReply();
    const checked = this.#checked(renames);
    if (stored.code !== 226) {
      await checked.catch(() => {}); // else a later command would read these replies as its own
      throw refusal("STOR", stored);
    }
    const [found, renaming] = await checked;
    const hashed = isHashed ? digestIn(found) : undefined;
    const size = hashed?.size ?? (isHashed ? await this.entry(path) : this.#entryOf(path, found)).size;
    if (size !== end) throw httpError("ERR_UPLOAD_INCOMPLETE", `sent up to ${end}, the file has ${size}`);
    this.#unfinished--;
    if (renaming?.code === 350) this.#renames = path;
    return hashed?.digest;
  }

  /** Reads the replies to the commands after `STOR`. */
  async #checked(renames: boolean): Promise<readonly [found: Reply, renaming?: Reply]> {
    const found = await this.#control.readReply();
    return renames ? [found, await this.#control.readReply()] : [found];
  }

  /** Throws the daemon's reason for an aborted upload, such as a full disk. */
  #throwReason = async (error: unknown): Promise<never> => {
    if (!(error instanceof SessionEnded)) throw error;
    const reply = await this.#control.readReply().catch(() => undefined);
    this.#control.close(); // replies to pipelined commands are left unread
    throw reply === undefined || reply.code === 226 ? error : refusal("STOR", reply);
  };

  async makeDirectory(path: string): Promise<void> {
    await this.#control.expect(257, `MKD ${this.#argument(path)}`);
  }

  /** Renames a file or directory, replacing an existing file. */
  async rename(from: string, to: string): Promise<void> {
    const [source, target] = [this.#argument(from), this.#argument(to)];
    if (this.#renames !== from) await this.#control.expect(350, `RNFR ${source}`);
    this.#renames = undefined;
    await this.#control.expect(200, `RNTO ${target}`);
  }

  /** Deletes a file, or a link itself; requires a session with all rights. @returns False for a directory. */
  async remove(path: string): Promise<boolean> {
    const reply = await this.#control.command(`DELE ${this.#argument(path)}`);
    if (/^Error processing command 'DELE': \[Errno 21\] /.test(reply.text)) return false;
    if (reply.code !== 200) throw refusal("DELE", reply);
    return true;
  }

  async removeDirectory(path: string): Promise<void> {
    await this.#control.expect(200, `RMD ${this.#argument(path)}`);
  }

  /** Computes the digest of a regular file of `size` bytes at the daemon, in lower-case hexadecimal. */
  async checksum(path: string, algorithm: ChecksumAlgorithm, size: number): Promise<string> {
    const command = `HASH ${this.#argument(path)}`;
    await this.#choose(algorithm);
    const ms = Math.min(this.parts.times.replyMs + size / MIN_HASH_RATE, MAX_HASH_MS);
    const reply = await this.#control.command(command, ms);
    const hashed = digestIn(reply);
    if (hashed === undefined) throw refusal("HASH", reply);
    return hashed.digest;
  }

  /** Chooses the algorithm of `HASH`. @throws {ERR_DAEMON_SESSION} */
  async #choose(algorithm: ChecksumAlgorithm): Promise<void> {
    if (this.#control.hashes !== algorithm) await this.#control.expect(200, `OPTS HASH ${algorithm}`);
    this.#control.hashes = algorithm;
  }

  /** Sets the permission bits of a file. @returns False if the daemon cannot. */
  async setMode(path: string, mode: number): Promise<boolean> {
    const argument = this.#argument(path);
    if (argument.includes(" ")) return false; // the daemon would split it
    return (await this.#control.command(`MFF UNIX.mode=${mode.toString(8)}; ${argument}`)).code === 213;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const isIdle = this.#unfinished === 0 && !this.#control.socket.closed;
    // `QUIT` has no reply, and closing has the same effect.
    if (!isIdle) this.#control.close();
    this.parts.onClose(isIdle ? this.#control : undefined);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Returns the argument of a command. @param kind Whether a path without slash may be a directory. @throws {ERR_NOT_FOUND} */
  #argument(path: string, kind: "as written" | "any" = "as written"): string {
    if (!this.reaches(path) && !(kind === "any" && this.reaches(asDirectory(path)))) throw outOfReach();
    return protectEnd(path);
  }

  reaches(path: string): boolean {
    return this.parts.reaches?.(path) ?? true;
  }

  /** Opens a data connection. @param keeps Whether to ask the daemon to leave it open, or to reuse the one it left open. */
  async #openData(keeps = false): Promise<GuardedSocket> {
    const control = this.#control;
    if (keeps && control.data?.closed === false) return control.data;
    if (control.data !== undefined) {
      await control.expect(200, "KEEP-ALIVE false");
      control.data.close();
      control.data = undefined;
    }
    const opened = await this.#openPort();
    if (!keeps) return opened;
    this.#control.data = opened; // ends with the session if the daemon does not answer
    if ((await this.#control.command("KEEP-ALIVE true")).code !== 200) this.#control.data = undefined;
    return opened;
  }

  async #openPort(): Promise<GuardedSocket> {
    const { ports, reconnect } = this.parts;
    this.#unfinished++; // no other request gets a session that cannot open data connections
    const opened = await ports.open(this.#control).catch(async (error) => {
      if (!(error instanceof DataPortRefused)) throw error;
      this.#control.close();
      this.#control = await reconnect();
      return await ports.open(this.#control);
    });
    this.#unfinished--;
    return opened;
  }
}

function asDirectory(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

/** Returns size and digest of a whole file in a reply to `HASH`; an empty file has the size 1 there, too. */
function digestIn({ code, text }: Reply): { readonly size: number; readonly digest: string } | undefined {
  const [, last, digest] = /^\S+ 0-(\d{1,16}) ([0-9a-f]+) /.exec(text) ?? [];
  return code === 213 && digest !== undefined ? { size: Number(last) + 1, digest } : undefined;
}

function outOfReach(): Error {
  return nothingThere("outside of what the session may reach");
}

/** Sends at most `options.most` bytes of a body with back-pressure. Returns the bytes sent. @throws Errors of the body. */
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
  const { promise: late, reject } = Promise.withResolvers<never>();
  using _timer = setTimeout(
    () => reject(httpError("ERR_DAEMON_SESSION_TIMEOUT", "The client does not send its data")),
    ms,
  );
  const { value, done } = await unlessAborted(Promise.race([reader.read(), late]), signal);
  return done ? undefined : value;
}
