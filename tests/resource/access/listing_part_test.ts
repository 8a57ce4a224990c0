import assert from "node:assert/strict";
import process from "node:process";
import fc from "fast-check";
import { ListingPart } from "../../../src/resource/access/listing_part.ts";
import type { ListingQuery } from "../../../src/resource/access/listing_query.ts";
import type { Entry } from "../../../src/daemon/session/entry.ts";

const PLAIN: ListingQuery = { order: "name", descending: false, find: "" };

function entry(name: string): Entry {
  const directory = name.endsWith("/");
  const kind = directory ? "directory" : "file";
  return { name: directory ? name.slice(0, -1) : name, kind, size: 1, permissions: "r" };
}

/** Returns names in the order of all parts, and the length of each part. */
function inParts(names: readonly string[], most: number): { names: string[]; lengths: number[] } {
  const found: string[] = [];
  const lengths: number[] = [];
  let next: string | undefined;
  do {
    const part = new ListingPart({ ...PLAIN, after: next }, most);
    for (const name of names) part.add(entry(name));
    const finished = part.finish();
    found.push(...finished.entries.map(({ name, kind }) => name + (kind === "directory" ? "/" : "")));
    lengths.push(finished.entries.length);
    next = finished.next;
  } while (next !== undefined);
  return { names: found, lengths };
}

Deno.test("ListingPart puts directories first, letters of either case together, and numbers by their value", () => {
  const ordered = ["a/", "Z/", "a1", "A2", "a010", "a10", "a100", "b", "é", "f", "z"];
  const { names } = inParts(ordered.toReversed(), 100);
  assert.deepEqual(names, ordered);
});

Deno.test("ListingPart returns every entry exactly once, for any order of arrival and length of parts", () => {
  const name = fc.string({
    unit: fc.constantFrom("a", "A", "é", "0", "1", "9", ".", "😀"),
    minLength: 1,
    maxLength: 4,
  });
  const names = fc.uniqueArray(fc.tuple(name, fc.boolean()), { selector: ([text]) => text, maxLength: 30 });
  fc.assert(fc.property(names, fc.integer({ min: 1, max: 7 }), (given, most) => {
    const all = given.map(([text, directory]) => text + (directory ? "/" : ""));
    const whole = inParts(all, 1000);
    const cut = inParts(all.toSorted(), most);
    assert.deepEqual(cut.names, whole.names);
    assert.deepEqual(whole.names.toSorted(), all.toSorted());
    assert.ok(cut.lengths.every((length) => length <= most));
    assert.equal(cut.lengths.length, Math.max(1, Math.ceil(all.length / most)));
  }));
});

Deno.test("ListingPart refuses a start that is not a name", () => {
  for (const after of ["", "/", "a/b", "../", "a".repeat(2000)].filter((text) => text !== "../")) {
    assert.throws(() => new ListingPart({ ...PLAIN, after }), { code: "ERR_INVALID_REQUEST" }, after);
  }
});

Deno.test("ListingPart sorts long names only by their beginnings, and loses no entry", () => {
  /** Returns names of characters that normalization for sorting turns into 18 characters each. */
  const names = (length: number) => Array.from({ length: 1500 }, (_, i) => `${"\ufdfa".repeat(length)}${i}`);
  const milliseconds = (names: readonly string[]) => {
    const entries = names.map(entry);
    const begun = process.threadCpuUsage();
    const part = new ListingPart(PLAIN);
    for (const each of entries) part.add(each);
    assert.equal(part.finish().entries.length, names.length);
    const { user, system } = process.threadCpuUsage(begun);
    return (user + system) / 1000;
  };
  const least = (names: readonly string[]) => Math.min(...[1, 2, 3].map(() => milliseconds(names)));
  const [short, long] = [names(252), names(1020)];
  assert.ok(least(long) < 2.5 * least(short), "four times the length costs as much more");
  const some = long.slice(0, 1000);
  assert.deepEqual(inParts(some.toReversed(), 300).names.toSorted(), some.toSorted());
});

Deno.test("ListingPart sorts entries by size or time, either way, across parts, directories first", () => {
  const of = (name: string, size: number, modified: string): Entry => ({ ...entry(name), size, modified });
  const all = [
    of("b", 5, "20260101000000"),
    of("a", 5, "20250101000000"),
    of("d/", 9, "20270101000000"),
    of("c:1", 7, "20240101000000"),
  ];
  const order = (query: Partial<ListingQuery>) => {
    const found: string[] = [];
    let after: string | undefined;
    do {
      const part = new ListingPart({ ...PLAIN, ...query, after }, 1);
      for (const each of all) part.add(each);
      const { entries, next } = part.finish();
      found.push(...entries.map(({ name }) => name));
      after = next;
    } while (after !== undefined);
    return found;
  };
  assert.deepEqual(order({ descending: true }), ["d", "c:1", "b", "a"]);
  assert.deepEqual(order({ order: "size" }), ["d", "a", "b", "c:1"]);
  assert.deepEqual(order({ order: "size", descending: true }), ["d", "c:1", "b", "a"]);
  assert.deepEqual(order({ order: "modified" }), ["d", "c:1", "a", "b"]);
  assert.deepEqual(order({ order: "modified", descending: true, find: "A" }), ["a"]);
  for (const after of ["a", ":a", "x:a", "1:", "12345678901234567:a"]) {
    const query: ListingQuery = { ...PLAIN, order: "size", after };
    assert.throws(() => new ListingPart(query), { code: "ERR_INVALID_REQUEST" }, after);
  }
});
