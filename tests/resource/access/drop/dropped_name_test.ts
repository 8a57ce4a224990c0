import assert from "node:assert/strict";
import fc from "fast-check";
import { droppedName, firstFree, nthName } from "../../../../src/resource/access/drop/dropped_name.ts";

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

Deno.test("firstFree() finds the first name that nothing has in a few looks, or that there is none", async () => {
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

Deno.test("firstFree() finds a name that nothing has where some between were taken away", async () => {
  for (let hole = 1; hole <= 40; hole++) {
    const isTaken = (n: number) => n <= 40 && n !== hole;
    const found = await firstFree((n) => Promise.resolve(isTaken(n)));
    assert.ok(found !== undefined && !isTaken(found), `${found}`);
  }
});
