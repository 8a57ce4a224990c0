import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import { type AnswerText, sendText } from "./answer_text.ts";
import type { Discards } from "./drain_body.ts";
import type { RequestGate } from "./request_gate.ts";

/** The writing of one answer to its client. */
export class ResponseWriter {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #keepAlive: readonly string[];
  readonly #texts: AnswerText;
  readonly #gate: RequestGate;
  readonly #discards: Discards;
  /** Bytes that the answer says it has; a client that has them all may leave before the answer is seen to its end. */
  #announced = Infinity;
  #written = 0;

  constructor(
    { request, response, gate, discards }: {
      readonly request: IncomingMessage;
      readonly response: ServerResponse;
      readonly gate: RequestGate;
      readonly discards: Discards;
    },
    { keepAlive, texts }: {
      /** Further header fields for where the connection is kept. */
      readonly keepAlive: readonly string[];
      readonly texts: AnswerText;
    },
  ) {
    this.#request = request;
    this.#gate = gate;
    this.#discards = discards;
    this.#response = response;
    this.#keepAlive = keepAlive;
    this.#texts = texts;
  }

  /** Whether the client has all there is for it. */
  get complete(): boolean {
    return this.#response.writableFinished || this.#written >= this.#announced;
  }

  /** @throws {ERR_CLIENT_GONE} If the client leaves before it has everything; what the body throws. */
  async send(answer: HttpResponse): Promise<void> {
    if (this.#sentAtOnce(answer)) return;
    const { status, headers, body } = answer;
    const response = this.#response;
    // Whether a client that waits for `100 Continue` sends its body after all, nobody can tell (RFC 9110, 10.1.1).
    if (!this.#request.complete && this.#request.headers.expect !== undefined) {
      response.setHeader("Connection", "close");
    }
    response.writeHead(status, [...headers.fields, ...(response.shouldKeepAlive ? this.#keepAlive : [])]);
    this.#announced = Number(headers.get("Content-Length") ?? Infinity);
    const early = !this.#request.complete && body !== null && this.#announced < Infinity;
    if (body === null || (isWhole(body) && !early)) {
      response.end(body ?? undefined);
      return;
    }
    for await (const part of isWhole(body) ? [Buffer.from(body)] : body) {
      this.#written += part.length;
      if (!response.write(part) && !this.complete) await this.#drained();
    }
    // With the end of the answer the connection is closed, if the client wants that. What it is still sending would make a
    // reset of it, which may overtake the answer (RFC 9112, 9.6). An answer of unknown length is whole only with its end.
    if (early) await this.#discards.drainBody(this.#request, this.#gate);
    response.end();
  }

  /** What most answers are: a text, for a client that has sent all it had to say and stays. */
  #sentAtOnce(answer: HttpResponse): boolean {
    const { method, httpVersion, complete } = this.#request;
    const response = this.#response;
    const stays = response.shouldKeepAlive && !response.hasHeader("Connection");
    if (!stays || !complete || method === "HEAD" || httpVersion !== "1.1") return false;
    const text = this.#texts.of(answer);
    return text !== undefined && sendText(response, text);
  }

  /** Resolves when the client has taken what was written. */
  #drained(): Promise<void> {
    const response = this.#response;
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
