import { HeaderList, type HttpRequest, type HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import {
  ByteStreamReceiver,
  ByteStreamSender,
  CallNumbers,
  CallTable,
  ChannelEnd,
  type ChannelMessage,
  dispatch,
  PrefetchBudget,
  type ResponseMessage,
  type Streams,
} from "./wire.ts";

interface PendingCall extends Streams {
  resolve(response: HttpResponse): void;
  reject(error: Error): void;
}

/** Edge's end of the channel to one core. */
export class CoreChannel {
  readonly #end: ChannelEnd;
  readonly #numbers = new CallNumbers();
  readonly #calls = new CallTable<PendingCall>();
  readonly #budget = new PrefetchBudget();
  #idle: (() => void) | undefined;
  #lost = false;

  constructor(port: MessagePort) {
    this.#end = new ChannelEnd(port, (message) => this.#receive(message));
  }

  /** Sends a request. @param signal Of this request only. @throws {ERR_SERVICE_STARTING} If the core dies first. */
  call(
    { method, path, query, headers: { fields }, client, body }: HttpRequest,
    signal: AbortSignal,
  ): Promise<HttpResponse> {
    if (this.#lost) return Promise.reject(httpError("ERR_SERVICE_STARTING"));
    const id = this.#numbers.take();
    return new Promise((resolve, reject) => {
      const onGone = () => {
        if (this.#calls.get(id) === undefined) return; // answered
        this.#end.send({ kind: "gone", id });
        reject(httpError("ERR_SERVICE_STARTING", "the client is gone"));
        this.#calls.get(id)?.incoming?.break(new Deno.errors.UnexpectedEof("the client is gone"));
        this.#finish(id);
      };
      const entry: PendingCall = { resolve, reject };
      this.#calls.set(id, entry);
      signal.addEventListener("abort", onGone);
      const streamed = body instanceof ReadableStream;
      this.#end.send(["request", id, method, path, query, client, fields, streamed ? null : body, streamed]);
      if (streamed) {
        entry.outgoing = new ByteStreamSender(id, body, "kept", this.#end.send);
        void entry.outgoing.run();
      }
    });
  }

  /** Resolves when no request is pending; call it after the last one. */
  idle(): Promise<void> {
    if (this.#numbers.inUse === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle = resolve);
  }

  abort(): void {
    this.#lost = true;
    for (const id of this.#calls.numbers()) {
      const entry = this.#calls.get(id);
      entry?.reject(httpError("ERR_SERVICE_STARTING", "the core died"));
      entry?.incoming?.break(new Deno.errors.UnexpectedEof("the core died"));
      this.#finish(id);
    }
    this.#end.close();
  }

  close(): void {
    this.#end.close();
  }

  #receive(message: ChannelMessage): void {
    const entry = this.#calls.get("kind" in message ? message.id : message[1]);
    if (entry === undefined) return; // its client has disconnected
    if (!("kind" in message)) {
      if (message[0] === "response") this.#answered(entry, message);
      return;
    }
    dispatch(message, entry, () => new Deno.errors.UnexpectedEof("the source of the data failed"));
    if (message.kind !== "end" && message.kind !== "broken") return;
    // Has no effect after the answer.
    if (message.kind === "broken") entry.reject(httpError("ERR_INTERNAL", "the core could not answer"));
    this.#finish(message.id);
  }

  #answered(entry: PendingCall, [, id, status, fields, body, streamed]: ResponseMessage): void {
    const headers = new HeaderList(fields);
    if (streamed) {
      entry.incoming = new ByteStreamReceiver(id, this.#end.send, this.#budget);
      entry.resolve({ status, headers, body: entry.incoming.stream });
    } else {
      entry.resolve({ status, headers, body });
      this.#finish(id);
    }
  }

  #finish(id: number): void {
    const entry = this.#calls.get(id);
    entry?.outgoing?.cancel("answered"); // has no effect if all was sent
    if (this.#calls.delete(id)) this.#numbers.release(id);
    if (this.#numbers.inUse === 0) this.#idle?.();
  }
}
