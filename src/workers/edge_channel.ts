import type { Logger } from "../logging/logger.ts";
import { type Body, type Handler, HeaderList } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import {
  ByteStreamReceiver,
  ByteStreamSender,
  CallTable,
  ChannelEnd,
  type ChannelMessage,
  dispatch,
  PrefetchBudget,
  type RequestMessage,
  type Streams,
} from "./wire.ts";

interface PendingCall extends Streams {
  readonly gone: AbortController;
}

/** Core's end of the channel to the edge. */
export class EdgeChannel {
  readonly #end: ChannelEnd;
  readonly #budget = new PrefetchBudget();
  readonly #calls = new CallTable<PendingCall>();

  constructor(port: MessagePort, readonly answer: Handler, readonly log: Logger) {
    this.#end = new ChannelEnd(port, (message) => this.#receive(message));
  }

  /** Treats all clients as disconnected. */
  abort(): void {
    this.#end.close();
    for (const id of this.#calls.numbers()) this.#receive({ kind: "gone", id });
  }

  #receive(message: ChannelMessage): void {
    if (!("kind" in message)) {
      if (message[0] === "request") void this.#serve(message);
      return;
    }
    const entry = this.#calls.get(message.id);
    if (entry === undefined) return; // answered already
    dispatch(message, entry, () => httpError("ERR_CLIENT_GONE", "the upload broke off"));
    if (message.kind !== "gone") return;
    entry.gone.abort(httpError("ERR_CLIENT_GONE"));
    entry.incoming?.break(httpError("ERR_CLIENT_GONE"));
    entry.outgoing?.cancel("the client is gone");
  }

  async #serve(
    [, id, method, path, query, client, fields, whole, streamed]: RequestMessage,
  ): Promise<void> {
    const entry: PendingCall = { gone: new AbortController() };
    this.#calls.set(id, entry);
    let body: Body = whole;
    if (streamed) {
      entry.incoming = new ByteStreamReceiver(id, this.#end.send, this.#budget);
      body = entry.incoming.stream;
    }
    try {
      const request = { method, path, query, headers: new HeaderList(fields), client, body };
      const { status, headers, body: content } = await this.answer(request, entry.gone.signal);
      if (content instanceof ReadableStream) {
        this.#end.send(["response", id, status, headers.fields, null, true]);
        entry.outgoing = new ByteStreamSender(id, content, "given", this.#end.send);
        if (entry.gone.signal.aborted) entry.outgoing.cancel("the client is gone");
        await entry.outgoing.run();
      } else this.#end.send(["response", id, status, headers.fields, content, false]);
    } catch (error) {
      this.log.error("answer failed", { error });
      this.#end.send({ kind: "broken", id });
    } finally {
      entry.incoming?.break(httpError("ERR_CLIENT_GONE", "answered before it was read to its end"));
      this.#calls.delete(id);
    }
  }
}
