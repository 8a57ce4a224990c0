import assert from "node:assert/strict";
import fc from "fast-check";
import { CHARACTER } from "../fixtures/character.ts";
import {
  asJsonLines,
  exportedLines,
  exportsLines,
  forJournal,
  isJournal,
  messagesForJournal,
} from "../../src/logging/line_forms.ts";
import { formatLine } from "../../src/logging/logger.ts";
import { fstatSync } from "node:fs";

const AT = Date.parse("2026-01-05T09:15:00.123Z");

Deno.test("forJournal() writes priorities in place of time and level, and leaves other lines unchanged", () => {
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

Deno.test("asJsonLines() leaves JSON unchanged, and turns any other text into a message", () => {
  assert.equal(
    asJsonLines('{"event":"start"}\nReading config\n\n'),
    '{"event":"start"}\n{"message":"Reading config"}\n\n',
  );
});

Deno.test("asJsonLines() preserves every field that the logger wrote", () => {
  const value = fc.oneof(fc.string({ unit: CHARACTER, maxLength: 100 }), fc.integer());
  fc.assert(fc.property(value, value, (a, b) => {
    const made = asJsonLines(`${formatLine(AT, "warn", "some message", { a, b })}\n`);
    assert.equal(made.split("\n").length, 2);
    const { time: _, level, message, ...fields } = JSON.parse(made);
    assert.deepEqual([level, message, fields], ["warn", "some message", { a, b }]);
  }));
});

Deno.test("isJournal() accepts the variable only for the stream that it names", () => {
  const { dev, ino } = fstatSync(1, { bigint: true });
  const withVariable = (value: string | undefined) => isJournal(1, () => value);
  assert.equal(withVariable(`${dev}:${ino}`), true);
  for (const value of [undefined, "", `${dev}:${ino + 1n}`, "1:1", "x"]) {
    assert.equal(withVariable(value), false);
  }
});

Deno.test("messagesForJournal() gives every line its priority", () => {
  assert.equal(
    messagesForJournal("error: a\nwarning: b\nNote on c: d\nauthserver serve: e\n"),
    "<3>error: a\n<4>warning: b\n<4>Note on c: d\n<3>authserver serve: e\n",
  );
});

Deno.test("exportsLines() requires telemetry and a console that the runtime only exports", () => {
  const environment = (values: Record<string, string>) => (name: string) => values[name];
  assert(exportsLines(environment({ OTEL_DENO: "true", OTEL_DENO_CONSOLE: "replace" })));
  const others: readonly Record<string, string>[] = [
    {},
    { OTEL_DENO: "true" },
    { OTEL_DENO_CONSOLE: "replace" },
    { OTEL_DENO: "true", OTEL_DENO_CONSOLE: "capture" },
  ];
  for (const values of others) assert(!exportsLines(environment(values)));
});

Deno.test("exportedLines() exports each line by its level, and writes the text unchanged", () => {
  const written: string[] = [];
  const sent: [level: string, line: string][] = [];
  const levels = ["debug", "info", "warn", "error"] as const;
  const before = levels.map((level) => console[level]);
  const lines = [
    "2026-01-02T03:04:05.678Z warn daemon skipped address=x",
    '{"time":"x","level":"error","message":"m"}',
    '{"event":"login"}',
    "anything",
  ];
  try {
    for (const level of levels) console[level] = (line: string) => sent.push([level, line]);
    exportedLines((text) => written.push(text))(`${lines.join("\n")}\n`);
  } finally {
    levels.forEach((level, i) => console[level] = before[i] ?? console[level]);
  }
  assert.deepEqual(written, [`${lines.join("\n")}\n`]);
  assert.deepEqual(sent, lines.map((line, i) => [["warn", "error", "info", "info"][i], line]));
});
