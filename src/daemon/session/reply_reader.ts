import type { Stopwatch } from "../../model/clock.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import { SessionEnded } from "./session_errors.ts";

/** Reply on the control connection (daemon-protocol.md 5.1). */
export interface Reply {
  readonly code: number;
  readonly text: string; // last line, for the log
  readonly inner: readonly string[]; // inner lines without the leading space
}

const MAX_LINE = 16 * 1024; // bytes; a longer line ends the session
const MAX_REPLY = 64 * 1024; // bytes; a longer reply, too
const LF = 10;

interface ReplySource {
  read(into: Uint8Array, ms: number): Promise<number | null>; // reads at least one byte; `null` at the end
  fail(reason: unknown): void;
}

/** Reads replies and closes the source at an invalid one. */
export class ReplyReader {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  readonly #more = new Uint8Array(4096); // receives bytes until they are copied
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });

  constructor(readonly source: ReplySource, readonly elapsed: Stopwatch = () => performance.now()) {}

  /** @throws {ERR_DAEMON_SESSION} If unread bytes are left. */
  requireNothingLeft(): void {
    if (this.#buffer.length > 0) throw this.#broken("a reply that nobody asked for");
  }

  /** @param ms Timeout of the whole reply. @throws {ERR_DAEMON_SESSION} At the end of the stream, or if invalid. */
  async read(ms: number): Promise<Reply> {
    const until = this.elapsed() + ms;
    const first = /^([1-5]\d\d)([ -])(.*)$/.exec(await this.#readLine(until));
    if (first === null) throw this.#broken("no reply code");
    const code = Number(first[1]);
    if (first[2] === " ") return { code, text: first[3] ?? "", inner: [] };
    const inner: string[] = [];
    for (let size = 0; size <= MAX_REPLY;) {
      const line = await this.#readLine(until);
      // UFTPD begins its reply before it reads the facts in it: an error then ends the reply.
      const end = /^[1-5]\d\d(?= )/.exec(line)?.[0];
      if (end === String(code) || Number(end) >= 400) {
        return { code: Number(end), text: line.slice(4), inner };
      }
      if (line === `${code}-`) continue; // sent by long commands as a sign of life
      if (!line.startsWith(" ")) throw this.#broken("a line out of place in a reply");
      inner.push(line.slice(1));
      size += line.length + 1;
    }
    throw this.#broken("a reply that is too long");
  }

  /** @param until Deadline by {@link elapsed}. */
  async #readLine(until: number): Promise<string> {
    for (let searched = 0;;) {
      const end = this.#buffer.indexOf(LF, searched);
      if (end >= 0) {
        const line = this.#decode(this.#buffer.subarray(0, end));
        this.#buffer = this.#buffer.subarray(end + 1);
        // The Java daemon ends lines in CR LF.
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      searched = this.#buffer.length;
      if (searched > MAX_LINE) throw this.#broken("a line that is too long");
      const count = await this.source.read(this.#more, Math.max(0, until - this.elapsed()));
      if (count === null) throw this.#failed(new SessionEnded("Daemon ended the session instead of a reply"));
      const joined = new Uint8Array(searched + count);
      joined.set(this.#buffer);
      joined.set(this.#more.subarray(0, count), searched);
      this.#buffer = joined;
    }
  }

  #decode(bytes: Uint8Array): string {
    try {
      return this.#decoder.decode(bytes);
    } catch (error) {
      throw this.#broken("a reply that is not UTF-8", error);
    }
  }

  #broken(what: string, cause?: unknown): HttpError {
    return this.#failed(httpError("ERR_DAEMON_SESSION", `Daemon sent ${what}`, cause));
  }

  #failed(error: HttpError): HttpError {
    this.source.fail(error);
    return error;
  }
}

/** Errors for failures of the system that the daemon reports. */
const SYSTEM_ERRORS = [
  [/\[Errno (?:1|13|30)\]/, "ERR_ACCESS_REFUSED"],
  [/\[Errno (?:2|20|40)\]/, "ERR_NOT_FOUND"],
  [/\[Errno 17\]/, "ERR_EXISTS"],
  [/\[Errno 18\]/, "ERR_OTHER_FILE_SYSTEM"],
  [/\[Errno 21\]/, "ERR_NOT_A_FILE"],
  [/\[Errno (?:28|122)\]|No space left on device|Disk quota exceeded/i, "ERR_STORAGE_FULL"],
  [/\[Errno 36\]|File name too long/, "ERR_INVALID_PATH"],
  [/\[Errno 39\]/, "ERR_NOT_EMPTY"],
] as const;

/** Returns the error for a refusal. Code and text, which may contain internals, are for the log. */
export function refusal(command: string, { code, text }: Reply): Error {
  const values = { what: "The file or directory", diagnostic: "it, or a name in it, is too long" };
  const reported = /\[Errno \d+\]/.exec(text)?.[0] ?? text; // file names follow it
  const [, error] = SYSTEM_ERRORS.find(([pattern]) => pattern.test(reported)) ?? [];
  const other = code === 534 || code === 550 ? "ERR_ACCESS_REFUSED" : "ERR_DAEMON_SESSION";
  return new HttpError(error ?? other, { ...values, reason: `${command} answered ${code} ${text}` });
}
