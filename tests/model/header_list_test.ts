import assert from "node:assert/strict";
import fc from "fast-check";
import { HeaderList } from "../../src/model/header_list.ts";

Deno.test("HeaderList finds names in any case", () => {
  const list = new HeaderList(["X-One", "1", "x-TWO", "2"]);
  assert.equal(list.get("x-one"), "1");
  assert.equal(list.get("X-Two"), "2");
  assert.equal(list.get("X-Three"), null);
  assert(list.has("X-ONE") && !list.has("toString"));
});

Deno.test("HeaderList answers as Headers does", () => {
  const name = fc.constantFrom("accept", "Accept", "Host", "x-a", "X-A");
  const value = fc.stringMatching(/^[!-~]{1,8}$/);
  const step = fc.tuple(fc.constantFrom("set", "append", "delete"), name, value);
  fc.assert(fc.property(fc.array(step), (steps) => {
    const [ours, theirs] = [new HeaderList(), new Headers()];
    for (const [what, name, value] of steps) {
      for (const headers of [ours, theirs]) {
        if (what === "delete") headers.delete(name);
        else if (what === "set") headers.set(name, value);
        else headers.append(name, value);
      }
    }
    assert.equal(ours.fields.length, 2 * [...theirs].length);
    for (const [name, value] of theirs) assert.equal(ours.get(name), value);
  }));
});

for (const [what, value] of [["CR", "a\rb"], ["LF", "a\nb"], ["NUL", "a\0b"]] as const) {
  Deno.test(`HeaderList takes no value with ${what}`, () => {
    assert.throws(() => HeaderList.of({ "X-A": value }), TypeError);
    assert.throws(() => new HeaderList().append("X-A", value), TypeError);
  });
}
