import assert from "node:assert/strict";
import { httpError } from "../../src/model/http_error.ts";
import { groupRefusal } from "../../src/resource/group_refusal.ts";

const refused = (error: Error) =>
  groupRefusal(
    { open: () => Promise.reject(error) },
    { user: "ann", group: "hpc", instance: undefined },
    new AbortController().signal,
  );

Deno.test("groupRefusal() returns why a daemon refuses a group, and rethrows other errors", async () => {
  const daemon = (reason: string) => refused(httpError("ERR_DAEMON_SESSION", reason));
  assert.equal(await daemon("530 unknown primary group hpc"), "unknown");
  assert.equal(await daemon("530 unknown supplementary group hpc"), "unknown");
  assert.equal(await daemon("530 ann is not a member of the group hpc"), "not a member");
  await assert.rejects(daemon("530 something else"), { code: "ERR_DAEMON_SESSION" });
  await assert.rejects(refused(new TypeError("unknown primary group, by a defect")), TypeError);
});
