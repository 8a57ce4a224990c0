import assert from "node:assert/strict";
import fc from "fast-check";
import { absolutePath } from "../../../src/model/absolute_path.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import { containedPath } from "../../../src/resource/access/opened_share.ts";
import { CHARACTER } from "../../fixtures/character.ts";

const SHARE = { path: "/data/d/" };

const INSIDE: [string[], string][] = [
  [[], "/data/d/"],
  [[""], "/data/d/"],
  [["x"], "/data/d/x"],
  [["sub", ""], "/data/d/sub/"],
  [["sub", "", "x"], "/data/d/sub/x"],
  [["a%20b"], "/data/d/a b"],
  [["%C3%A4"], "/data/d/ä"],
  [["a\\b"], "/data/d/a\\b"],
  [["%5c..%5cx"], "/data/d/\\..\\x"],
  [["%252e%252e", "x"], "/data/d/%2e%2e/x"],
  [["..."], "/data/d/..."],
];

for (const [segments, expected] of INSIDE) {
  Deno.test(`containedPath() reads ${JSON.stringify(segments)} as ${expected}`, () => {
    assert.equal(containedPath(SHARE, segments), expected);
  });
}

const REFUSED = [
  [".."],
  ["%2e%2e"],
  ["%2E."],
  ["x", "..", "y"],
  ["."],
  ["a%2fb"],
  ["..%2f..%2fetc"],
  ["a%00"],
  ["a%0d%0ab"],
  ["a%7f"],
  ["%C2%85"],
  ["%e2%80%a8"],
  ["%"],
  ["%zz"],
  ["%c0%ae%c0%ae"],
  ["%ff"],
  ["%ed%a0%80"],
];

for (const segments of REFUSED) {
  Deno.test(`containedPath() finds nothing at ${JSON.stringify(segments)}`, () => {
    assert.throws(() => containedPath(SHARE, segments), { code: "ERR_NOT_FOUND" });
  });
}

Deno.test("containedPath() finds nothing below a shared file, not even for a trailing slash", () => {
  assert.equal(containedPath({ path: "/data/f" }, []), "/data/f");
  assert.throws(() => containedPath({ path: "/data/f" }, [""]), { code: "ERR_NOT_FOUND" });
  assert.throws(() => containedPath({ path: "/data/f" }, ["x"]), { code: "ERR_NOT_FOUND" });
});

Deno.test("containedPath() never leaves the share, for any input", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "%2e",
      "%2e%2e",
      "%2f",
      "/",
      "\\",
      "%5c",
      "%00",
      "%",
      "a",
      "",
      "%25",
      "~",
      "%0a",
    ),
    fc.string({ unit: CHARACTER, maxLength: 4 }),
  );
  const segment = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 5 }), (segments) => {
      let path: string;
      try {
        path = containedPath(SHARE, segments);
      } catch (error) {
        return isHttpError(error, "ERR_NOT_FOUND");
      }
      assert.ok(path.startsWith("/data/d/"), path);
      assert.equal(absolutePath(path), path);
    }),
    { numRuns: 10_000 },
  );
});
