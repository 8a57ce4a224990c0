import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type AccessLevel,
  EVERYBODY,
  grants,
  groupOf,
  groupTarget,
  isEnded,
  parseAccessLevel,
  parseTarget,
  specificity,
} from "../../src/sharing/share.ts";
import { DRAFT } from "./store/conformance.ts";
import { canonicalDn, InvalidName } from "../../src/model/distinguished_name.ts";

/** End in seconds, remaining uses, time in milliseconds, and whether the share is over. */
const ENDS:
  readonly (readonly [expires: number, usesLeft: number | undefined, now: number, over: boolean])[] = [
    [0, undefined, 5_000_000, false],
    [0, 1, 5_000_000, false],
    [0, 0, 5_000_000, true],
    [5000, undefined, 4_999_999, false],
    [5000, undefined, 5_000_999, false],
    [5000, undefined, 5_001_000, true],
    [5000, 1, 5_001_000, true],
    [5000, 0, 0, true],
  ];
for (const [expires, usesLeft, now, over] of ENDS) {
  Deno.test(`isEnded() of a share until ${expires} s with ${usesLeft ?? "all"} uses left is ${over} at ${now} ms`, () => {
    assert.equal(isEnded({ ...DRAFT, expires, ...(usesLeft !== undefined && { usesLeft }) }, now), over);
  });
}

const LEVELS = ["NONE", "READ", "WRITE", "MODIFY", "DROP"] as const;

const WANTED_IS_GRANTED: Readonly<Record<AccessLevel, readonly AccessLevel[]>> = {
  NONE: ["NONE"],
  READ: ["NONE", "READ"],
  WRITE: ["NONE", "READ", "WRITE"],
  MODIFY: ["NONE", "READ", "WRITE", "MODIFY"],
  DROP: ["NONE", "DROP"],
};
for (const granted of LEVELS) {
  Deno.test(`grants() lets ${granted} do ${WANTED_IS_GRANTED[granted].join(", ")}, and no more`, () => {
    assert.deepEqual(LEVELS.filter((wanted) => grants(granted, wanted)), WANTED_IS_GRANTED[granted]);
  });
}

Deno.test("parseAccessLevel() accepts the levels only by their upper-case names", () => {
  assert.deepEqual(LEVELS.map(parseAccessLevel), LEVELS);
  for (const other of ["", "read", "READ ", "DELETE"]) assert.equal(parseAccessLevel(other), undefined);
});

const TARGETS: readonly (readonly [text: string, target: string, group: string | undefined])[] = [
  ["CN=Ann, O=Site", "cn=ann,o=site", undefined],
  ["CN=ANONYMOUS, O=UNKNOWN, OU=UNKNOWN", EVERYBODY, undefined],
  ["group:hpc", "group:hpc", "hpc"],
  [" Group:HPC ", "group:HPC", "HPC"],
  ["group:DOM\\hpc", "group:DOM\\hpc", "DOM\\hpc"],
  ["CN=group:hpc", "cn=group:hpc", undefined],
];
for (const [text, target, group] of TARGETS) {
  Deno.test(`parseTarget() reads ${JSON.stringify(text)} as ${target}`, () => {
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

Deno.test("groupTarget() is not a distinguished name: in an older version the share is for nobody", () => {
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

Deno.test("specificity() puts a user before a group, and a group before everybody", () => {
  const targets = [EVERYBODY, groupTarget("hpc"), "cn=ann"];
  assert.deepEqual(targets.map(specificity), [0, 1, 2]);
});

Deno.test("parseTarget() reports the position of an invalid group name", () => {
  assert.throws(
    () => parseTarget("group:root"),
    (error) => error instanceof InvalidName && error.position === "group:".length + 1,
  );
});
