import { hasForbiddenCharacter } from "../../model/absolute_path.ts";
import { httpError } from "../../model/http_error.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import { refusal, type Reply, ReplyReader } from "./reply_reader.ts";

/** Digests that daemons compute (daemon-protocol.md 5.10). */
export type ChecksumAlgorithm = "MD5" | "SHA-1" | "SHA-256" | "SHA-512";

/** Control connection; an unexpected reply ends the session. */
export class ControlConnection {
  isLoggedIn = false;
  hashes: ChecksumAlgorithm | undefined; // algorithm of `HASH`, once chosen
  data: GuardedSocket | undefined; // data connection that the daemon leaves open (`KEEP-ALIVE`)
  readonly #replies: ReplyReader;
  #heard = false; // whether the daemon sent something since this side did

  constructor(readonly socket: GuardedSocket, readonly replyMs: number) {
    this.#replies = new ReplyReader({
      read: (into, ms) => this.#read(into, ms),
      fail: (reason) => socket.fail(reason),
    });
  }

  /**
   * Reads the next bytes. A daemon sends a line once the system acknowledges its last one, which takes 40 ms unless we send
   * something (delayed ACK): an empty line, which daemons ignore after the login.
   */
  async #read(into: Uint8Array, ms: number): Promise<number | null> {
    if (this.#heard && this.isLoggedIn) await this.socket.write(Uint8Array.of(10), ms).catch(() => {});
    this.#heard = true;
    return await this.socket.read(into, ms);
  }

  /** Sends a command without line end, never logged for its secrets, and reads the reply. */
  async command(text: string, ms?: number): Promise<Reply> {
    this.#replies.requireNothingLeft();
    await this.pipeline([text]);
    return await this.readReply(ms);
  }

  /**
   * Sends a command whose reply must have a code, together with others, whose replies the caller reads in order.
   * @throws {ERR_ACCESS_REFUSED | ERR_DAEMON_SESSION}
   */
  async expect(code: number, text: string, ...others: readonly string[]): Promise<void> {
    this.#replies.requireNothingLeft();
    await this.pipeline([text, ...others]);
    await this.confirm(code, text);
  }

  /** Reads the reply to a command, which must have a code. @throws As {@link expect}. */
  async confirm(code: number, text: string): Promise<void> {
    const reply = await this.readReply();
    if (reply.code !== code) throw refusal(text.split(" ", 1).join(), reply);
  }

  /** Sends commands without waiting; the caller must read all replies in order. */
  async pipeline(texts: readonly string[]): Promise<void> {
    if (texts.some(hasForbiddenCharacter)) {
      throw httpError("ERR_DAEMON_SESSION", "Control character in a command, nothing was sent");
    }
    this.#heard = false;
    await this.socket.write(
      new TextEncoder().encode(texts.map((text) => `${text}\n`).join("")),
      this.replyMs,
    );
  }

  /** @param ms Timeout of the whole reply. @throws {ERR_DAEMON_SESSION} At the end of the stream, or if invalid. */
  readReply(ms = this.replyMs): Promise<Reply> {
    return this.#replies.read(ms);
  }

  close(): void {
    this.socket.close();
    this.data?.close();
  }
}
