import assert from "node:assert/strict";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { RemoteHttp } from "../../src/outgoing/remote_http.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";
import { BROKEN, OK, REQUEST, subject } from "./scripted_remote.ts";

const NEVER = new AbortController().signal;
const refused = () => new RemoteUnavailable("idp.example:8443", "no answer", { connected: false });
const cut = () => new RemoteUnavailable("idp.example:8443", "cut", { connected: true });

Deno.test("RemoteSystem is up until a request fails", async () => {
  const { system, outcome, time } = subject();
  assertAlike(system.status(), { remote: "idp.example:8443", up: true });
  await outcome(OK, "a");
  assertAlike(system.status(), { remote: "idp.example:8443", up: true, since: time.now });
});

Deno.test("RemoteSystem is down at once if no connection is possible, and logs it once", async () => {
  const lines: string[] = [];
  const { system, outcome } = subject({ log: createLogger((line) => lines.push(line)) });
  assert.equal(await outcome(refused(), "a"), "no answer");
  assert.deepEqual([system.status().up, system.status().reason], [false, "no answer"]);
  assert.equal(await outcome(OK, "b", "192.0.2.2"), "left alone after: no answer");
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /warn +remote system is down/);
});

Deno.test("RemoteSystem admits a trial after 1, 2, 4 … 30 seconds, and starts again after a success", async () => {
  const { outcome, time, calls, system } = subject();
  await outcome(refused(), "a");
  for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
    const before = calls.length;
    time.elapsed += seconds * 1000 - 1;
    assert.equal(await outcome(OK, "a"), "left alone after: no answer");
    assert.equal(calls.length, before);
    time.elapsed += 1;
    assert.equal(await outcome(refused(), "a"), "no answer");
  }
  time.elapsed += 30_000;
  assert.equal(await outcome(OK, "a"), 200);
  assert.equal(system.status().up, true);
  await outcome(refused(), "a");
  time.elapsed += 1000;
  assert.equal(await outcome(OK, "a"), 200);
});

Deno.test("RemoteSystem reports its pause, and then tries one request at a time", async () => {
  const { ask, outcome, time, calls } = subject();
  await outcome(refused(), "a");
  await assert.rejects(ask("a"), (error) => {
    assert.ok(error instanceof RemoteUnavailable);
    assert.equal(error.headers["Retry-After"], "1");
    return true;
  });
  time.elapsed += 1000;
  const trial = ask("a");
  assert.equal(await outcome(OK, "b", "192.0.2.2"), "left alone after: no answer");
  calls.at(-1)?.resolve(OK);
  assert.equal(await trial, 200);
});

Deno.test("RemoteSystem does not use the wall clock for its pauses", async () => {
  const { outcome, time } = subject();
  await outcome(refused(), "a");
  time.now += 3_600_000;
  assert.equal(await outcome(OK, "a"), "left alone after: no answer");
  time.now -= 7_200_000;
  time.elapsed += 1000;
  assert.equal(await outcome(OK, "a"), 200);
});

for (const failure of [BROKEN, cut()]) {
  const what = failure instanceof Error ? "a cut connection" : "status 500";
  Deno.test(`RemoteSystem attributes ${what} to the credential that caused it, however often`, async () => {
    const { outcome, system } = subject();
    for (let i = 0; i < 20; i++) {
      await outcome(failure, "bad", `192.0.2.${i}`);
      await outcome(failure, "other", `192.0.2.${i}`);
    }
    assert.equal(system.status().up, true);
    for (let i = 0; i < 20; i++) await outcome(failure, `bad ${i}`, "192.0.2.1");
    assert.equal(system.status().up, false, "the failures of others from elsewhere count, too");
  });
}

Deno.test("RemoteSystem stays up for any number of failing credentials from one address", async () => {
  const { outcome, system } = subject();
  for (let i = 0; i < 200; i++) await outcome(BROKEN, `bad ${i}`, "192.0.2.1");
  assert.equal(system.status().up, true);
  assert.equal(await outcome(OK, "good", "192.0.2.1"), 200);
});

Deno.test("RemoteSystem is down after failures of three credentials from two addresses without a success in between", async () => {
  const { outcome, system } = subject();
  const fail = async (...names: string[]) => {
    for (const name of names) await outcome(BROKEN, name, `192.0.2.${name === "c" ? 2 : 1}`);
  };
  await fail("a", "b");
  await outcome(OK, "good");
  await fail("c", "a");
  assert.equal(system.status().up, true);
  await fail("b");
  assert.deepEqual(system.status().reason, "unexpected status 500");
});

Deno.test("RemoteSystem, when down for some callers, still admits an address that has not failed", async () => {
  const { outcome, system, time } = subject();
  for (const [name, address] of [["a", "1"], ["b", "1"], ["c", "2"]] as const) {
    await outcome(BROKEN, name, address);
  }
  assert.equal(await outcome(OK, "d", "1"), "left alone after: unexpected status 500");
  assert.equal(await outcome(BROKEN, "e", "3"), "unexpected status 500");
  assert.equal(await outcome(OK, "f", "3"), "left alone after: unexpected status 500");
  time.elapsed += 999;
  assert.equal(
    await outcome(OK, "d", "1"),
    "left alone after: unexpected status 500",
    "no shorter, no longer",
  );
  assert.equal(await outcome(OK, "g", "4"), 200);
  assert.equal(system.status().up, true);
  assert.equal(await outcome(OK, "d", "1"), 200);
});

Deno.test("RemoteSystem tries one request at a time, whatever the outcome of others meanwhile", async () => {
  const { outcome, ask, calls, time } = subject();
  for (const [name, address] of [["a", "1"], ["b", "1"], ["c", "2"]] as const) {
    await outcome(BROKEN, name, address);
  }
  time.elapsed += 1000;
  const trial = ask("d", "1");
  const before = calls.length;
  assert.equal(await outcome(BROKEN, "e", "3"), "unexpected status 500", "an address that has not failed");
  assert.equal(await outcome(OK, "f", "1"), "left alone after: unexpected status 500");
  assert.equal(calls.length, before + 1);
  calls[before - 1]?.resolve(OK);
  assert.equal(await trial, 200);
  assert.equal(await outcome(OK, "f", "1"), 200);
});

Deno.test("RemoteSystem logs only the success that brings it up again", async () => {
  const lines: string[] = [];
  const { outcome, time } = subject({ log: createLogger((line) => lines.push(line)) });
  for (let i = 0; i < 3; i++) await outcome(OK, "a");
  assert.deepEqual(lines, []);
  await outcome(refused(), "a");
  time.elapsed += 1000;
  for (let i = 0; i < 3; i++) await outcome(OK, "a");
  assert.deepEqual(lines.map((line) => /remote system is \w+(?: again)?/.exec(line)?.[0]), [
    "remote system is down",
    "remote system is up again",
  ]);
});

Deno.test("RemoteSystem bounds the number of addresses that try a system which fails all of them", async () => {
  const { outcome, calls } = subject();
  for (let i = 0; i < 1000; i++) await outcome(BROKEN, `token ${i}`, `address ${i}`);
  assert.equal(calls.length, 64);
});

Deno.test("RemoteSystem ignores the outcome of a cancelled request", async () => {
  const { system, ask, calls } = subject();
  const caller = new AbortController();
  const asked = ask("a", "192.0.2.1", { signal: caller.signal });
  caller.abort();
  calls[0]?.reject(refused());
  await assert.rejects(asked);
  assert.equal(system.status().up, true);
});

Deno.test("RemoteSystem queues requests by key, and refuses too many of one key", async () => {
  const { system, ask, calls } = subject({ connectionsPerHost: 4 });
  const flood = Array.from({ length: 259 }, (_, i) => ask(`${i}`, "192.0.2.1"));
  assert.equal(calls.length, 2, "one address has half of the connections at most");
  const [late, turned] = [ask("late", "192.0.2.1"), flood[258]];
  assert.ok(turned);
  for (const one of [late, turned]) await assert.rejects(one, /too many are waiting/);
  const other = ask("other", "192.0.2.2");
  assert.equal(calls.length, 3);
  assert.equal(system.status().up, true);
  for (const asked of [...flood.slice(0, 258), other]) {
    calls.forEach((call) => call.resolve(OK));
    assert.equal(await asked, 200);
  }
});

Deno.test("RemoteSystem serves 200 first logins at once, from one address, within 5 s if it answers in 70 ms", async () => {
  const time = new VirtualTime();
  const settle = async () => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  const system = new RemoteHttp({
    address: REQUEST.url,
    http: {
      connectionsPerHost: 6,
      send: () => new Promise((resolve) => void time.schedule(70, () => resolve(OK))),
    },
    clock: time.clock,
    elapsed: time.clock,
    log: SILENT,
  });
  const caller = { address: "192.0.2.1", queueKey: "192.0.2.1", known: false, signal: NEVER };
  let answers = 0;
  const asked = Array.from(
    { length: 200 },
    (_, i) => system.ask(REQUEST, { ...caller, credential: `${i}` }, () => answers++),
  );
  const settled = Promise.allSettled(asked);
  await settle();
  for (let passed = 0; passed < 5_000; passed += 70) {
    await time.advance(70, settle);
    await settle();
  }
  assert.equal(answers, 200);
  assert.deepEqual((await settled).filter(({ status }) => status === "rejected"), []);
});

Deno.test("RemoteSystem reserves connections for known users, however long it checks tokens of others", async () => {
  const { ask, calls } = subject();
  const slow = Array.from({ length: 20 }, (_, i) => ask(`slow ${i}`, `192.0.2.${i}`));
  assert.equal(calls.length, 4);
  const known = ["198.51.100.1", "198.51.100.2"].map((address) => ask(address, address, { known: true }));
  assert.equal(calls.length, 6);
  calls.slice(4).forEach((call) => call.resolve(OK));
  assert.deepEqual(await Promise.all(known), [200, 200]);
  for (const asked of slow) {
    calls.forEach((call) => call.resolve(OK));
    assert.equal(await asked, 200);
  }
});
