import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Clock } from "../model/clock.ts";
import type { HttpResponse } from "../model/http_message.ts";

/** What goes into values of fields (RFC 9110, 5.5) without a thought about encodings, and what does not. */
const NOT_IN_VALUES = /[^\t\x20-\x7e]/;

/**
 * Answers as one text, head and body, on connections that are kept. `node:http` makes the head field by field with a look
 * at each, and writes the body behind it: that is a third of what it costs to answer a small request.
 */
export class AnswerText {
  readonly #keepAlive: readonly string[];
  readonly #clock: Clock;
  #second = -1;
  #date = "";

  /** @param keepAlive Header fields for where the connection is kept, names and values in turn. */
  constructor(keepAlive: readonly string[], clock: Clock = Date.now) {
    this.#keepAlive = keepAlive;
    this.#clock = clock;
  }

  /**
   * The bytes of an answer with a length and a body, each as one character.
   * @returns Undefined for one that is not of this kind, or that has what cannot be in a head: `node:http` tells what.
   */
  of({ status, headers, body }: HttpResponse): string | undefined {
    // As many bytes as characters: it is ASCII.
    if (typeof body !== "string" || headers.get("Content-Length") !== String(body.length)) return undefined;
    const phrase = STATUS_CODES[status];
    if (phrase === undefined) return undefined;
    const head = fieldLines(headers.fields);
    if (head === undefined) return undefined;
    const kept = `${fieldLines(this.#keepAlive)}Date: ${this.#now()}\r\nConnection: keep-alive\r\n`;
    return `HTTP/1.1 ${status} ${phrase}\r\n${head}${kept}\r\n${body}`;
  }

  /** In the form of RFC 9110, 5.6.7; made once a second. */
  #now(): string {
    const now = this.#clock();
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#date = new Date(now).toUTCString();
    }
    return this.#date;
  }
}

/**
 * Sends an answer that is one text, in place of the head that `node:http` would make.
 * @returns Whether it could: the runtime must have the head where it used to.
 */
export function sendText(response: ServerResponse, text: string): boolean {
  if (response.headersSent || !Reflect.has(response, "_header")) return false;
  Reflect.set(response, "_header", text);
  Reflect.set(response, "_hasBody", false); // it is in the text
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
