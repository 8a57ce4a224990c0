import assert from "node:assert/strict";
import { unlessAbsent } from "../../src/model/unless_absent.ts";

Deno.test("unlessAbsent() brings what is there, nothing for what is not, and any other failure", async () => {
  assert.equal(await unlessAbsent(Promise.resolve(1)), 1);
  assert.equal(await unlessAbsent(Promise.reject(new Deno.errors.NotFound())), undefined);
  await assert.rejects(
    unlessAbsent(Promise.reject(new Deno.errors.PermissionDenied())),
    Deno.errors.PermissionDenied,
  );
});
