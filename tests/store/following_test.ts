import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { httpError } from "../../src/model/http_error.ts";
import { DatabaseFailure } from "../../src/store/database.ts";
import { Following } from "../../src/store/following.ts";

/** Something that is looked at whenever the test says so. */
function followed(look: () => Promise<void>) {
  const lines: string[] = [];
  const planned: number[] = [];
  let turn: (() => void) | undefined;
  const following = new Following({
    look,
    everyMs: 700,
    trouble: "stars are not followed",
    log: createLogger((line) => lines.push(line)),
    schedule: (ms, task) => {
      planned.push(ms);
      turn = task;
      return () => turn = undefined;
    },
  });
  return {
    following,
    lines,
    planned,
    async turn() {
      turn?.();
      for (let i = 0; i < 10; i++) await Promise.resolve();
    },
    isPlanned: () => turn !== undefined,
  };
}

Deno.test("Following looks at once, and again so long after each look, until it is closed", async () => {
  let looks = 0;
  const made = followed(() => Promise.resolve(void looks++));
  await made.following.begin();
  assert.equal(looks, 1);
  await made.turn();
  await made.turn();
  assert.deepEqual([looks, made.planned], [3, [700, 700, 700]]);
  made.following.close();
  assert.ok(!made.isPlanned());
});

Deno.test("Following plans no look when it is closed during one", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const made = followed(() => promise);
  const begun = made.following.begin();
  made.following.close();
  resolve();
  await begun;
  assert.deepEqual([made.planned, made.isPlanned()], [[], false]);
});

Deno.test("Following goes on after each failure, and says of one only if the database is there", async () => {
  const failures = [
    new DatabaseFailure("away"),
    httpError("ERR_RECORD_STORE", "away"),
    new TypeError("no stars"),
  ];
  const made = followed(() => Promise.reject(failures.shift()));
  await made.following.begin();
  await made.turn();
  assert.deepEqual([made.lines, made.isPlanned()], [[], true]);
  await made.turn();
  assert.equal(made.lines.length, 1);
  assert.match(made.lines[0] ?? "", /error stars are not followed.*no stars/);
  assert.ok(made.isPlanned());
});
