import assert from "node:assert/strict";
import {
  allowsWriting,
  evaluateConditions,
  formatHttpDate,
  rangeApplies,
  type Validators,
  validatorsOf,
} from "../../../src/resource/access/validators.ts";
import { HeaderList } from "../../../src/model/http_message.ts";

const MODIFIED = Date.UTC(2026, 2, 4, 5, 6, 7);
const FILE = validatorsOf({ size: 36, modifiedAt: MODIFIED }, MODIFIED + 2000);
const FRESH = validatorsOf({ size: 36, modifiedAt: MODIFIED }, MODIFIED + 1999);
const DATE = "Wed, 04 Mar 2026 05:06:07 GMT";
const EARLIER = "Wed, 04 Mar 2026 05:06:06 GMT";
const LATER = "Wed, 04 Mar 2026 05:06:08 GMT";
const MUCH_LATER = "Wed, 04 Mar 2026 05:06:09 GMT";

Deno.test("validatorsOf() differ by size and time, in seconds since the epoch", () => {
  assert.equal(FILE.etag, `"10-${(MODIFIED / 1000).toString(36)}"`);
  assert.equal(formatHttpDate(MODIFIED), DATE);
  assert.notEqual(validatorsOf({ size: 37, modifiedAt: MODIFIED }, MODIFIED + 2000).etag, FILE.etag);
  assert.notEqual(validatorsOf({ size: 36, modifiedAt: MODIFIED + 1000 }, MODIFIED + 5000).etag, FILE.etag);
});

Deno.test("validatorsOf() are weak until two seconds after the last change, and without a time of change", () => {
  for (
    const fresh of [
      FRESH,
      validatorsOf({ size: 36 }, MODIFIED),
      validatorsOf({ size: 36, modifiedAt: 5000 }, 0),
    ]
  ) {
    assert.match(fresh.etag, /^W\/"[0-9a-z-]+"$/);
    assert.equal(fresh.settled, false);
    // A tag of a fresh file must not match later: the file may have changed within the same second.
    assert.equal(evaluateConditions(HeaderList.of({ "If-None-Match": fresh.etag }), FILE), "proceed");
    assert.equal(evaluateConditions(HeaderList.of({ "If-None-Match": fresh.etag }), fresh), "proceed");
    assert.equal(evaluateConditions(HeaderList.of({ "If-Match": fresh.etag }), fresh), "failed");
  }
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
  [{ "If-Modified-Since": LATER }, "proceed"],
  [{ "If-Modified-Since": MUCH_LATER }, "not modified"],
  [{ "If-Modified-Since": EARLIER }, "proceed"],
  [{ "If-Modified-Since": "yesterday" }, "proceed"],
  [{ "If-Modified-Since": "2026-03-04T05:06:07Z" }, "proceed"],
  [{ "If-Match": FILE.etag }, "proceed"],
  [{ "If-Match": "*" }, "proceed"],
  [{ "If-Match": `W/${FILE.etag}` }, "failed"],
  [{ "If-Match": '"x"' }, "failed"],
  [{ "If-Unmodified-Since": DATE }, "proceed"],
  [{ "If-Unmodified-Since": EARLIER }, "failed"],
  [{ "If-Unmodified-Since": LATER }, "failed"],
  [{ "If-Unmodified-Since": MUCH_LATER }, "proceed"],
  [{ "If-Unmodified-Since": "yesterday" }, "proceed"],
  [{ "If-Match": FILE.etag, "If-Unmodified-Since": EARLIER }, "proceed"],
];

for (const [headers, expected] of CONDITIONS) {
  Deno.test(`evaluateConditions() of ${JSON.stringify(headers)} is ${expected}`, () => {
    assert.equal(evaluateConditions(HeaderList.of(headers), FILE), expected);
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
    const headers = HeaderList.of(condition === undefined ? {} : { "If-Range": condition });
    assert.equal(rangeApplies(headers, FILE), expected);
    assert.equal(rangeApplies(headers, FRESH), false, "two versions can have the same second");
  });
}

Deno.test("evaluateConditions() does not trust the date of a file just written", () => {
  assert.equal(evaluateConditions(HeaderList.of({ "If-Modified-Since": DATE }), FRESH), "proceed");
  assert.equal(evaluateConditions(HeaderList.of({ "If-Unmodified-Since": DATE }), FRESH), "failed");
});

Deno.test("evaluateConditions() ignores dates if the daemon reports none", () => {
  const undated = validatorsOf({ size: 1 }, MODIFIED);
  for (const name of ["If-Modified-Since", "If-Unmodified-Since"]) {
    assert.equal(evaluateConditions(HeaderList.of({ [name]: LATER }), undated), "proceed");
  }
  assert.equal(rangeApplies(HeaderList.of({ "If-Range": LATER }), undated), false);
});

const WRITING: [Record<string, string>, Validators | undefined, boolean][] = [
  [{}, FILE, true],
  [{}, undefined, true],
  [{ "If-None-Match": "*" }, undefined, true],
  [{ "If-None-Match": "*" }, FILE, false],
  [{ "If-None-Match": "*" }, FRESH, false],
  [{ "If-None-Match": FILE.etag }, FILE, false],
  [{ "If-None-Match": '"x"' }, FILE, true],
  [{ "If-Match": "*" }, undefined, false],
  [{ "If-Match": "*" }, FRESH, true],
  [{ "If-Match": FILE.etag }, undefined, false],
  [{ "If-Match": FILE.etag }, FILE, true],
  [{ "If-Match": `W/${FILE.etag}` }, FILE, false],
  [{ "If-Match": FILE.etag }, FRESH, false],
  [{ "If-Match": FILE.etag, "If-None-Match": "*" }, FILE, false],
  [{ "If-Unmodified-Since": DATE }, FILE, true],
  [{ "If-Unmodified-Since": EARLIER }, FILE, false],
  [{ "If-Unmodified-Since": EARLIER }, undefined, true],
  [{ "If-Modified-Since": DATE }, FILE, true],
];

for (const [headers, file, expected] of WRITING) {
  const state = file === undefined ? "no file" : file.settled ? "a file" : "a file just written";
  Deno.test(`allowsWriting() of ${JSON.stringify(headers)} over ${state} is ${expected}`, () => {
    assert.equal(allowsWriting(HeaderList.of(headers), file), expected);
  });
}
