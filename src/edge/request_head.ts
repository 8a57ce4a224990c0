import type { IncomingMessage } from "node:http";
import { ServiceError } from "../model/service_error.ts";
import { readTarget, type RequestTarget } from "../model/request_target.ts";
import { NotHttp } from "./refusal.ts";

/** A version of HTTP that this server does not speak. */
export class VersionNotSupported extends ServiceError {
  readonly code = "ERR_HTTP_VERSION";
  readonly status = 505;
  readonly publicMessage = "Please use HTTP/1.1";
  override readonly headers = { Connection: "close" };
}

/** A coding of the body other than `chunked` (RFC 9112, 6.1). */
export class CodingNotSupported extends ServiceError {
  readonly code = "ERR_TRANSFER_CODING";
  readonly status = 501;
  readonly publicMessage = "This transfer coding is not supported";
  override readonly headers = { Connection: "close" };
}

/** The client expects something else than `100-continue` (RFC 9110, 10.1.1). */
export class ExpectationFailed extends ServiceError {
  readonly code = "ERR_EXPECTATION_FAILED";
  readonly status = 417;
  readonly publicMessage = "This expectation cannot be met";
  override readonly headers = { Connection: "close" };
}

/** `host[:port]` of RFC 9110, 7.2. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(?::\d{0,5})?$/;

/**
 * Refuses what a proxy in front could read in another way than we do: that is how one request is smuggled in another.
 * @returns The target, taken apart: one in absolute form loses scheme and authority, `*` of `OPTIONS` is the root.
 * @throws {NotHttp | VersionNotSupported | CodingNotSupported | ExpectationFailed}
 */
export function readHead(
  { method, url = "", httpVersion, rawHeaders, headers }: IncomingMessage,
): RequestTarget {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") throw new VersionNotSupported(`HTTP/${httpVersion}`);
  checkHost(rawHeaders, httpVersion === "1.1");
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    if (httpVersion === "1.0") throw new NotHttp("a transfer coding in HTTP/1.0");
    if (coding.trim().toLowerCase() !== "chunked") throw new CodingNotSupported();
  }
  const { expect } = headers;
  const expects = expect !== undefined && httpVersion === "1.1"; // RFC 9110, 10.1.1
  if (expects && expect.toLowerCase() !== "100-continue") throw new ExpectationFailed();
  return targetOf(url, method);
}

/** One and only one host (RFC 9112, 3.2); HTTP/1.0 knew none. */
function checkHost(rawHeaders: readonly string[], required: boolean): void {
  let found: string | undefined;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length !== 4 || name.toLowerCase() !== "host") continue;
    if (found !== undefined) throw new NotHttp("more than one Host header");
    found = rawHeaders[i + 1] ?? "";
  }
  if (found === undefined && required) throw new NotHttp("no Host header");
  if (found !== undefined && !HOST.test(found)) throw new NotHttp("a Host header that names no host");
}

/** The four forms of a target (RFC 9112, 3.2) but `CONNECT`'s. */
function targetOf(target: string, method: string | undefined): RequestTarget {
  if (target === "*" && method === "OPTIONS") return { path: "/", query: "" };
  const path = target.replace(/^https?:\/\/[^/?#]+/i, "");
  const read = readTarget(path !== target && !path.startsWith("/") ? `/${path}` : path);
  if (read === undefined) throw new NotHttp("a target that is no path in its normal form");
  return read;
}
