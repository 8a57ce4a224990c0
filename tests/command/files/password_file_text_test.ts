import assert from "node:assert/strict";
import fc from "fast-check";
import { lineFor, putLine, removeLines } from "../../../src/command/files/password_file_text.ts";

const PUT: [string, string, string][] = [
  ["", "ann:2\n", "an empty file"],
  ["bob:1", "bob:1\nann:2\n", "a file without a final line end"],
  ["# c\n\nbob:1\n", "# c\n\nbob:1\nann:2\n", "a file without the user"],
  ["# c\nann:1\nbob:1\n# d", "# c\nann:2\nbob:1\n# d", "a file with the user"],
  ["ann:1", "ann:2", "the last line, without a line end"],
  ["bob:1\r\n", "bob:1\r\nann:2\r\n", "a file with CRLF"],
  ["ann:1\r\nbob:1\r\n", "ann:2\r\nbob:1\r\n", "a line with CRLF"],
  ["ann:0\nbob:1\nann:1\n", "bob:1\nann:2\n", "a file with the user twice"],
  ["# ann:1\nanna:1\n ann:1\n", "# ann:1\nanna:1\n ann:1\nann:2\n", "a file with similar names"],
  ["\ufeffann:1\n", "ann:2\n", "a file with a byte order mark"],
];

for (const [before, after, what] of PUT) {
  Deno.test(`putLine() changes ${what}`, () => {
    assert.equal(putLine(before, "ann", "ann:2"), after);
  });
}

Deno.test("lineFor() returns the effective line, without its line end", () => {
  assert.equal(lineFor("ann:1\r\nann:2\r\nbob:1", "ann"), "ann:2");
  assert.equal(lineFor("ann:1\r\nann:2\r\nbob:1", "bob"), "bob:1");
  assert.equal(lineFor("ann\n# ann:1\n", "ann"), undefined);
});

Deno.test("putLine() and removeLines() leave all other lines unchanged", () => {
  const line = fc.constantFrom("# c", "", "  ", "bob:1", "ann:1", "broken", "ann", "eve::x", "bob:2\r");
  fc.assert(fc.property(fc.array(line), fc.boolean(), (lines, ended) => {
    const text = lines.join("\n") + (ended ? "\n" : "");
    const others = (all: string) =>
      all.split("\n").filter((each) => !each.startsWith("ann:")).join("\n").trimEnd();
    assert.equal(others(putLine(text, "ann", "ann:2")), others(text));
    assert.equal(lineFor(putLine(text, "ann", "ann:2"), "ann"), "ann:2");
    assert.equal(others(removeLines(text, "ann")), others(text));
    assert.equal(lineFor(removeLines(text, "ann"), "ann"), undefined);
  }));
});
