import assert from "node:assert/strict";
import { AndFilter, EqualityFilter, FilterParser } from "ldapts";
import { escapeFilterValue, fillFilter, inspectFilter } from "../../../src/outgoing/ldap/ldap_directory.ts";
import { isInEmptyPlane } from "../../fixtures/character.ts";
import { LONG } from "../../long/results.ts";

/** Returns the value that a server gets in a filter with this user name. */
function asked(user: string): unknown {
  const filter = FilterParser.parseString(fillFilter("(&(objectClass=person)(uid=%user%))", { user }));
  const [, equality] = filter instanceof AndFilter ? filter.filters : [];
  return equality instanceof EqualityFilter ? equality.value : equality;
}

Deno.test("fillFilter() round-trips every Unicode character", () => {
  // Only long tests try every character of empty planes.
  for (let point = 0; point <= 0x10ffff; point += !LONG && isInEmptyPlane(point) ? 97 : 1) {
    if (point >= 0xd800 && point < 0xe000) continue;
    const character = String.fromCodePoint(point);
    // Every character passes a round trip of the escaping, and those below U+3000 pass the parser as well.
    const plain = escapeFilterValue(character).replace(
      /\\([0-9a-f]{2})/g,
      (_, hex) => String.fromCharCode(parseInt(hex, 16)),
    );
    assert.equal(plain, character);
    if (point < 0x3000) assert.equal(asked(`a${character}b`), `a${character}b`, point.toString(16));
  }
});

Deno.test("fillFilter() prevents filter injection by names", () => {
  for (const user of ["*", "a)(uid=*", "a*b", "\\2a", "%user%", "%dn%", "(|(a=b))", "\0", "a\\"]) {
    assert.equal(asked(user), user);
  }
});

Deno.test("inspectFilter() reports the position of an error in a filter", () => {
  const origin = { file: "container.properties", line: 7, key: "LDAP.userFilter" };
  assert.deepEqual(inspectFilter("(uid=%user%)", origin), []);
  const [diagnostic] = inspectFilter("(&(uid=%user%)", origin);
  assert.deepEqual({ ...diagnostic, expected: "" }, {
    severity: "error",
    ...origin,
    found: "(&(uid=%user%)",
    expected: "",
  });
  assert.match(diagnostic?.expected ?? "", /^expected a search filter \(RFC 4515\)/);
});
