import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { httpError } from "../../src/model/http_error.ts";
import { DatabaseFailure, DatabaseUnavailable } from "../../src/store/database.ts";
import { Poller } from "../../src/store/poller.ts";

/** Returns a `Poller` whose timer the test triggers. */
function followed(poll: () => Promise<void>) {
  let change = () => {};
  const lines: string[] = [];
  const planned: number[] = [];
  let turn: (() => void) | undefined;
  const poller = new Poller({
    poll,
    intervalMs: 700,
    failureMessage: "stars are not followed",
    log: createLogger((line) => lines.push(line)),
    schedule: (ms, task) => {
      planned.push(ms);
      turn = task;
      return () => turn = undefined;
    },
    onChange: (listener) => change = listener,
  });
  return {
    poller,
    lines,
    planned,
    async turn() {
      turn?.();
      for (let i = 0; i < 10; i++) await Promise.resolve();
    },
    isPlanned: () => turn !== undefined,
    change: () => change(),
  };
}

Deno.test("Poller calls look() at once, and again after an interval, until it is closed", async () => {
  let looks = 0;
  const made = followed(() => Promise.resolve(void looks++));
  await made.poller.start();
  assert.equal(looks, 1);
  await made.turn();
  await made.turn();
  assert.deepEqual([looks, made.planned], [3, [700, 700, 700]]);
  made.poller.close();
  assert.ok(!made.isPlanned());
});

Deno.test("Poller calls look() soon after changes, once for several in quick succession", async () => {
  let looks = 0;
  let made: ReturnType<typeof followed> | undefined;
  const { poller, planned, turn, change, isPlanned } = made = followed(() => {
    if (++looks === 2) made?.change(); // during a call of look()
    return Promise.resolve();
  });
  change();
  assert.equal(isPlanned(), false, "it has not begun");
  await poller.start();
  for (let i = 0; i < 3; i++) change();
  assert.deepEqual(planned.splice(0), [700, 250]);
  await turn();
  assert.deepEqual(planned.splice(0), [250], "what changed during the look may not have been seen");
  await turn();
  assert.deepEqual(planned.splice(0), [700]);
  assert.equal(looks, 3);
  poller.close();
  change();
  assert.deepEqual([planned, isPlanned()], [[], false]);
});

Deno.test("Poller plans no further call when it is closed during look()", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const made = followed(() => promise);
  const begun = made.poller.start();
  made.poller.close();
  resolve();
  await begun;
  assert.deepEqual([made.planned, made.isPlanned()], [[], false]);
});

Deno.test("Poller continues after each failure, and logs each reason once, except a database that is down", async () => {
  const failures = [
    new DatabaseUnavailable("away"),
    httpError("ERR_RECORD_STORE", "away", new DatabaseUnavailable("away")),
    new TypeError("no stars"),
    new TypeError("no stars"),
    new DatabaseFailure("invalid input syntax for type bigint"),
  ];
  const made = followed(() => Promise.reject(failures.shift()));
  await made.poller.start();
  await made.turn();
  assert.deepEqual([made.lines, made.isPlanned()], [[], true]);
  await made.turn();
  assert.equal(made.lines.length, 1);
  assert.match(made.lines[0] ?? "", /error stars are not followed.*no stars/);
  await made.turn();
  assert.equal(made.lines.length, 1, "the log says so already");
  await made.turn();
  assert.match(made.lines[1] ?? "", /error stars are not followed.*invalid input syntax/);
  assert.ok(made.isPlanned());
});

Deno.test("Poller.end() waits for the running call of look()", async () => {
  const look = Promise.withResolvers<void>();
  const made = followed(() => look.promise);
  void made.poller.start();
  let ended = false;
  const end = made.poller.end().then(() => ended = true);
  await Promise.resolve();
  assert.equal(ended, false);
  look.resolve();
  await end;
  assert.equal(made.isPlanned(), false);
});
