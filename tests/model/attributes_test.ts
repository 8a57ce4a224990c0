import assert from "node:assert/strict";
import { attributeValues } from "../../src/model/attributes.ts";

Deno.test("attributeValues() prefers the first allowed value, and all supplementary groups", () => {
  const allowed = ["a", "b", "c"];
  assert.deepEqual(attributeValues("xlogin", allowed), { allowed, preferred: ["a"] });
  assert.deepEqual(attributeValues("supplementaryGroups", allowed), { allowed, preferred: allowed });
  assert.deepEqual(attributeValues("group", []), { allowed: [], preferred: [] });
});
