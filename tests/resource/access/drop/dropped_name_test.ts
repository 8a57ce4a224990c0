import assert from "node:assert/strict";
import fc from "fast-check";
import { CHARACTER } from "../../../fixtures/character.ts";
import { HttpError } from "../../../../src/model/http_error.ts";
import { droppedName, firstFree, nthName } from "../../../../src/resource/access/drop/dropped_name.ts";

Deno.test("nthName() inserts the number before the extension", () => {
  const names: readonly (readonly [string, string])[] = [
    ["a.txt", "a (2).txt"],
    ["a", "a (2)"],
    ["a.tar.gz", "a.tar (2).gz"],
    ["a.", "a (2)."],
    ["a (2).txt", "a (2) (2).txt"],
  ];
  for (const [name, second] of names) assert.deepEqual([nthName(name, 1), nthName(name, 2)], [name, second]);
});

/** Names as attackers and users choose them: parts are hidden, lead elsewhere, are long, or are valid. */
const NAMES = fc.array(
  fc.oneof(
    fc.constantFrom(
      "",
      ".",
      "..",
      ".ssh",
      "...",
      "a",
      "b.txt",
      "\\",
      "\0",
      "~",
      "ä".repeat(100),
      "x".repeat(201),
    ),
    fc.string({ unit: CHARACTER, maxLength: 300 }),
  ),
  { minLength: 1, maxLength: 20 },
).map((parts) => parts.join("/"));

Deno.test("droppedName() accepts only names in their directory, not hidden, and short enough for a number", () => {
  fc.assert(
    fc.property(NAMES, (text) => {
      let name: string;
      try {
        name = droppedName(text);
      } catch (error) {
        assert(error instanceof HttpError);
        assert.equal(error.code, "ERR_INVALID_REQUEST");
        return;
      }
      const parts = nthName(name, 1000).split("/");
      assert(parts.every((part) => part !== "" && !part.startsWith(".")));
      assert(parts.every((part) => new TextEncoder().encode(part).length <= 255));
      assert(parts.length <= 17);
    }),
    { numRuns: 1000 },
  );
});

for (
  const name of [".bashrc", "a/.ssh/b", ".", "..", "a/../b", "../a", "/etc/passwd", "a/", "a//b", "", "a\nb"]
) {
  Deno.test(`droppedName() refuses ${JSON.stringify(name)}`, () => {
    assert.throws(() => droppedName(name), { code: "ERR_INVALID_REQUEST" });
  });
}

Deno.test("droppedName() accepts names with up to 16 directories, of 200 bytes each", () => {
  const deep = (directories: number) => `${"d/".repeat(directories)}a`;
  const names = ["a", "a b/c.d/e", "dir/a..b", "x".repeat(200), deep(16)];
  for (const name of names) assert.equal(droppedName(name), name);
  for (const name of ["x".repeat(201), "ä".repeat(101), deep(17)]) assert.throws(() => droppedName(name));
});

Deno.test("firstFree() finds the first free name in a few look-ups, or reports that there is none", async () => {
  for (let count = 0; count <= 1000; count++) {
    let looks = 0;
    const found = await firstFree((n) => {
      looks++;
      return Promise.resolve(n <= count);
    });
    assert.equal(found, count < 1000 ? count + 1 : undefined);
    assert.ok(looks <= 20, `${looks} looks`);
  }
});

Deno.test("firstFree() finds a free name if there are gaps", async () => {
  for (let hole = 1; hole <= 40; hole++) {
    const isTaken = (n: number) => n <= 40 && n !== hole;
    const found = await firstFree((n) => Promise.resolve(isTaken(n)));
    assert.ok(found !== undefined && !isTaken(found), `${found}`);
  }
});

Deno.test("droppedName() refuses invisible characters and changes of text direction, but accepts joined emoji", () => {
  const hidden = [
    "\u202e",
    "\u2066",
    "\u200b",
    "\u200f",
    "\ufeff",
    "\u00ad",
    "\u061c",
    "\u2060",
    "\u3164",
    "\u{e0041}",
    "\u200d",
  ];
  for (const character of hidden) {
    for (const name of [`a${character}gpj.exe`, `${character}/a`, `a${character}`]) {
      assert.throws(() => droppedName(name), { code: "ERR_INVALID_REQUEST" }, JSON.stringify(name));
    }
  }
  for (
    const name of [
      "\u{1f468}\u200d\u{1f469}.jpg",
      "\u{1f468}\u{1f3fd}\u200d\u{1f680}",
      "\u65e5\u672c \u00e4\u0308.txt",
      "\u05e9\u05dc\u05d5\u05dd",
    ]
  ) {
    assert.equal(droppedName(name), name);
  }
});
