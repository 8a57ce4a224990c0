import assert from "node:assert/strict";
import { targetsOnServer } from "../../../src/resource/share/names.ts";
import { call, USER } from "../sample_call.ts";

Deno.test("targetsOnServer() returns name and groups of a caller with an account, nothing for anonymous callers", () => {
  const user = { ...USER, role: "user", uid: "ann", group: "hpc", availableGroups: ["hpc", "proj"] };
  const ann = { kind: "authenticated", identity: { dn: "CN=Ann", method: "", via: "" } } as const;
  assert.deepEqual(targetsOnServer({ ...call(), user, caller: ann }, "HPC"), [
    "cn=ann",
    "group:hpc",
    "group:proj",
  ]);
  assert.deepEqual(targetsOnServer({ ...call(), user }, "HPC"), []);
  const elsewhere = { ...USER, role: "user" };
  const restricted = { ...user, restricted: { servers: ["OTHER"], elsewhere } };
  assert.deepEqual(targetsOnServer({ ...call(), user: restricted, caller: ann }, "HPC"), []);
});
