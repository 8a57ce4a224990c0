import assert from "node:assert/strict";
import fc from "fast-check";
import { asJsonLines, forJournal } from "../../src/logging/line_forms.ts";
import { formatLine } from "../../src/logging/logger.ts";

const AT = Date.parse("2026-01-05T09:15:00.123Z");

Deno.test("forJournal() writes priorities in place of time and level, and leaves other lines alone", () => {
  const lines = (["debug", "info", "warn", "error"] as const).map((level) =>
    formatLine(AT, level, "x", { a: 1 })
  );
  assert.equal(
    forJournal(`${lines.join("\n")}\n{"event":"start"}\nReading config\n`),
    '<7>x a=1\n<6>x a=1\n<4>x a=1\n<3>x a=1\n{"event":"start"}\nReading config\n',
  );
  assert.match(forJournal(asJsonLines(`${lines[2]}\n`)), /^<4>\{"time":"2026/);
});

Deno.test("asJsonLines() writes an object with the fields of the line", () => {
  const fields = {
    port: 9000,
    text: "a b",
    number: "17",
    digest: "1e5",
    word: "true",
    address: "192.0.2.7",
    quote: 'say "x"\n',
    empty: "",
  };
  const [line = "", end] = asJsonLines(`${formatLine(AT, "info", "service started", fields)}\n`).split("\n");
  assert.equal(end, "");
  assert.deepEqual(JSON.parse(line), {
    time: "2026-01-05T09:15:00.123Z",
    level: "info",
    message: "service started",
    ...fields,
  });
});

Deno.test("asJsonLines() leaves JSON as it is, and makes a message of what is no line of the log", () => {
  assert.equal(
    asJsonLines('{"event":"start"}\nReading config\n\n'),
    '{"event":"start"}\n{"message":"Reading config"}\n\n',
  );
});

Deno.test("asJsonLines() gives back any field that the logger wrote", () => {
  const value = fc.oneof(fc.string({ unit: "binary", maxLength: 100 }), fc.integer());
  fc.assert(fc.property(value, value, (a, b) => {
    const made = asJsonLines(`${formatLine(AT, "warn", "some message", { a, b })}\n`);
    assert.equal(made.split("\n").length, 2);
    const { time: _, level, message, ...fields } = JSON.parse(made);
    assert.deepEqual([level, message, fields], ["warn", "some message", { a, b }]);
  }));
});
