import type { IncomingMessage } from "node:http";
import { readTarget, type RequestTarget } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";

const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d{0,5})?$/; // `host[:port]` (RFC 9110, 7.2)

const MOST_BYTES = 16 * 1024; // bytes of all headers but `Authorization`, with separators
const BETWEEN = 4; // colon, blank, line end
const MOST_HEADERS = 1000; // the parser silently drops further headers

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
  if (rawHeaders.length >= 2 * MOST_HEADERS) throw httpError("ERR_HEADERS_TOO_LARGE");
  let bytes = 0;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? "";
    const value = rawHeaders[i + 1] ?? "";
    const isToken = name.length === 13 && name.toLowerCase() === "authorization";
    bytes += name.length + BETWEEN + (isToken ? 0 : value.length);
  }
  if (bytes > MOST_BYTES) throw httpError("ERR_HEADERS_TOO_LARGE");
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
  if (read === undefined) throw httpError("ERR_BAD_REQUEST", "a target that is no path in its normal form");
  return read;
}
