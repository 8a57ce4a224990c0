import assert from "node:assert/strict";
import { IncomingMessage } from "node:http";
import { Socket } from "node:net";
import { readHead } from "../../src/edge/request_head.ts";
import { isHttpError } from "../../src/model/http_error.ts";

/** Returns a request with `Host` and these header fields, names and values in turn. */
function head(...fields: readonly string[]): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const rawHeaders = ["Host", "h", ...fields];
  return Object.assign(request, { method: "GET", url: "/", httpVersion: "1.1", rawHeaders });
}

/** Length of a `Host` field of one letter, and of another field's name, colon, blank and line end. */
const AROUND = 4 + 4 + 1 + 1 + 4;

Deno.test("readHead() accepts 16 KiB of headers, and not a byte more", () => {
  const most = "x".repeat(16 * 1024 - AROUND);
  assert.equal(readHead(head("a", most)).path, "/");
  assert.throws(
    () => readHead(head("a", `${most}x`)),
    (error) => isHttpError(error, "ERR_HEADERS_TOO_LARGE"),
  );
});

Deno.test("readHead() leaves the length limit of a token to its reader, in any spelling of the header", () => {
  for (const name of ["Authorization", "authorization", "AUTHORIZATION"]) {
    assert.equal(readHead(head(name, "x".repeat(40_000))).path, "/");
  }
  const other = head("Authorizatiom", "x".repeat(40_000));
  assert.throws(() => readHead(other), (error) => isHttpError(error, "ERR_HEADERS_TOO_LARGE"));
});
