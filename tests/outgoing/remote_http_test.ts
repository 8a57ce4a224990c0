import assert from "node:assert/strict";
import type { OutgoingResponse } from "../../src/outgoing/outgoing.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { BROKEN, OK, subject } from "./scripted_remote.ts";

const WAIT: OutgoingResponse = { status: 429, headers: { "retry-after": "120" }, body: "" };

Deno.test("RemoteHttp pauses for as long as a system asks, and passes that time to callers", async () => {
  const { outcome, ask, time, calls, system } = subject();
  assert.equal(await outcome(WAIT, "a"), "unexpected status 429, with the request to wait 120 s");
  assert.equal(system.status().up, false);
  time.elapsed += 30_000;
  await assert.rejects(ask("b", "192.0.2.9", { known: true }), (error) => {
    assert.ok(error instanceof RemoteUnavailable);
    assert.equal(error.headers["Retry-After"], "90");
    return true;
  });
  time.elapsed += 89_999;
  assert.match(String(await outcome(OK, "c")), /left alone/);
  assert.equal(calls.length, 1);
  time.elapsed += 1;
  assert.equal(await outcome(OK, "c"), 200);
  assert.equal(
    await outcome({ ...WAIT, headers: { "retry-after": "1" } }, "d"),
    "unexpected status 429, with the request to wait 1 s",
  );
  time.elapsed += 1000;
  assert.equal(await outcome(OK, "d"), 200);
});

Deno.test("RemoteHttp passes on the Retry-After of a 503, without effect on other credentials", async () => {
  const { ask, calls, outcome } = subject();
  const asked = ask("bad");
  calls[0]?.resolve({ ...BROKEN, status: 503, headers: { "retry-after": "77" } });
  await assert.rejects(asked, (error) => {
    assert.ok(error instanceof RemoteUnavailable);
    assert.equal(error.headers["Retry-After"], "77");
    return true;
  });
  assert.equal(await outcome(OK, "good"), 200);
});

Deno.test("RemoteHttp returns an answer of another status with Retry-After", async () => {
  const { outcome, system } = subject();
  assert.equal(await outcome({ ...OK, headers: { "retry-after": "77" } }, "a"), 200);
  assert.equal(system.status().up, true);
});
