import assert from "node:assert/strict";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import type { OutgoingHttp, OutgoingResponse } from "../../src/outgoing/outgoing_http.ts";
import { RemoteSystem } from "../../src/outgoing/remote_system.ts";
import { RemoteUnavailable } from "../../src/outgoing/remote_unavailable.ts";

const never = new AbortController().signal;
const request = { method: "GET", url: "https://idp.example:8443/x" } as const;
const ok: OutgoingResponse = { status: 200, headers: {}, body: "" };

/** A system whose answers the test decides one by one. */
function subject({ log = SILENT, maxUnderWay = 64 } = {}) {
  const time = { now: 1_000_000 };
  const calls: ReturnType<typeof Promise.withResolvers<OutgoingResponse>>[] = [];
  const http: OutgoingHttp = {
    send() {
      const call = Promise.withResolvers<OutgoingResponse>();
      calls.push(call);
      return call.promise;
    },
  };
  const system = new RemoteSystem({ address: request.url, http, clock: () => time.now, log, maxUnderWay });
  const outcome = async (answer: OutgoingResponse | Error, signal = never): Promise<OutgoingResponse> => {
    const sent = system.send(request, signal);
    if (answer instanceof Error) calls.at(-1)?.reject(answer);
    else calls.at(-1)?.resolve(answer);
    return await sent;
  };
  return { time, calls, system, outcome };
}

const refused = () => new RemoteUnavailable("idp.example:8443", "no answer");

Deno.test("RemoteSystem is up until an outcome says otherwise", async () => {
  const { system, outcome, time } = subject();
  assert.deepEqual(system.status(), { remote: "idp.example:8443", up: true });
  await outcome(ok);
  assert.deepEqual(system.status(), { remote: "idp.example:8443", up: true, since: time.now });
});

for (const status of [200, 302, 400, 401, 403, 404, 429, 499]) {
  Deno.test(`RemoteSystem takes status ${status} for an answer`, async () => {
    const { system, outcome } = subject();
    assert.equal((await outcome({ ...ok, status })).status, status);
    assert.equal(system.status().up, true);
  });
}

for (const status of [500, 502, 503, 504, 599]) {
  Deno.test(`RemoteSystem is down after status ${status}, unless that is an answer`, async () => {
    const { system, outcome, calls } = subject();
    const sent = system.send(request, never, () => true);
    calls[0]?.resolve({ ...ok, status });
    assert.equal((await sent).status, status);
    assert.equal(system.status().up, true);
    await assert.rejects(outcome({ ...ok, status }), RemoteUnavailable);
    assert.equal(system.status().reason, `answered with status ${status}`);
  });
}

Deno.test("RemoteSystem leaves a system alone for 60 s, then lets one request find out", async () => {
  const lines: string[] = [];
  const { system, outcome, time, calls } = subject({ log: createLogger((line) => lines.push(line)) });
  await assert.rejects(outcome(refused()), RemoteUnavailable);
  time.now += 59_001;
  await assert.rejects(system.send(request, never), (error) => {
    assert.ok(error instanceof RemoteUnavailable);
    assert.equal(error.headers["Retry-After"], "1");
    return true;
  });
  assert.equal(calls.length, 1);
  time.now += 999;
  const trial = system.send(request, never);
  await assert.rejects(system.send(request, never), /left alone after: no answer/);
  assert.equal(calls.length, 2);
  calls[1]?.resolve(ok);
  await trial;
  assert.equal(system.status().up, true);
  assert.equal((await outcome(ok)).status, 200);
  assert.match(lines.join("\n"), /warn +remote system is down.*\n.*info +remote system is up again/);
});

Deno.test("RemoteSystem waits again after a failed trial", async () => {
  const { system, outcome, time, calls } = subject();
  await assert.rejects(outcome(refused()));
  time.now += 60_000;
  await assert.rejects(outcome(refused()));
  time.now += 30_000;
  await assert.rejects(system.send(request, never), /left alone/);
  assert.equal(calls.length, 2);
});

Deno.test("RemoteSystem learns nothing from a caller who gives up", async () => {
  const { system, outcome } = subject();
  await assert.rejects(outcome(refused(), AbortSignal.abort()), RemoteUnavailable);
  assert.equal(system.status().up, true);
});

Deno.test("RemoteSystem turns away what is too much, without calling it down", async () => {
  const { system, calls } = subject({ maxUnderWay: 2 });
  const sent = [system.send(request, never), system.send(request, never)];
  await assert.rejects(system.send(request, never), /too many requests/);
  assert.equal(system.status().up, true);
  calls.forEach((call) => call.resolve(ok));
  await Promise.all(sent);
});
