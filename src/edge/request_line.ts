import type { Buffer } from "node:buffer";
import { METHODS } from "node:http";
import { httpError } from "../model/http_error.ts";

const MOST_BYTES = 8 * 1024; // bytes (RFC 9112, 3: at least 8,000)
const MOST_EMPTY = 2; // RFC 9112, 2.2: at least one
const LF = 0x0a;
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/; // RFC 9110, 5.6.2
const KNOWN = new Set(METHODS.filter((method) => method !== "CONNECT"));

/** Checks request lines before the parser, which accepts repeated blanks and bare LF. */
export class RequestLine {
  #text = "";
  #empty = 0;
  #over = false;

  /** Whether nothing has arrived. */
  get untouched(): boolean {
    return this.#text === "" && !this.#over;
  }

  /** Whether the parser may have the bytes; incomplete unknown methods wait for a consistent error. */
  get judged(): boolean {
    if (this.#over) return true;
    const [method = "", ...more] = this.#text.split(" ", 2);
    return TOKEN.test(method) ? more.length > 0 && KNOWN.has(method) : this.#text !== "";
  }

  restart(): void {
    this.#text = "";
    this.#empty = 0;
    this.#over = false;
  }

  /** Takes the next bytes. @throws {ERR_BAD_REQUEST | ERR_METHOD_UNKNOWN | ERR_TARGET_TOO_LONG} */
  take(bytes: Buffer): void {
    for (let at = 0; !this.#over;) {
      const end = bytes.indexOf(LF, at);
      this.#text += bytes.toString(
        "latin1",
        at,
        Math.min(end === -1 ? bytes.length : end, at + MOST_BYTES + 1),
      );
      if (this.#text.length > MOST_BYTES) throw httpError("ERR_TARGET_TOO_LONG");
      if (end === -1) return;
      at = end + 1;
      this.#end();
    }
  }

  #end(): void {
    if (this.#text !== "\r") {
      judge(this.#text);
      this.#over = true;
      return;
    }
    if (++this.#empty > MOST_EMPTY) throw httpError("ERR_BAD_REQUEST", "empty lines in place of a request");
    this.#text = "";
  }
}

const PLAIN = /^([A-Z]+) [^ ]+ HTTP\/1\.[01]\r$/;

/** Leaves to the parser what it refuses. */
function judge(line: string): void {
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
