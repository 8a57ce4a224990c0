import assert from "node:assert/strict";
import fc from "fast-check";
import { absolutePath, nameOf, parentOf, withInvisibleShown } from "../../src/model/absolute_path.ts";
import { isHttpError } from "../../src/model/http_error.ts";

const NORMAL: [string, string][] = [
  ["/", "/"],
  ["//", "/"],
  ["/.", "/"],
  ["/data/./x", "/data/x"],
  ["/data//x", "/data/x"],
  ["/data/dir//", "/data/dir/"],
  ["/a/b/..", "/a/"],
  ["/a/b/../", "/a/"],
  ["/a/b/.", "/a/b/"],
  ["/a/..", "/"],
  ["/data/dir//../../etc/passwd", "/etc/passwd"],
  ["/a/...", "/a/..."],
  ["/a/b\\..\\c", "/a/b\\..\\c"],
  ["/a/ b ", "/a/ b "],
  ["//name/x", "/name/x"],
  [`${"/x".repeat(256)}//.`, `${"/x".repeat(256)}/`],
];

for (const [text, expected] of NORMAL) {
  Deno.test(`absolutePath() normalises ${text}`, () => {
    assert.equal(absolutePath(text), expected);
  });
}

const REFUSED: [string, string][] = [
  ["", "empty"],
  ["..", "relative"],
  ["a/b", "relative"],
  ["~/x", "home"],
  ["/../x", "beyond the root"],
  ["/a/../../x", "beyond the root"],
  ["/a\0b", "NUL"],
  ["/a\nb", "line feed"],
  ["/a\rb", "carriage return"],
  ["/a\u007f", "DEL"],
  ["/a\u0085", "next line"],
  ["/a\u2028b", "line separator"],
  ["/a\ud800", "half a character"],
  [`/${"x".repeat(2048)}`, "too long"],
  ["/x".repeat(257), "too deep"],
];

for (const [text, what] of REFUSED) {
  Deno.test(`absolutePath() refuses a path: ${what}`, () => {
    assert.throws(() => absolutePath(text), { code: "ERR_INVALID_PATH" });
  });
}

const PATHS = fc.array(fc.constantFrom("a", "b ", ".", "..", "", "..."), { maxLength: 8 })
  .map((parts) => `/${parts.join("/")}`);

Deno.test("absolutePath() is idempotent, or refuses the path", () => {
  fc.assert(fc.property(PATHS, (text) => {
    let once: string;
    try {
      once = absolutePath(text);
    } catch (error) {
      return isHttpError(error, "ERR_INVALID_PATH");
    }
    assert.equal(absolutePath(once), once);
    assert.doesNotMatch(once, /\/\/|\/\.{1,2}(\/|$)/);
    assert.ok(once.startsWith("/"));
  }));
});

Deno.test("parentOf() and nameOf() split a path", () => {
  assert.deepEqual([parentOf("/a/b"), nameOf("/a/b")], ["/a/", "b"]);
  assert.deepEqual([parentOf("/a/b/"), nameOf("/a/b/")], ["/a/", "b"]);
  assert.deepEqual([parentOf("/a"), nameOf("/a")], ["/", "a"]);
  assert.deepEqual([parentOf("/"), nameOf("/")], ["/", ""]);
});

Deno.test("withInvisibleShown() shows the blanks of a name that has no other characters", () => {
  assert.equal(withInvisibleShown(" \u00a0"), "\\u{20}\\u{a0}");
  for (const name of ["", " a b ", "a"]) assert.equal(withInvisibleShown(name), name);
});
