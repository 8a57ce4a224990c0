import { hasForbiddenCharacter } from "../rules/absolute_path.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import { SessionEnded, SessionFailed } from "./session_errors.ts";

/** A reply on the control connection (daemon-protocol.md 5.1). */
export interface Reply {
  readonly code: number;
  /** Text of the last line, for the log. */
  readonly text: string;
  /** Lines between the first and the last, without the leading space. */
  readonly inner: readonly string[];
}

/** Bytes; longer lines and replies end the session. */
const MAX_LINE = 16 * 1024;
const MAX_REPLY = 64 * 1024;
const LF = 10;

/** Commands and replies of a session, strictly in step: a reply that nobody asked for ends the session. */
export class ControlConnection {
  #buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });

  constructor(readonly socket: GuardedSocket, readonly replyMs: number) {}

  /**
   * Sends a command and reads its reply.
   * @param text Without line end. Never shown: it may hold the one-time password.
   */
  async command(text: string): Promise<Reply> {
    await this.#send([text]);
    return await this.readReply();
  }

  /**
   * Sends commands at once and reads their replies, which come in order. The daemon writes a reply of several lines in
   * pieces, of which the second waits for our system's late acknowledgement, some 40 ms: together they wait only once.
   */
  async commands(...texts: readonly string[]): Promise<readonly Reply[]> {
    await this.#send(texts);
    const replies: Reply[] = [];
    while (replies.length < texts.length) replies.push(await this.readReply());
    return replies;
  }

  async #send(texts: readonly string[]): Promise<void> {
    if (texts.some(hasForbiddenCharacter)) {
      throw new SessionFailed("Control character in a command, nothing was sent");
    }
    if (this.#buffer.length > 0) throw this.#broken("a reply that nobody asked for");
    await this.socket.write(
      new TextEncoder().encode(texts.map((text) => `${text}\n`).join("")),
      this.replyMs,
    );
  }

  /**
   * @param ms How long each piece may take to come.
   * @throws {SessionFailed} At the end of the stream, or if it is no reply.
   */
  async readReply(ms = this.replyMs): Promise<Reply> {
    const first = /^([1-5]\d\d)([ -])(.*)$/.exec(await this.#readLine(ms));
    if (first === null) throw this.#broken("no reply code");
    const code = Number(first[1]);
    if (first[2] === " ") return { code, text: first[3] ?? "", inner: [] };
    const inner: string[] = [];
    for (let size = 0; size <= MAX_REPLY;) {
      const line = await this.#readLine(ms);
      if (line.startsWith(`${code} `)) return { code, text: line.slice(4), inner };
      if (!line.startsWith(" ")) throw this.#broken("a line out of place in a reply");
      inner.push(line.slice(1));
      size += line.length + 1;
    }
    throw this.#broken("a reply that is too long");
  }

  async #readLine(ms: number): Promise<string> {
    for (let searched = 0;;) {
      const end = this.#buffer.indexOf(LF, searched);
      if (end >= 0) {
        const line = this.#decode(this.#buffer.subarray(0, end));
        this.#buffer = this.#buffer.subarray(end + 1);
        // The older Java daemon ends its lines in CR LF.
        return line.endsWith("\r") ? line.slice(0, -1) : line;
      }
      searched = this.#buffer.length;
      if (searched > MAX_LINE) throw this.#broken("a line that is too long");
      const more = new Uint8Array(4096);
      const count = await this.socket.read(more, ms);
      if (count === null) throw new SessionEnded("Daemon ended the session instead of a reply");
      const joined = new Uint8Array(searched + count);
      joined.set(this.#buffer);
      joined.set(more.subarray(0, count), searched);
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

  #broken(what: string, cause?: unknown): SessionFailed {
    const error = new SessionFailed(`Daemon sent ${what}`, { cause });
    this.socket.fail(error);
    return error;
  }
}
