import assert from "node:assert/strict";
import { createLogger, describeError, formatLine, type Level } from "../../src/logging/logger.ts";
import { Secret } from "../../src/model/secret.ts";

const AT = Date.UTC(2026, 0, 5, 9, 15, 0, 123);
const line = (value: unknown) =>
  formatLine(AT, "info", "m", { value }).slice("2026-01-05T09:15:00.123Z info  m ".length);

Deno.test("formatLine() writes time, level, message and fields of all groups in one line", () => {
  assert.equal(
    formatLine(AT, "warn", "daemon skipped", { request: "r1" }, { n: 3, none: undefined, address: "h:1" }),
    "2026-01-05T09:15:00.123Z warn  daemon skipped request=r1 n=3 address=h:1",
  );
  assert.equal(formatLine(AT + 1, "error", "m"), "2026-01-05T09:15:00.124Z error m");
});

for (
  const [what, value, expected] of [
    ["numbers unchanged", -1.5, "value=-1.5"],
    ["very large numbers too", 1e21, "value=1e+21"],
    ["plain words without quotes", "a-b_c.d:/@+,*()", "value=a-b_c.d:/@+,*()"],
    ["the empty text in quotes", "", 'value=""'],
    ["blanks in quotes", "a b", 'value="a b"'],
    ["true", true, "value=true"],
    ["null", null, "value=null"],
    ["objects as JSON", { a: [1] }, 'value="{\\"a\\":[1]}"'],
    ["quotes escaped", 'a"b', 'value="a\\"b"'],
    ["backslashes escaped", "a\\b", 'value="a\\\\b"'],
    ["line ends escaped", "a\r\nb", 'value="a\\r\\nb"'],
    ["C1 controls escaped", "a\u0085\u009bb\u007f", 'value="a\\u0085\\u009bb\\u007f"'],
    ["separators and directions escaped", "\u2028\u2029\u202e\u2066", 'value="\\u2028\\u2029\\u202e\\u2066"'],
    ["an error without a cause", new TypeError("a"), 'value="TypeError: a"'],
    [
      "an error with its causes",
      new TypeError("a", { cause: new RangeError("b", { cause: "c" }) }),
      'value="TypeError: a (cause: RangeError: b (cause: c))"',
    ],
  ] as const
) {
  Deno.test(`formatLine() writes ${what}`, () => assert.equal(line(value), expected));
}

Deno.test("formatLine() truncates only values of more than 2,000 characters", () => {
  assert.equal(line("x".repeat(2000)), `value=${"x".repeat(2000)}`);
  assert.equal(line("x".repeat(2001)), `value="${"x".repeat(2000)}…"`);
});

Deno.test("formatLine() writes no secret at any depth", () => {
  const secret = new Secret("s3cr3t");
  for (const value of [secret, { secret }, [secret], new Error(`${secret}`)]) {
    assert.match(line(value), /\*\*\*/);
    assert.doesNotMatch(line(value), /s3cr3t/);
  }
});

Deno.test("describeError() treats other values as text", () => assert.equal(describeError(7), "7"));

const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"];

for (const [least, threshold] of LEVELS.entries()) {
  Deno.test(`a logger at ${threshold} writes that level and above`, () => {
    const written: string[] = [];
    const log = createLogger((text, level) => written.push(`${level} ${text.split(" ").at(-1)}`), {
      threshold,
    });
    for (const level of LEVELS) log[level](`${level}!`);
    assert.deepEqual(written, LEVELS.slice(least).map((level) => `${level} ${level}!`));
  });
}

Deno.test("a logger writes from info on by default, re-reads its level for each line, and has children with more fields", () => {
  const written: string[] = [];
  const sink = (text: string) => written.push(text.slice(25));
  createLogger(sink, { clock: () => AT }).debug("no");
  let threshold: Level = "error";
  const child = createLogger(sink, { threshold: () => threshold, fields: { a: 1 }, clock: () => AT }).child({
    b: 2,
  });
  child.warn("no");
  threshold = "debug";
  child.debug("yes", { c: 3 });
  assert.deepEqual(written, ["debug yes a=1 b=2 c=3"]);
});
