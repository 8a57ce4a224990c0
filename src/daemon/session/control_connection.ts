import { hasForbiddenCharacter } from "../../model/absolute_path.ts";
import { httpError } from "../../model/http_error.ts";
import type { GuardedSocket } from "./guarded_socket.ts";
import { type Reply, ReplyReader } from "./reply_reader.ts";

/** Commands and replies of a session, strictly in step: a reply that nobody asked for ends the session. */
export class ControlConnection {
  readonly #replies: ReplyReader;

  constructor(readonly socket: GuardedSocket, readonly replyMs: number) {
    this.#replies = new ReplyReader(socket);
  }

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
    this.#replies.requireNothingLeft();
    await this.sendAhead(texts);
  }

  /** Sends commands while replies to others may still be on their way; whoever does so reads them all, in order. */
  async sendAhead(texts: readonly string[]): Promise<void> {
    if (texts.some(hasForbiddenCharacter)) {
      throw httpError("ERR_DAEMON_SESSION", "Control character in a command, nothing was sent");
    }
    await this.socket.write(
      new TextEncoder().encode(texts.map((text) => `${text}\n`).join("")),
      this.replyMs,
    );
  }

  /**
   * @param ms How long all of it may take to come, in however many pieces.
   * @throws {ERR_DAEMON_SESSION} At the end of the stream, or if it is no reply.
   */
  readReply(ms = this.replyMs): Promise<Reply> {
    return this.#replies.read(ms);
  }
}
