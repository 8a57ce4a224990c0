import assert from "node:assert/strict";
import { claimedName } from "../../../src/service/assembly/assemble.ts";

const METHODS = [{}, { lists: (login: string) => login === "ann" }];

Deno.test("claimedName() returns the name of a user, or a digest of anything else", () => {
  assert.equal(claimedName("ann", METHODS), "ann");
  const [first, second] = [claimedName("my-secret", METHODS), claimedName("my-secret2", METHODS)];
  assert.match(first, /^unknown-[0-9a-f]{8}$/);
  assert.equal(claimedName("my-secret", METHODS), first);
  assert.notEqual(first, second);
});
