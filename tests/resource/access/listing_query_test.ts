import assert from "node:assert/strict";
import fc from "fast-check";
import { CHARACTER } from "../../fixtures/character.ts";
import { listingQueryText, ORDERS, parseListingQuery } from "../../../src/resource/access/listing_query.ts";

Deno.test("parseListingQuery() reads what listingQueryText() writes", () => {
  const text = fc.string({ maxLength: 20, unit: CHARACTER });
  const query = fc.record({
    order: fc.constantFrom(...ORDERS),
    descending: fc.boolean(),
    find: text,
    after: fc.option(text, { nil: undefined }),
  });
  fc.assert(fc.property(query, (given) => {
    assert.deepEqual(parseListingQuery(new URLSearchParams(listingQueryText(given))), { ...given });
  }));
});

Deno.test("parseListingQuery() ignores unknown parameters, and listingQueryText() omits defaults", () => {
  const plain = { order: "name", descending: false, find: "", after: undefined };
  assert.deepEqual(parseListingQuery(new URLSearchParams("utm_source=x")), plain);
  assert.equal(listingQueryText({ order: "name", descending: false, find: "" }), "");
});

for (
  const bad of [
    "sort=colour",
    "sort=name&sort=size",
    "find=a&find=b",
    `find=${"a".repeat(256)}`,
    "after=&after=",
  ]
) {
  Deno.test(`parseListingQuery() refuses ${bad.slice(0, 30)}`, () => {
    assert.throws(() => parseListingQuery(new URLSearchParams(bad)), { code: "ERR_INVALID_REQUEST" });
  });
}
