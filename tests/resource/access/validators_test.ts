import assert from "node:assert/strict";
import {
  evaluateConditions,
  formatHttpDate,
  rangeApplies,
  validatorsOf,
} from "../../../src/resource/access/validators.ts";

const MODIFIED = Date.UTC(2026, 2, 4, 5, 6, 7);
const FILE = validatorsOf(36, "20260304050607", MODIFIED);
const DATE = "Wed, 04 Mar 2026 05:06:07 GMT";
const EARLIER = "Wed, 04 Mar 2026 05:06:06 GMT";
const LATER = "Wed, 04 Mar 2026 05:06:08 GMT";

Deno.test("validatorsOf() tells size and time apart", () => {
  assert.equal(FILE.etag, '"10-20260304050607"');
  assert.equal(formatHttpDate(MODIFIED), DATE);
});

const CONDITIONS: [Record<string, string>, ReturnType<typeof evaluateConditions>][] = [
  [{}, "proceed"],
  [{ "If-None-Match": FILE.etag }, "not modified"],
  [{ "If-None-Match": `W/${FILE.etag}` }, "not modified"],
  [{ "If-None-Match": `"x", ${FILE.etag}` }, "not modified"],
  [{ "If-None-Match": "*" }, "not modified"],
  [{ "If-None-Match": '"x"' }, "proceed"],
  [{ "If-None-Match": '"x"', "If-Modified-Since": DATE }, "proceed"],
  [{ "If-Modified-Since": DATE }, "not modified"],
  [{ "If-Modified-Since": LATER }, "not modified"],
  [{ "If-Modified-Since": EARLIER }, "proceed"],
  [{ "If-Modified-Since": "yesterday" }, "proceed"],
  [{ "If-Match": FILE.etag }, "proceed"],
  [{ "If-Match": "*" }, "proceed"],
  [{ "If-Match": `W/${FILE.etag}` }, "failed"],
  [{ "If-Match": '"x"' }, "failed"],
  [{ "If-Unmodified-Since": DATE }, "proceed"],
  [{ "If-Unmodified-Since": EARLIER }, "failed"],
  [{ "If-Match": FILE.etag, "If-Unmodified-Since": EARLIER }, "proceed"],
];

for (const [headers, expected] of CONDITIONS) {
  Deno.test(`evaluateConditions() of ${JSON.stringify(headers)} is ${expected}`, () => {
    assert.equal(evaluateConditions(new Headers(headers), FILE), expected);
  });
}

const RANGES: [string | undefined, boolean][] = [
  [undefined, true],
  [FILE.etag, true],
  ['"x"', false],
  [`W/${FILE.etag}`, false],
  [DATE, true],
  [LATER, false],
  ["nonsense", false],
];

for (const [condition, expected] of RANGES) {
  Deno.test(`rangeApplies() with If-Range ${condition} is ${expected}`, () => {
    const headers = new Headers(condition === undefined ? {} : { "If-Range": condition });
    assert.equal(rangeApplies(headers, FILE, MODIFIED + 1000), expected);
  });
}

Deno.test("rangeApplies() does not trust the date of a file just written", () => {
  assert.equal(rangeApplies(new Headers({ "If-Range": DATE }), FILE, MODIFIED + 999), false);
});

Deno.test("evaluateConditions() ignores dates where the daemon tells none", () => {
  const undated = validatorsOf(1, "x");
  assert.equal(evaluateConditions(new Headers({ "If-Modified-Since": LATER }), undated), "proceed");
  assert.equal(rangeApplies(new Headers({ "If-Range": LATER }), undated, Date.now()), false);
});
