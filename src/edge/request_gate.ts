import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { HttpError, httpError } from "../model/http_error.ts";
import { backPressureOf } from "./back_pressure.ts";
import { RequestLine } from "./request_head.ts";

const BLANK_LINE = "\r\n\r\n"; // end of a head, and of a chunked body

/**
 * Gate before the parser of `node:http`, which would read pipelined requests and bodies at once. Passes a request
 * after the previous response (RFC 9112, 9.3.2), and a body on demand. Buffers one early read, then stops reading.
 */
export class RequestGate {
  response: ServerResponse | undefined; // of the current request, until its end
  readonly #backPressure: ReturnType<typeof backPressureOf>;
  readonly #parse: (bytes: Buffer) => void;
  readonly #line = new RequestLine();
  #held: Buffer[] = []; // early bytes
  #beginning: Buffer[] = []; // incomplete request line
  /** Header timeout, since the parser has not seen the incomplete line. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  #closed = false;
  #request: IncomingMessage | undefined;
  #bodyLeft = 0; // remaining bytes of its body; infinite if chunked
  #bodyWanted = false;
  #answered = false;
  #tail = ""; // bytes after the last blank line, which may be split

  /** @param refuse Called for requests refused unparsed. @param headersMs Timeout of a request line. */
  constructor(socket: Socket, readonly refuse: (error: HttpError) => void, readonly headersMs: number) {
    this.#backPressure = backPressureOf(socket);
    this.#parse = takeOver(socket, (bytes) => this.#arrived(bytes));
    socket.once("close", () => this.close());
  }

  get begun(): boolean {
    return this.#request === undefined && !this.#line.untouched;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Starts a parsed request. Returns false if it is out of turn. */
  begin(request: IncomingMessage): boolean {
    if (this.#closed || this.#request !== undefined) return false;
    this.#request = request;
    const { "content-length": length, "transfer-encoding": coding } = request.headers;
    this.#bodyLeft = coding === undefined ? Number(length ?? 0) : Infinity;
    this.#bodyWanted = false;
    this.#answered = false;
    return true;
  }

  wantBody(): void {
    if (this.#bodyWanted) return;
    this.#bodyWanted = true;
    this.#proceed();
  }

  pauseBody(): void {
    this.#bodyWanted = false;
  }

  answered(): void {
    this.#answered = true;
    this.#proceed();
  }

  close(): void {
    this.#closed = true;
    this.#held = [];
    this.#begun([]);
  }

  get #open(): boolean {
    const request = this.#request;
    if (this.#closed) return false;
    return request === undefined || (request.complete ? this.#answered : this.#bodyWanted);
  }

  #arrived(bytes: Buffer): void {
    if (this.#closed) return;
    if (this.#held.length === 0 && this.#open) return this.#read(bytes);
    this.#held.push(bytes);
    this.#stop();
  }

  /** Repeats the stop, since the parser may have resumed on its own. */
  #stop(): void {
    this.#stopped = true;
    this.#backPressure.stop();
  }

  #proceed(): void {
    this.#endRequest();
    while (this.#held.length > 0 && this.#open) {
      const [next, ...rest] = this.#held;
      this.#held = rest;
      if (next !== undefined) this.#read(next);
    }
    if (!this.#stopped || !this.#open) return;
    this.#stopped = false;
    this.#backPressure.start();
  }

  /** Passes part after part to the parser. Does not hold back a body in the same read as its head. */
  #read(bytes: Buffer): void {
    for (let at = 0; at < bytes.length && !this.#closed; this.#endRequest()) {
      const request = this.#request;
      if (request?.complete) {
        this.#held.unshift(bytes.subarray(at));
        this.#stop();
        return;
      }
      const end = request !== undefined && this.#bodyLeft < Infinity
        ? Math.min(bytes.length, at + this.#bodyLeft)
        : this.#endOfPart(bytes, at);
      this.#part(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end), request !== undefined);
      at = end;
    }
    const unwanted = this.#request?.complete === false && !this.#bodyWanted;
    if (unwanted && !this.#closed) this.#stop();
  }

  #part(part: Buffer, ofBody: boolean): void {
    if (ofBody) this.#bodyLeft -= part.length;
    else {
      try {
        this.#line.take(part);
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
        return this.#reject(error);
      }
    }
    if (!ofBody && !this.#line.checked) return this.#begun([...this.#beginning, part]);
    if (this.#beginning.length === 0) return this.#parse(part);
    const whole = Buffer.concat([...this.#beginning, part]);
    this.#begun([]);
    this.#parse(whole);
  }

  #reject(error: HttpError): void {
    this.close();
    this.refuse(error);
  }

  /** Keeps an incomplete request line with a timeout, or clears it. */
  #begun(parts: Buffer[]): void {
    this.#beginning = parts;
    if (parts.length === 0 || this.#line.untouched) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else {
      this.#timer ??= setTimeout(
        () => this.#reject(httpError("ERR_REQUEST_TIMEOUT", "the line")),
        this.headersMs,
      );
    }
  }

  /** Returns the position after the next blank line, or the end. */
  #endOfPart(bytes: Buffer, at: number): number {
    const text = this.#tail + bytes.toString("latin1", at); // three times as fast as searching bytes
    const found = text.indexOf(BLANK_LINE);
    const end = found === -1 ? bytes.length : at + found + BLANK_LINE.length - this.#tail.length;
    this.#tail = found === -1 ? text.slice(1 - BLANK_LINE.length) : "";
    return end;
  }

  #endRequest(): void {
    if (!this.#request?.complete || !this.#answered) return;
    this.#request = undefined;
    this.#tail = "";
    this.#line.restart();
  }
}

/** Replaces the parser as the consumer. Returns a function that feeds the parser. */
function takeOver(socket: Socket, take: (bytes: Buffer) => void): (bytes: Buffer) => void {
  const [parse, ...more] = socket.listeners("data");
  if (parse === undefined || more.length > 0) throw new TypeError("the parser does not listen as it used to");
  // Without TLS the parser would read below the socket.
  const parser: unknown = Reflect.get(socket, "parser");
  if (typeof parser === "object" && parser !== null) {
    const unconsume: unknown = Reflect.get(parser, "unconsume");
    if (typeof unconsume === "function") unconsume.call(parser);
  }
  socket.removeAllListeners("data");
  socket.on("data", take);
  return (bytes) => void parse.call(socket, bytes);
}
