import assert from "node:assert/strict";
import { changedKeys, type EffectiveValue } from "../../src/config/key_reader.ts";

const values = (pairs: Record<string, string | undefined>): EffectiveValue[] =>
  Object.entries(pairs).map(([key, value]) => ({
    key,
    section: "any",
    secret: false,
    ...(value !== undefined && { value }),
  }));

const table: [string, Record<string, string | undefined>, Record<string, string | undefined>, string[]][] = [
  ["nothing", { a: "1", b: undefined }, { b: undefined, a: "1" }, []],
  ["another value", { a: "1", b: "2" }, { a: "1", b: "3" }, ["b"]],
  ["a new key", {}, { a: "1" }, ["a"]],
  ["a key that is gone", { b: "1", a: "1" }, {}, ["a", "b"]],
  ["a key of an unusual name", { ["__proto__"]: "1" }, { constructor: "1" }, ["__proto__", "constructor"]],
];
for (const [what, before, after, keys] of table) {
  Deno.test(`changedKeys() finds ${what}`, () => {
    assert.deepEqual(changedKeys(values(before), values(after)), keys);
  });
}
