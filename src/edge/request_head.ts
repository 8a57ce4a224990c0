import { type IncomingMessage, METHODS } from "node:http";
import { readTarget, type RequestTarget } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { Buffer } from "node:buffer";

const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d{0,5})?$/; // `host[:port]` (RFC 9110, 7.2)

const MAX_BYTES = 16 * 1024; // bytes of all headers but `Authorization`, with separators
const SEPARATORS = 4; // colon, blank, line end
const MAX_HEADERS = 1000; // the parser silently drops further headers

/**
 * Refuses heads that a proxy could read differently, which allows request smuggling. Returns the target.
 * @throws {ERR_BAD_REQUEST | ERR_HEADERS_TOO_LARGE | ERR_HTTP_VERSION | ERR_TRANSFER_CODING |
 * ERR_EXPECTATION_FAILED}
 */
export function readHead(
  { method, url = "", httpVersion, rawHeaders, headers }: IncomingMessage,
): RequestTarget {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw httpError("ERR_HTTP_VERSION", `HTTP/${httpVersion}`);
  }
  checkLength(rawHeaders);
  checkHost(rawHeaders, httpVersion === "1.1");
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (httpVersion === "1.0") throw httpError("ERR_BAD_REQUEST", "a transfer coding in HTTP/1.0");
    if (coding.trim().toLowerCase() !== "chunked") throw httpError("ERR_TRANSFER_CODING");
  }
  const { expect } = headers;
  const expects = expect !== undefined && httpVersion === "1.1"; // RFC 9110, 10.1.1
  if (expects && expect.toLowerCase() !== "100-continue") throw httpError("ERR_EXPECTATION_FAILED");
  return targetOf(url, method);
}

/** Limits headers except `Authorization`, which has a limit of its own. */
function checkLength(rawHeaders: readonly string[]): void {
  if (rawHeaders.length >= 2 * MAX_HEADERS) throw httpError("ERR_HEADERS_TOO_LARGE");
  let bytes = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const value = rawHeaders[i + 1] ?? "";
    const isToken = name.length === 13 && name.toLowerCase() === "authorization";
    bytes += name.length + SEPARATORS + (isToken ? 0 : value.length);
  }
  if (bytes > MAX_BYTES) throw httpError("ERR_HEADERS_TOO_LARGE");
}

/** Requires exactly one host (RFC 9112, 3.2), except with HTTP/1.0. */
function checkHost(rawHeaders: readonly string[], required: boolean): void {
  let found: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 4 || name.toLowerCase() !== "host") continue;
    if (found !== undefined) throw httpError("ERR_BAD_REQUEST", "more than one Host header");
    found = rawHeaders[i + 1] ?? "";
  }
  if (found === undefined && required) throw httpError("ERR_BAD_REQUEST", "no Host header");
  if (found !== undefined && !HOST.test(found)) {
    throw httpError("ERR_BAD_REQUEST", "a Host header that names no host");
  }
}

/** Parses the forms of a target (RFC 9112, 3.2) except `CONNECT`'s. */
function targetOf(target: string, method: string | undefined): RequestTarget {
  if (target === "*" && method === "OPTIONS") return { path: "/", query: "" };
  const [start = "", authority] = /^https?:\/\/([^/?#]*)/i.exec(target) ?? [];
  // User info is forbidden (RFC 9110, 4.2.4), and proxies differ in reading it.
  if (authority !== undefined && !HOST.test(authority)) {
    throw httpError("ERR_BAD_REQUEST", "an absolute target that names no host");
  }
  const path = target.slice(start.length);
  const read = readTarget(path !== target && !path.startsWith("/") ? `/${path}` : path);
  if (read === undefined) throw httpError("ERR_BAD_REQUEST", "a target that is not a normalised path");
  return read;
}

const MAX_LINE_BYTES = 8 * 1024; // bytes (RFC 9112, 3: at least 8,000)
const MAX_EMPTY = 2; // RFC 9112, 2.2: at least one
const LF = 0x0a;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/; // RFC 9110, 5.6.2
const KNOWN = new Set(METHODS.filter((method) => method !== "CONNECT"));

/** Checks request lines before the parser, which accepts repeated blanks and bare LF. */
export class RequestLine {
  #text = "";
  #empty = 0;
  #complete = false;

  get untouched(): boolean {
    return this.#text === "" && !this.#complete;
  }

  /** Whether the parser may have the bytes; incomplete unknown methods wait for a consistent error. */
  get checked(): boolean {
    if (this.#complete) return true;
    const [method = "", ...more] = this.#text.split(" ", 2);
    return TOKEN.test(method) ? more.length > 0 && KNOWN.has(method) : this.#text !== "";
  }

  restart(): void {
    this.#text = "";
    this.#empty = 0;
    this.#complete = false;
  }

  /** Takes the next bytes. @throws {ERR_BAD_REQUEST | ERR_METHOD_UNKNOWN | ERR_TARGET_TOO_LONG} */
  take(bytes: Buffer): void {
    for (let at = 0; !this.#complete;) {
      const end = bytes.indexOf(LF, at);
      this.#text += bytes.toString(
        "latin1",
        at,
        Math.min(end === -1 ? bytes.length : end, at + MAX_LINE_BYTES + 1),
      );
      if (this.#text.length > MAX_LINE_BYTES) throw httpError("ERR_TARGET_TOO_LONG");
      if (end === -1) return;
      at = end + 1;
      this.#end();
    }
  }

  #end(): void {
    if (this.#text !== "\r") {
      checkLine(this.#text);
      this.#complete = true;
      return;
    }
    if (++this.#empty > MAX_EMPTY) throw httpError("ERR_BAD_REQUEST", "empty lines in place of a request");
    this.#text = "";
  }
}

const PLAIN = /^([A-Z]+) [^ ]+ HTTP\/1\.[01]\r$/;

/** Checks a request line; leaves lines to the parser that it refuses itself. */
function checkLine(line: string): void {
  if (KNOWN.has(PLAIN.exec(line)?.[1] ?? "")) return;
  if (!line.endsWith("\r")) throw httpError("ERR_BAD_REQUEST", "a request line that ends in a bare LF");
  const parts = line.slice(0, -1).split(" ");
  if (parts.includes("") || parts.length > 3) {
    throw httpError("ERR_BAD_REQUEST", "a request line with blanks too many");
  }
  const [method = "", , version = ""] = parts;
  if (version.startsWith("HTTP/1.") && TOKEN.test(method) && !KNOWN.has(method)) {
    throw httpError("ERR_METHOD_UNKNOWN");
  }
}
