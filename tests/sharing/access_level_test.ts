import assert from "node:assert/strict";
import { type AccessLevel, grants, parseAccessLevel } from "../../src/sharing/access_level.ts";

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

Deno.test("parseAccessLevel() knows the levels by their upper-case names alone", () => {
  assert.deepEqual(LEVELS.map(parseAccessLevel), LEVELS);
  for (const other of ["", "read", "READ ", "DELETE"]) assert.equal(parseAccessLevel(other), undefined);
});
