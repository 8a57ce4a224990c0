import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import { type AnswerText, sendText } from "./answer_text.ts";
import type { Discards } from "./drain_body.ts";
import type { RequestGate } from "./request_gate.ts";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly gate: RequestGate;
  readonly discards: Discards;
}

interface SharedByAnswers {
  readonly keepAlive: readonly string[];
  readonly texts: AnswerText;
}

/** Writer of one response. */
export class ResponseWriter {
  #announced = Infinity; // content length: a client with all bytes may disconnect before the response ends
  #written = 0;

  constructor(readonly exchange: Exchange, readonly shared: SharedByAnswers) {}

  /** Whether the client has everything. */
  get complete(): boolean {
    return this.exchange.response.writableFinished || this.#written >= this.#announced;
  }

  /** @throws {ERR_CLIENT_GONE} If the client disconnects early; what the body throws. */
  async send(answer: HttpResponse): Promise<void> {
    if (this.#sentAtOnce(answer)) return;
    const { status, headers, body } = answer;
    const response = this.exchange.response;
    // A client waiting for `100 Continue` may or may not send its body (RFC 9110, 10.1.1).
    if (!this.exchange.request.complete && this.exchange.request.headers.expect !== undefined) {
      response.setHeader("Connection", "close");
    }
    response.writeHead(status, [
      ...headers.fields,
      ...(response.shouldKeepAlive ? this.shared.keepAlive : []),
    ]);
    this.#announced = Number(headers.get("Content-Length") ?? Infinity);
    const early = !this.exchange.request.complete && body !== null && this.#announced < Infinity;
    if (body === null || (isWhole(body) && !early)) {
      response.end(body ?? undefined);
      return;
    }
    for await (const part of isWhole(body) ? [Buffer.from(body)] : body) {
      this.#written += part.length;
      if (!response.write(part) && !this.complete) await this.#drained();
    }
    // Closing while the client is sending resets the connection, which may overtake the response (RFC 9112, 9.6). A
    // response of unknown length needs its end.
    if (early) await this.exchange.discards.drainBody(this.exchange.request, this.exchange.gate);
    response.end();
  }

  /** Sends a text to a client that has sent everything and keeps its connection. */
  #sentAtOnce(answer: HttpResponse): boolean {
    const { method, httpVersion, complete } = this.exchange.request;
    const response = this.exchange.response;
    const stays = response.shouldKeepAlive && !response.hasHeader("Connection");
    if (!stays || !complete || method === "HEAD" || httpVersion !== "1.1") return false;
    const text = this.shared.texts.of(answer);
    return text !== undefined && sendText(response, text);
  }

  #drained(): Promise<void> {
    const response = this.exchange.response;
    return new Promise((resolve, reject) => {
      const onDrain = () => {
        response.off("close", onClose);
        resolve();
      };
      const onClose = () => {
        response.off("drain", onDrain);
        reject(httpError("ERR_CLIENT_GONE"));
      };
      response.once("drain", onDrain);
      response.once("close", onClose);
    });
  }
}

function isWhole(body: HttpResponse["body"]): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}
