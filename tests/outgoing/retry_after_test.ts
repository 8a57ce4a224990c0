import assert from "node:assert/strict";
import { retryAfterSeconds } from "../../src/outgoing/remote_http.ts";

const NOW = Date.UTC(2027, 0, 15, 8);

const values: readonly (readonly [text: string | undefined, expected: number | undefined])[] = [
  ["1", 1],
  ["120", 120],
  [" 30 ", 30],
  ["0", 1],
  ["86400", 600],
  ["999999999999999", 600],
  ["Fri, 15 Jan 2027 08:00:40 GMT", 40],
  ["Fri, 15 Jan 2027 07:59:00 GMT", 1],
  ["Fri, 15 Jan 2038 08:00:00 GMT", 600],
  ["Xxx, 99 Foo 2027 08:00:00 GMT", undefined],
  ["-5", undefined],
  ["1.5", undefined],
  ["1e3", undefined],
  ["soon", undefined],
  ["", undefined],
  [undefined, undefined],
];
for (const [text, expected] of values) {
  Deno.test(`retryAfterSeconds() reads ${JSON.stringify(text)} as ${expected}`, () => {
    const headers: Record<string, string> = text === undefined ? {} : { "retry-after": text };
    assert.equal(retryAfterSeconds({ headers }, NOW), expected);
  });
}
