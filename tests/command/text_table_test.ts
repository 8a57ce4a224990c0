import assert from "node:assert/strict";
import { textTable } from "../../src/command/text_table.ts";

const ROWS = [["a", "bcd", "e"], ["fgh", "i", ""], ["jklmno"]];

Deno.test("textTable() makes columns as wide as needed, and leaves no blanks at the end of a line", () => {
  assert.equal(textTable(ROWS), "a       bcd  e\nfgh     i\njklmno\n");
  assert.equal(textTable(ROWS, { indent: 2 }), "  a       bcd  e\n  fgh     i\n  jklmno\n");
  assert.equal(textTable([]), "");
});

Deno.test("textTable() lets a cell above the widest width push its own row alone", () => {
  assert.equal(textTable([["a", "b"], ["cdefgh", "i"]], { widest: 3 }), "a    b\ncdefgh  i\n");
});

Deno.test("textTable() shows characters that would steer a terminal, and counts them as shown", () => {
  const [first, second] = textTable([["\x1b", "x"], ["y", "z"]]).split("\n");
  assert.ok(!first?.includes("\x1b"));
  assert.equal(first?.indexOf("x", 6), second?.indexOf("z"));
});
