import assert from "node:assert/strict";
import { readiness } from "../../src/resource/health.ts";
import { server, serversOf } from "./sample_call.ts";

function answer(servers: Readonly<Record<string, boolean>>, isDraining = false) {
  const facts = Object.entries(servers).map(([name, up]) => server(name, { up }));
  return readiness(
    { servers: serversOf(...facts), generation: 1, draining: () => isDraining, cluster: undefined },
    "r1",
  );
}

/** Returns the status of `GET /health/ready`, the facts in its answer, and the code of its error. */
function answered(servers: Readonly<Record<string, boolean>>, isDraining = false) {
  const { status, body } = answer(servers, isDraining);
  const { ready, servers: { total, usable }, code } = JSON.parse(String(body));
  return [status, ready, `${usable} of ${total}`, code];
}

Deno.test("readiness() is 200 if a session can be opened, or if no server is configured", () => {
  assert.deepEqual(answered({}), [200, true, "0 of 0", undefined]);
  assert.deepEqual(answered({ A: true, B: false }), [200, true, "1 of 2", undefined]);
  assert.deepEqual(answered({ A: false, B: false }), [503, false, "0 of 2", "ERR_NOT_READY"]);
  assert.deepEqual(answered({ A: true }, true), [503, false, "1 of 1", "ERR_DRAINING"]);
});

Deno.test("the manual's health check keeps instances without a daemon, and drops draining ones", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/network.md", import.meta.url));
  const [, text] = /^http-check expect rstring '(.+)'$/m.exec(page) ?? [];
  assert(text !== undefined);
  const keeps = (...about: Parameters<typeof answer>) => new RegExp(text).test(String(answer(...about).body));
  assert.deepEqual([keeps({ A: true }), keeps({ A: false }), keeps({ A: true }, true)], [true, true, false]);
  assert(!keeps({ A: false }, true));
});
