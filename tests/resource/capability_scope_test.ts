import assert from "node:assert/strict";
import fc from "fast-check";
import type { Capability } from "../../src/model/identity.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import { scopeWithin } from "../../src/resource/capability_scope.ts";
import { matchesPattern } from "../../src/files/path_pattern.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

const MIXED: readonly Capability[] = [
  { path: "/data/", access: "read" },
  { path: "/data/run7/", access: "all" },
];

Deno.test("scopeWithin() gives what the narrowest of the token's paths permits there", () => {
  assertAlike(scopeWithin(MIXED, "/data/", {}), { permission: "READ", includes: "/data/*" });
  assertAlike(scopeWithin(MIXED, "/data/run7/a/", {}), {
    permission: "FULL",
    includes: "/data/run7/a/*",
  });
  assertAlike(scopeWithin([{ path: "/", access: "read" }], "/etc/", {}), {
    permission: "READ",
    includes: "/etc/*",
  });
});

Deno.test("scopeWithin() stays within the account's own limits", () => {
  const limits = { includes: "/data/run7/*:/home/*", excludes: "*.key" };
  assertAlike(scopeWithin(MIXED, "/data/run7/", limits), {
    permission: "FULL",
    includes: "/data/run7/*",
    excludes: "*.key",
  });
  const apart = { includes: "/home/*" };
  assert.throws(
    () => scopeWithin(MIXED, "/data/run7/", apart),
    (error) => isHttpError(error, "ERR_OUTSIDE_CAPABILITIES"),
  );
});

for (
  const file of [
    ...[
      "",
      "./",
      "data/",
      "/",
      "/dat/",
      "/data2/",
      "/home/",
      "/data",
      "/data/run7",
      "/data/x",
      "/data/../etc/",
      "/data//run7/",
      "/data/./x/",
    ],
    ...["/data/run7/../../etc/", "/data/x*/"],
  ]
) {
  Deno.test(`scopeWithin() refuses a session that begins in ${JSON.stringify(file)}`, () => {
    assert.throws(
      () => scopeWithin(MIXED, file, {}),
      (error) => isHttpError(error, "ERR_OUTSIDE_CAPABILITIES"),
    );
  });
}

Deno.test("scopeWithin() permits nothing outside the token's paths, and writing in no more of them", () => {
  const path = fc.array(fc.constantFrom("a", "b", "ab", "..", ".", "a*", "a:b"), { maxLength: 4 })
    .map((parts) => `/${parts.map((part) => `${part}/`).join("")}`);
  const capability = fc.record({ path, access: fc.constantFrom("read" as const, "all" as const) });
  fc.assert(fc.property(fc.array(capability), path, path, (capabilities, file, other) => {
    try {
      const { permission, includes = "" } = scopeWithin(capabilities, file, {});
      const covering = capabilities.filter((one) => file.startsWith(one.path));
      assert.ok(covering.length > 0);
      assert.equal(permission === "FULL", covering.some(({ access }) => access === "all"));
      const matched = includes.split(":").some((pattern) =>
        // A directory with a colon is the base of a pattern that counts from it.
        pattern.startsWith("/") ? matchesPattern(pattern, `${other}x`) : `${other}x`.startsWith(file)
      );
      assert.equal(matched, `${other}x`.startsWith(file));
    } catch (error) {
      assert.ok(isHttpError(error, "ERR_OUTSIDE_CAPABILITIES"), String(error));
    }
  }));
});
