import type { Logger } from "../logging/logger.ts";
import { type Answer, type Body, HeaderList } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import {
  Ahead,
  ByteStreamReceiver,
  ByteStreamSender,
  CallTable,
  ChannelEnd,
  type ChannelMessage,
  type RequestMessage,
} from "./wire.ts";

interface UnderWay {
  readonly gone: AbortController;
  upload?: ByteStreamReceiver;
  download?: ByteStreamSender;
}

/** Core's end of the channel to the edge. */
export class EdgeChannel {
  readonly #end: ChannelEnd;
  readonly #ahead = new Ahead();
  readonly #underWay = new CallTable<UnderWay>();

  constructor(port: MessagePort, readonly answer: Answer, readonly log: Logger) {
    this.#end = new ChannelEnd(port, (message) => this.#receive(message));
  }

  #receive(message: ChannelMessage): void {
    if (!("kind" in message)) {
      if (message[0] === "request") void this.#serve(message);
      return;
    }
    const entry = this.#underWay.get(message.id);
    if (entry === undefined) return; // answered already
    switch (message.kind) {
      case "chunk":
        entry.upload?.chunk(message.bytes);
        break;
      case "end":
        entry.upload?.end();
        break;
      case "broken":
        entry.upload?.break(httpError("ERR_CLIENT_GONE", "the upload broke off"));
        break;
      case "credit":
        entry.download?.credit(message.chunks);
        break;
      case "cancel":
        entry.download?.cancel("no longer wanted");
        break;
      case "gone":
        entry.gone.abort(httpError("ERR_CLIENT_GONE"));
        entry.upload?.break(httpError("ERR_CLIENT_GONE"));
        entry.download?.cancel("the client is gone");
        break;
    }
  }

  async #serve(
    [, id, method, path, query, client, fields, whole, streamed]: RequestMessage,
  ): Promise<void> {
    const entry: UnderWay = { gone: new AbortController() };
    this.#underWay.set(id, entry);
    let body: Body = whole;
    if (streamed) {
      entry.upload = new ByteStreamReceiver(id, (back) => this.#end.send(back), this.#ahead);
      body = entry.upload.stream;
    }
    try {
      const request = { method, path, query, headers: new HeaderList(fields), client, body };
      const { status, headers, body: content } = await this.answer(request, entry.gone.signal);
      if (content instanceof ReadableStream) {
        this.#end.send(["response", id, status, headers.fields, null, true]);
        await this.#stream(id, entry, content);
      } else this.#end.send(["response", id, status, headers.fields, content, false]);
    } catch (error) {
      this.log.error("answer failed", { error });
      this.#end.send({ kind: "broken", id });
    } finally {
      entry.upload?.break(httpError("ERR_CLIENT_GONE", "answered before it was read to its end"));
      this.#underWay.delete(id);
    }
  }

  async #stream(id: number, entry: UnderWay, body: ReadableStream<Uint8Array>): Promise<void> {
    entry.download = new ByteStreamSender(id, body, "given", (message) => this.#end.send(message));
    if (entry.gone.signal.aborted) entry.download.cancel("the client is gone");
    await entry.download.run();
  }
}
