import { hasForbiddenCharacter } from "../../model/absolute_path.ts";
import { httpError } from "../../model/http_error.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import { type Reply, ReplyReader } from "./reply_reader.ts";

/** Control connection; an unexpected reply ends the session. */
export class ControlConnection {
  readonly #replies: ReplyReader;

  constructor(readonly socket: GuardedSocket, readonly replyMs: number) {
    this.#replies = new ReplyReader(socket);
  }

  /** Sends a command without line end, never logged for its secrets, and reads the reply. */
  async command(text: string, ms?: number): Promise<Reply> {
    await this.#send([text]);
    return await this.readReply(ms);
  }

  /** Sends commands together: multi-line replies wait 40 ms for a delayed acknowledgement, this way only once. */
  async commands(...texts: readonly string[]): Promise<readonly Reply[]> {
    await this.#send(texts);
    const replies: Reply[] = [];
    while (replies.length < texts.length) replies.push(await this.readReply());
    return replies;
  }

  async #send(texts: readonly string[]): Promise<void> {
    this.#replies.requireNothingLeft();
    await this.sendAhead(texts);
  }

  /** Sends commands without waiting; the caller must read all replies in order. */
  async sendAhead(texts: readonly string[]): Promise<void> {
    if (texts.some(hasForbiddenCharacter)) {
      throw httpError("ERR_DAEMON_SESSION", "Control character in a command, nothing was sent");
    }
    await this.socket.write(
      new TextEncoder().encode(texts.map((text) => `${text}\n`).join("")),
      this.replyMs,
    );
  }

  /** @param ms Timeout of the whole reply. @throws {ERR_DAEMON_SESSION} At the end of the stream, or if invalid. */
  readReply(ms = this.replyMs): Promise<Reply> {
    return this.#replies.read(ms);
  }
}
