import { Buffer } from "node:buffer";
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { BodyDrainer } from "./request_body.ts";
import type { RequestGate } from "./request_gate.ts";
import type { Clock } from "../model/clock.ts";

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly gate: RequestGate;
  readonly drainer: BodyDrainer;
}

/** Writer of one response, as fast as the client reads it. */
export class ResponseWriter {
  #announced = Infinity; // content length: a client with all bytes may disconnect before the response ends
  #written = 0;

  constructor(readonly exchange: Exchange, readonly texts: AnswerText) {}

  get complete(): boolean {
    return this.exchange.response.writableFinished || this.#written >= this.#announced;
  }

  /** @throws {ERR_CLIENT_GONE} If the client disconnects early. And errors of the body. */
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
      ...(response.shouldKeepAlive ? this.texts.keepAlive : []),
    ]);
    this.#announced = body === null ? 0 : Number(headers.get("Content-Length") ?? Infinity);
    const early = !this.exchange.request.complete && body !== null && this.#announced < Infinity;
    if (body === null || (isWhole(body) && !early)) {
      response.end(body ?? undefined);
      return;
    }
    let last: Uint8Array | undefined;
    for await (const part of isWhole(body) ? [Buffer.from(body)] : body) {
      if (!early && last === undefined && this.#written + part.length === this.#announced) {
        last = part; // sent with the end: else Deno 2.9 may never report it, if the next request comes first
        continue;
      }
      this.#written += part.length;
      if (!response.write(part) && !this.complete) await this.#drained();
    }
    // Closing while the client is sending resets the connection, which may overtake the response (RFC 9112, 9.6). A
    // response of unknown length needs its end.
    if (early) await this.exchange.drainer.drainBody(this.exchange.request, this.exchange.gate);
    this.#written += last?.length ?? 0;
    response.end(last);
  }

  /** Sends a text to a client that has sent everything and keeps its connection. */
  #sentAtOnce(answer: HttpResponse): boolean {
    const { method, httpVersion, complete } = this.exchange.request;
    const response = this.exchange.response;
    const stays = response.shouldKeepAlive && !response.hasHeader("Connection");
    if (!stays || !complete || method === "HEAD" || httpVersion !== "1.1") return false;
    const text = this.texts.of(answer);
    return text !== undefined && sendText(response, text);
  }

  #drained(): Promise<void> {
    const { response } = this.exchange;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onClose = () => reject(httpError("ERR_CLIENT_GONE"));
    response.once("drain", resolve).once("close", onClose);
    return promise.finally(() => response.off("drain", resolve).off("close", onClose));
  }
}

function isWhole(body: HttpResponse["body"]): body is string | Uint8Array<ArrayBuffer> {
  return typeof body === "string" || body instanceof Uint8Array;
}

const NOT_IN_VALUES = /[^\t\x20-\x7e]/; // characters that need encoding in field values (RFC 9110, 5.5)

/** Serialises small responses at once: `node:http` writes field by field, a third of their cost. */
export class AnswerText {
  #second = -1;
  #date = "";

  /** @param keepAlive Fields for kept connections, names and values alternating. */
  constructor(readonly keepAlive: readonly string[], readonly clock: Clock = Date.now) {}

  /** Serialises a response, one character per byte; `undefined`: left to `node:http`, which reports errors. */
  of({ status, headers, body }: HttpResponse): string | undefined {
    // ASCII: as many bytes as characters.
    if (typeof body !== "string" || headers.get("Content-Length") !== String(body.length)) return undefined;
    const phrase = STATUS_CODES[status];
    if (phrase === undefined) return undefined;
    const head = fieldLines(headers.fields);
    if (head === undefined) return undefined;
    const kept = `${fieldLines(this.keepAlive)}Date: ${this.#now()}\r\nConnection: keep-alive\r\n`;
    return `HTTP/1.1 ${status} ${phrase}\r\n${head}${kept}\r\n${body}`;
  }

  /** Date (RFC 9110, 5.6.7), updated once a second. */
  #now(): string {
    const now = this.clock();
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = new Date(now).toUTCString();
    }
    return this.#date;
  }
}

/** Sends a serialised response past the head of `node:http`. Returns false if the runtime's internals differ. */
export function sendText(response: ServerResponse, text: string): boolean {
  if (response.headersSent || !Reflect.has(response, "_header")) return false;
  Reflect.set(response, "_header", text);
  Reflect.set(response, "_hasBody", false); // the text includes it
  response.end();
  return true;
}

function fieldLines(fields: readonly string[]): string | undefined {
  let lines = "";
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const value = fields[i + 1] ?? "";
    if (NOT_IN_VALUES.test(value)) return undefined;
    lines += `${fields[i]}: ${value}\r\n`;
  }
  return lines;
}
