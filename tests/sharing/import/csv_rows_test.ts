import assert from "node:assert/strict";
import fc from "fast-check";
import { csvRows, UnreadableDump } from "../../../src/sharing/import/csv_rows.ts";

const TEXTS: [string, [number, string[]][]][] = [
  ["", []],
  ["\n\r\n\n", []],
  ["a,b\n1,2\n", [[1, ["a", "b"]], [2, ["1", "2"]]]],
  ["a,b\r\n1,2", [[1, ["a", "b"]], [2, ["1", "2"]]]],
  ["a,,\n", [[1, ["a", "", ""]]]],
  ["a,", [[1, ["a", ""]]]],
  [",", [[1, ["", ""]]]],
  ['"a,b","c""d"\n', [[1, ["a,b", 'c"d']]]],
  ['"a\nb",c\nd,e', [[1, ["a\nb", "c"]], [3, ["d", "e"]]]],
  ["a b , c\n", [[1, ["a b ", " c"]]]],
];

for (const [text, expected] of TEXTS) {
  Deno.test(`csvRows() of ${JSON.stringify(text)}`, () => {
    assert.deepEqual(csvRows(text).map(({ line, fields }) => [line, fields]), expected);
  });
}

for (const [text, line] of [['"a', 1], ['a\n"b\n\n', 2], ['"a"b\n', 1]] as const) {
  Deno.test(`csvRows() refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => csvRows(text), (error) => error instanceof UnreadableDump && error.line === line);
  });
}

Deno.test("csvRows() reads what was written", () => {
  const field = fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r\n", " ", "ä") });
  const table = fc.array(fc.array(field, { minLength: 2, maxLength: 4 }), { maxLength: 4 });
  fc.assert(fc.property(table, (rows) => {
    const text = rows.map((row) => `${row.map((f) => `"${f.replaceAll('"', '""')}"`).join(",")}\n`).join("");
    assert.deepEqual(csvRows(text).map(({ fields }) => fields), rows);
  }));
});

Deno.test("csvRows() returns rows or throws its own error for any text", () => {
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom("a", '"', ",", "\n", "\r") }), (text) => {
    try {
      csvRows(text);
    } catch (error) {
      assert.ok(error instanceof UnreadableDump);
    }
  }));
});
