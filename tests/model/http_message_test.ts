import assert from "node:assert/strict";
import fc from "fast-check";
import { HeaderList, readTarget } from "../../src/model/http_message.ts";

const good: [string, string, string][] = [
  ["/", "/", ""],
  ["/rest/auth", "/rest/auth", ""],
  ["/rest/auth/", "/rest/auth/", ""],
  ["/rest/auth?x=/../y&z=//", "/rest/auth", "x=/../y&z=//"],
  ["/?", "/", ""],
  ["/a?b?c", "/a", "b?c"],
  ["/a/..b/.c/d./...", "/a/..b/.c/d./...", ""],
  ["/a/%2e%2e%2e/%2eb", "/a/%2e%2e%2e/%2eb", ""],
  ["/a/%2F%5c/%20", "/a/%2F%5c/%20", ""],
  ["/a'b(c)*;=,@:!$&+~", "/a'b(c)*;=,@:!$&+~", ""],
];
for (const [target, path, query] of good) {
  Deno.test(`readTarget() splits ${target}`, () => assert.deepEqual(readTarget(target), { path, query }));
}

const bad = [
  ...["", "*", "a", "?x", "h:1", "http://h/"],
  ...["/.", "/..", "/./", "/../", "/a/.", "/a/..", "/a/./b", "/a/../b", "/../a"],
  ...["/%2e", "/%2E%2e/a", "/a/.%2e", "/a/%2e.", "/a/%2E/b", "/..?x", "/%2e%2e?x"],
  ...["//", "//a", "/a//b", "/a//", "/a//?x"],
  ...["/\\", "/a\\..\\b", "/a#b", "/a#", "/a?b#c", "/a b", "/a\tb", "/a\n", "/\0", "/é", "/\u{1f600}"],
];
for (const target of bad) {
  Deno.test(`readTarget() refuses ${JSON.stringify(target)}`, () =>
    assert.equal(readTarget(target), undefined));
}

Deno.test("readTarget() finds the same path as a URL parser, or none", () => {
  const piece = fc.constantFrom(
    "/",
    "//",
    ".",
    "..",
    "%2e",
    "%2E",
    "%2f",
    "\\",
    "a",
    "~",
    "?",
    "#",
    "%",
    "b'",
    ";",
    "@",
    ":",
  );
  fc.assert(fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
    const target = `/${pieces.join("")}`;
    const found = readTarget(target);
    const url = new URL(`https://h${target}`);
    if (found === undefined) return;
    assert.equal(url.pathname, found.path);
    assert.equal(url.search, found.query === "" ? "" : `?${found.query.replaceAll("'", "%27")}`);
  }));
});

Deno.test("HeaderList finds names in any case", () => {
  const list = new HeaderList(["X-One", "1", "x-TWO", "2"]);
  assert.equal(list.get("x-one"), "1");
  assert.equal(list.get("X-Two"), "2");
  assert.equal(list.get("X-Three"), null);
  assert(list.has("X-ONE") && !list.has("toString"));
});

Deno.test("HeaderList behaves as Headers does", () => {
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
  Deno.test(`HeaderList refuses a value with ${what}`, () => {
    assert.throws(() => HeaderList.of({ "X-A": value }), TypeError);
    assert.throws(() => new HeaderList().append("X-A", value), TypeError);
  });
}
