import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import { Sink, Sinks } from "../../src/logging/sink.ts";

Deno.test("Sink logs one error when writes begin to fail, and one line when they succeed again", () => {
  const log: string[] = [];
  const changes: boolean[] = [];
  const sink: Sink = new Sink("audit", createLogger((line) => log.push(line.slice(25))), () => {
    changes.push(sink.failing);
  });
  sink.written();
  sink.failed(new Error("full"), "/logs/audit.log");
  sink.lose(2);
  sink.failed(new Error("still full"), "/logs/audit.log");
  assert.equal(sink.state.failure?.reason, "/logs/audit.log: Error: full");
  assert.equal(sink.state.lost, 2);
  sink.written();
  sink.written();
  assert.deepEqual(sink.state, { name: "audit", lost: 2 });
  sink.failed("again");
  sink.lose(1);
  sink.written();
  assert.deepEqual(log, [
    'error audit lines not written to=/logs/audit.log error="Error: full"',
    "warn  audit lines written again lost=2",
    "error audit lines not written error=again",
    "warn  audit lines written again lost=1",
  ]);
  assert.deepEqual(changes, [true, false, true, false]);
  assert.equal(sink.state.lost, 3);
});

Deno.test("Sink reports the failure of the place to which a reload moved it, and keeps the first time", () => {
  const log: string[] = [];
  const sink = new Sink("audit", createLogger((line) => log.push(line.slice(25))));
  sink.failed(new Error("full"), "/logs/audit.log");
  const since = sink.state.failure?.since;
  sink.failed(new Error("read-only"), "/srv/audit.log", 1);
  assert.deepEqual(sink.state.failure, { reason: "/srv/audit.log: Error: read-only", since });
  sink.written();
  assert.deepEqual(log, [
    'error audit lines not written to=/logs/audit.log error="Error: full"',
    'error audit lines not written to=/srv/audit.log error="Error: read-only"',
    "warn  audit lines written again lost=1",
  ]);
});

Deno.test("Sink reports each place once while several fail in turn", () => {
  const log: string[] = [];
  const sink = new Sink("webhook", createLogger((line) => log.push(line.slice(25))));
  for (let i = 0; i < 3; i++) for (const to of ["a.example", "b.example"]) sink.failed(new Error("away"), to);
  assert.deepEqual(log.map((line) => line.split(" to=")[1]), [
    'a.example error="Error: away"',
    'b.example error="Error: away"',
  ]);
});

Deno.test("Sink.attempt() counts a record that cannot be written, and does not throw", async () => {
  const sink = new Sink("share-uses", SILENT);
  await sink.attempt(() => Promise.reject(new Error("away")));
  await sink.attempt(() => Promise.reject(new Error("away")));
  assert.deepEqual([sink.failing, sink.state.lost], [true, 2]);
  await sink.attempt(() => Promise.resolve());
  assert.deepEqual(sink.state, { name: "share-uses", lost: 2 });
});

Deno.test("Sink.retriedBy() ends a failure without another record, and tries one write at a time", async () => {
  const sinks = new Sinks(SILENT);
  let [tries, away] = [0, true];
  const sink = sinks.of("share-uses").retriedBy(async () => {
    tries++;
    await setImmediate();
    if (away) throw new Error("still away");
  });
  await sink.attempt(() => Promise.reject(new Error("away")));
  for (const isAway of [true, false]) {
    away = isAway;
    for (let i = 0; i < 3; i++) assert.match(sinks.states[0]?.failure?.reason ?? "", /away/);
    await setImmediate();
    await setImmediate();
  }
  assert.deepEqual(sinks.states, [{ name: "share-uses", lost: 1 }]);
  assert.equal(tries, 2);
});

Deno.test("Sinks.states retries failing sinks that support it", () => {
  const sinks = new Sinks(SILENT);
  const records = sinks.of("records");
  assert.equal(sinks.of("records"), records);
  let tried = 0;
  records.retry = () => ++tried > 1 && records.written();
  assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }]);
  records.failed("full");
  assert.notEqual(sinks.states[0]?.failure, undefined);
  assert.deepEqual(sinks.states, [{ name: "records", lost: 0 }]);
  assert.equal(tried, 2, "what works is not tried");
});
