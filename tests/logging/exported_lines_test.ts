import assert from "node:assert/strict";
import { exportedLines, exportsLines } from "../../src/logging/exported_lines.ts";

Deno.test("exportsLines() needs telemetry and a console that the runtime only sends", () => {
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

Deno.test("exportedLines() hands over each line by its level, and writes the text unchanged", () => {
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
