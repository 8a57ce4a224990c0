import assert from "node:assert/strict";
import { InvalidName } from "../../src/model/distinguished_name.ts";
import { STATUS_CODES } from "node:http";
import { ERRORS } from "../../src/model/errors.ts";
import { HttpError, httpError, isHttpError } from "../../src/model/http_error.ts";

Deno.test("refuse() fills in the text and headers of a row; reason and cause are for the log", () => {
  const cause = new Error("no");
  const error = httpError("ERR_UNAUTHENTICATED", {
    challenge: "Bearer",
    accepted: "x",
    reason: "wrong {challenge}",
  }, cause);
  assert.deepEqual(
    [error.status, error.publicMessage, error.message, error.name, error.cause],
    [401, "Authentication failed. This service accepts: x", "wrong {challenge}", "Unauthenticated", cause],
  );
  assert.deepEqual(error.headers, { "WWW-Authenticate": "Bearer" });
  // Placeholders in values stay as they are.
  const { publicMessage, message } = httpError("ERR_HEADER_TOO_LONG", { name: "{limit}", limit: 3 });
  assert.equal(publicMessage, "The header {limit} is longer than 3 characters");
  assert.equal(message, publicMessage);
});

Deno.test("refuse() does not compile without the values of a row, or with unknown ones", () => {
  const made = [
    httpError("ERR_NO_ACCOUNT"),
    httpError("ERR_NO_ACCOUNT", "no account on HPC"),
    // @ts-expect-error There is no such code.
    () => httpError("ERR_NO_ACCOUNTS"),
    // @ts-expect-error The text has no placeholder.
    () => httpError("ERR_NO_ACCOUNT", { server: "HPC" }),
    // @ts-expect-error The text needs a limit, too.
    () => httpError("ERR_HEADER_TOO_LONG", { name: "Accept" }),
    // @ts-expect-error The text needs both.
    () => httpError("ERR_HEADER_TOO_LONG"),
    // @ts-expect-error The header needs `challenge`.
    () => httpError("ERR_UNAUTHENTICATED", { challenges: "Bearer" }),
  ];
  assert.equal(made.length, 7);
});

Deno.test("isHttpError() recognises errors by their code, including those with a class of their own", () => {
  assert(isHttpError(new InvalidName("no =", 1), "ERR_INVALID_NAME"));
  assert(new InvalidName("no =", 1) instanceof HttpError);
  assert(!isHttpError(httpError("ERR_NO_ACCOUNT"), "ERR_INVALID_NAME"));
  assert(!isHttpError(new Error("ERR_NO_ACCOUNT"), "ERR_NO_ACCOUNT"));
});

Deno.test("each row has an HTTP error status", () => {
  for (const [code, { status }] of Object.entries(ERRORS)) {
    assert(status >= 400 && String(status) in STATUS_CODES, `${code}: ${status}`);
  }
});

Deno.test("every temporary error has Retry-After", () => {
  for (const [code, error] of Object.entries(ERRORS)) {
    if (error.status !== 429 && error.status !== 503) continue;
    assert("headers" in error && "Retry-After" in error.headers, code);
  }
});
