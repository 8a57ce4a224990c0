import { Buffer } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { HttpError, httpError } from "../model/http_error.ts";
import { type BackPressure, backPressureOf } from "./back_pressure.ts";
import { RequestLine } from "./request_line.ts";

/** The end of a head, and of a chunked body. */
const BLANK_LINE = "\r\n\r\n";

/**
 * Stands between a connection and the parser of `node:http`, which would read all requests that arrive together, and
 * bodies before anybody wants them. Here a request is read when the one before it is answered (RFC 9112, 9.3.2), and a
 * body when it is asked for. What comes too early waits: one read of the network, then the client itself.
 */
export class RequestGate {
  readonly #backPressure: BackPressure;
  readonly #parse: (bytes: Buffer) => void;
  readonly #httpError: (error: HttpError) => void;
  readonly #headersMs: number;
  readonly #line = new RequestLine();
  /** What came before its time. */
  #held: Buffer[] = [];
  /** The beginning of a request line that is not for the parser yet. */
  #beginning: Buffer[] = [];
  /** Runs while there is one: the parser, which knows of none, would wait for ever. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;
  #closed = false;
  /** The request that is read or answered. */
  #request: IncomingMessage | undefined;
  /** Bytes of its body that are still to come; infinite if only its end will tell. */
  #bodyLeft = 0;
  #bodyWanted = false;
  #answered = false;
  /** The last bytes behind the last blank line: the next one may be cut in two. */
  #tail = "";

  /**
   * @param httpError Told of a request that is turned away before it is parsed; nothing more is read then.
   * @param headersMs How long the parser may be kept from a request line that has begun.
   */
  constructor(socket: Socket, httpError: (error: HttpError) => void, headersMs: number) {
    this.#backPressure = backPressureOf(socket);
    this.#parse = takeOver(socket, (bytes) => this.#arrived(bytes));
    this.#httpError = httpError;
    this.#headersMs = headersMs;
    socket.once("close", () => this.close());
  }

  /** Whether a part of a request head has come, and the rest not yet. */
  get begun(): boolean {
    return this.#request === undefined && !this.#line.untouched;
  }

  /** Whether nothing more is read, as what came was no HTTP or the connection is gone. */
  get closed(): boolean {
    return this.#closed;
  }

  /** A request has been parsed, its body perhaps not. @returns Whether it comes in its turn. */
  begin(request: IncomingMessage): boolean {
    if (this.#closed || this.#request !== undefined) return false;
    this.#request = request;
    const { "content-length": length, "transfer-encoding": coding } = request.headers;
    this.#bodyLeft = coding === undefined ? Number(length ?? 0) : Infinity;
    this.#bodyWanted = false;
    this.#answered = false;
    return true;
  }

  /** The body of the request is to be read from now on. */
  wantBody(): void {
    if (this.#bodyWanted) return;
    this.#bodyWanted = true;
    this.#proceed();
  }

  /** The body of the request is to be read no further for now. */
  pauseBody(): void {
    this.#bodyWanted = false;
  }

  /** The request is answered; when it is read to its end, the next one may come. */
  answered(): void {
    this.#answered = true;
    this.#proceed();
  }

  /** Nothing more is read. */
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
    if (this.#held.length === 0 && this.#open) this.#read(bytes);
    else this.#hold(bytes);
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes);
    this.#stop();
  }

  /** Again if it was stopped before: the parser may have started it on its own account. */
  #stop(): void {
    this.#stopped = true;
    this.#backPressure.stop();
  }

  /** Reads what was held, as far as its time has come. */
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

  /** Has one part after the other parsed. What comes in the same read as a head is at hand, so it is not held. */
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
        return this.#turnAway(error);
      }
    }
    if (!ofBody && !this.#line.judged) return this.#begun([...this.#beginning, part]);
    if (this.#beginning.length === 0) return this.#parse(part);
    const whole = Buffer.concat([...this.#beginning, part]);
    this.#begun([]);
    this.#parse(whole);
  }

  #turnAway(error: HttpError): void {
    this.close();
    this.#httpError(error);
  }

  /** Keeps the beginning of a request line, for so long; or nothing any more. */
  #begun(parts: Buffer[]): void {
    this.#beginning = parts;
    if (parts.length === 0 || this.#line.untouched) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } else {
      this.#timer ??= setTimeout(
        () => this.#turnAway(httpError("ERR_REQUEST_TIMEOUT", "the line")),
        this.#headersMs,
      );
    }
  }

  /** Behind the next blank line, or behind all there is. */
  #endOfPart(bytes: Buffer, at: number): number {
    const text = this.#tail + bytes.toString("latin1", at); // looking for bytes in bytes takes three times as long
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

/**
 * Puts itself in the place of the parser.
 * @returns What the parser did with bytes.
 */
function takeOver(socket: Socket, take: (bytes: Buffer) => void): (bytes: Buffer) => void {
  const [parse, ...more] = socket.listeners("data");
  if (parse === undefined || more.length > 0) throw new TypeError("the parser does not listen as it used to");
  // Of a connection without TLS it reads below the socket, if nobody stops it.
  const parser: unknown = Reflect.get(socket, "parser");
  if (typeof parser === "object" && parser !== null) {
    const unconsume: unknown = Reflect.get(parser, "unconsume");
    if (typeof unconsume === "function") unconsume.call(parser);
  }
  socket.removeAllListeners("data");
  socket.on("data", take);
  return (bytes) => void parse.call(socket, bytes);
}
