import assert from "node:assert/strict";
import fc from "fast-check";
import { canonicalDn, InvalidName } from "../../src/model/distinguished_name.ts";
import { EVERYBODY, exactness, groupOf, groupTarget, parseTarget } from "../../src/sharing/target.ts";

const TARGETS: readonly (readonly [text: string, target: string, group: string | undefined])[] = [
  ["CN=Ann, O=Site", "cn=ann,o=site", undefined],
  ["CN=ANONYMOUS, O=UNKNOWN, OU=UNKNOWN", EVERYBODY, undefined],
  ["group:hpc", "group:hpc", "hpc"],
  [" Group:HPC ", "group:HPC", "HPC"],
  ["group:DOM\\hpc", "group:DOM\\hpc", "DOM\\hpc"],
  ["CN=group:hpc", "cn=group:hpc", undefined],
];
for (const [text, target, group] of TARGETS) {
  Deno.test(`parseTarget() takes ${JSON.stringify(text)} for ${target}`, () => {
    assert.equal(parseTarget(text), target);
    assert.equal(groupOf(target), group);
    assert.equal(parseTarget(target), target);
  });
}

const NONE = [
  "group:",
  "group: ",
  "group: hpc",
  "group:*",
  "group:h?c",
  "group:hpc,users",
  "group:hpc:users",
  "group:CN=Ann,O=Site",
  `group:${EVERYBODY}`,
  "group:root",
  "group:0",
  "group:DOM\\root",
  "group:group:hpc",
  "group:hpc\0",
  "group:-hpc",
  `group:${"x".repeat(200)}`,
  "group",
  "hpc",
  "groups:hpc",
  "group=hpc",
];
for (const text of NONE) {
  Deno.test(`parseTarget() refuses ${JSON.stringify(text.slice(0, 40))}`, () => {
    assert.throws(() => parseTarget(text), InvalidName);
  });
}

Deno.test("a group is the name of no user: an older version finds nobody for whom it would be", () => {
  fc.assert(fc.property(fc.string(), fc.string(), (before, after) => {
    for (const text of [`group:${before}`, `${before}group:${after}`, `GROUP:${before}=${after}`]) {
      let form: string | undefined;
      try {
        form = canonicalDn(text);
      } catch (error) {
        assert.ok(error instanceof InvalidName);
      }
      assert.equal(form === undefined ? undefined : groupOf(form), undefined);
    }
  }));
});

Deno.test("exactness() puts a user before a group, and a group before everybody", () => {
  const targets = [EVERYBODY, groupTarget("hpc"), "cn=ann"];
  assert.deepEqual(targets.map(exactness), [0, 1, 2]);
});

Deno.test("parseTarget() says where the name of a group begins that is none", () => {
  assert.throws(
    () => parseTarget("group:root"),
    (error) => error instanceof InvalidName && error.position === "group:".length + 1,
  );
});
