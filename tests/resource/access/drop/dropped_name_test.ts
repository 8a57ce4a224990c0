import assert from "node:assert/strict";
import fc from "fast-check";
import { droppedName, nthName } from "../../../../src/resource/access/drop/dropped_name.ts";

Deno.test("nthName() counts before the end of a name", () => {
  const names: readonly (readonly [string, string])[] = [
    ["a.txt", "a (2).txt"],
    ["a", "a (2)"],
    ["a.tar.gz", "a.tar (2).gz"],
    ["a.", "a (2)."],
    ["a (2).txt", "a (2) (2).txt"],
  ];
  for (const [name, second] of names) assert.deepEqual([nthName(name, 1), nthName(name, 2)], [name, second]);
});

Deno.test("droppedName() leaves names in their directory, hidden from no one, and short enough for a number", () => {
  fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
    let name: string;
    try {
      name = droppedName(text);
    } catch {
      return;
    }
    assert(!name.includes("/") && !name.startsWith(".") && name !== "");
    assert(new TextEncoder().encode(nthName(name, 1000)).length <= 255);
  }));
});
