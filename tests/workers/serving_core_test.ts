import assert from "node:assert/strict";
import type { AdminAnswer, AdminRequest } from "../../src/resource/admin/admin_request.ts";
import { AdminCalls, NoAnswer } from "../../src/workers/serving_core.ts";

/** Returns calls to a core with these answers; `undefined`: it never answers. */
function callsTo(answer: (request: AdminRequest) => Promise<AdminAnswer> | undefined): AdminCalls {
  const calls: AdminCalls = new AdminCalls((id, request) =>
    void answer(request)?.then(
      (answer) => calls.settle({ id, answer }),
      (error: Error) => calls.settle({ id, failed: error.message }),
    )
  );
  return calls;
}

Deno.test("answers reach their requests in any order", async () => {
  const late = Promise.withResolvers<AdminAnswer>();
  const calls = callsTo(({ command }) =>
    command === "ban list" ? late.promise : Promise.resolve({ result: command })
  );
  const first = calls.call({ command: "ban list" }, 5000);
  assert.deepEqual(await calls.call({ command: "token list", user: "ann" }, 5000), { result: "token list" });
  late.resolve({ result: [] });
  assert.deepEqual(await first, { result: [] });
});

Deno.test("a call fails if the core fails, takes too long, or ends", async () => {
  const calls = callsTo(({ command }) =>
    command === "status" ? Promise.reject(new Error("out of order")) : undefined
  );
  await assert.rejects(calls.call({ command: "status" }, 5000), {
    constructor: NoAnswer,
    message: "out of order",
  });
  await assert.rejects(calls.call({ command: "ban list" }, 10), /did not answer within 0\.01 s/);
  const waiting = calls.call({ command: "ban list" }, 5000);
  calls.close();
  await assert.rejects(waiting, /the core has ended/);
  await assert.rejects(calls.call({ command: "ban list" }, 5000), NoAnswer);
});
