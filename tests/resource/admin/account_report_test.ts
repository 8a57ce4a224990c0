import assert from "node:assert/strict";
import type { UserInfo } from "../../../src/daemon/daemon_group.ts";
import { httpError } from "../../../src/model/http_error.ts";
import { accountReport } from "../../../src/resource/admin/account_report.ts";
import { server } from "../sample_call.ts";

const { signal } = new AbortController();

const reportOf = (uid: string, userInfo: () => Promise<UserInfo>) =>
  accountReport({ ...server("HPC", { up: true }).daemons, userInfo }, uid, signal);

Deno.test("accountReport() asks daemons only about valid account names", async () => {
  for (const uid of ["", "a b", "a\nb", "-rf", "x".repeat(300)]) {
    const { state, reason } = await reportOf(uid, () => assert.fail("no daemon is asked"));
    assert.deepEqual([state, reason], ["failed", "that is no account name"], uid);
  }
  assert.equal((await reportOf("ann", () => Promise.resolve({ kind: "unknown" }))).state, "unknown");
});

Deno.test("accountReport() says why it could not ask daemons, and hides no defect", async () => {
  const report = await reportOf(
    "ann",
    () => Promise.reject(httpError("ERR_SERVER_DOWN", { status: "down" })),
  );
  assert.equal(report.state, "failed");
  assert.match(report.reason ?? "", /down/);
  await assert.rejects(reportOf("ann", () => Promise.reject(new TypeError("a defect"))), TypeError);
});
