import assert from "node:assert/strict";
import { Turnstile } from "../../../src/sharing/session_client/turnstile.ts";

const NEVER = new AbortController().signal;

Deno.test("Turnstile lets one pass at a time, in order, also behind a failure", async () => {
  const turnstile = new Turnstile();
  const order: number[] = [];
  let inside = 0;
  const results = await Promise.allSettled([0, 1, 2, 3].map((i) =>
    turnstile.pass(async () => {
      assert.equal(++inside, 1);
      await Promise.resolve();
      order.push(i);
      inside--;
      if (i === 1) throw new Error("no");
    }, NEVER)
  ));
  assert.deepEqual(order, [0, 1, 2, 3]);
  assert.deepEqual(results.map(({ status }) => status === "fulfilled"), [true, false, true, true]);
});

Deno.test("Turnstile lets those who gave up go, and keeps the order of the rest", async () => {
  const turnstile = new Turnstile();
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = turnstile.pass(() => promise, NEVER);
  const controller = new AbortController();
  const gone = turnstile.pass(() => Promise.reject(new Error("not reached")), controller.signal);
  let passed = false;
  const third = turnstile.pass(() => Promise.resolve(passed = true), NEVER);
  controller.abort(new Error("gone"));
  await assert.rejects(gone, /gone/);
  await Promise.resolve();
  assert.equal(passed, false);
  resolve();
  await first;
  assert.equal(await third, true);
});
