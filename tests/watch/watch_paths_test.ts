import assert from "node:assert/strict";
import { watchPaths } from "../../src/watch/watch_paths.ts";

const FAST = { intervalMs: () => 5 };

Deno.test("watchPaths() calls back once after a change, and not before", async () => {
  const file = await Deno.makeTempFile();
  const calls: string[] = [];
  let called = Promise.withResolvers<void>();
  const watch = watchPaths(() => [file], () => {
    calls.push(Deno.readTextFileSync(file));
    called.resolve();
  }, FAST);
  // The timer does not keep the process alive by itself.
  const alive = setInterval(() => {}, 1000);
  try {
    await Deno.writeTextFile(file, "one");
    await called.promise;
    called = Promise.withResolvers();
    await Deno.writeTextFile(file, "other");
    await called.promise;
    assert.deepEqual(calls, ["one", "other"]);
  } finally {
    clearInterval(alive);
    watch.close();
    await Deno.remove(file);
  }
});

Deno.test("watchPaths() notices what changes while the callback runs", async () => {
  const file = await Deno.makeTempFile();
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  const watch = watchPaths(() => [file], async () => {
    seen.push(await Deno.readTextFile(file));
    if (seen.length === 1) await Deno.writeTextFile(file, "changed meanwhile");
    else done.resolve();
  }, FAST);
  const alive = setInterval(() => {}, 1000);
  try {
    await Deno.writeTextFile(file, "first");
    await done.promise;
    assert.deepEqual(seen, ["first", "changed meanwhile"]);
  } finally {
    clearInterval(alive);
    watch.close();
    await Deno.remove(file);
  }
});

Deno.test("watchPaths() takes another set of paths for granted after a callback that made it", async () => {
  const folder = await Deno.makeTempDir();
  const [one, two] = [`${folder}/one`, `${folder}/two`];
  await Deno.writeTextFile(one, "1");
  await Deno.writeTextFile(two, "2");
  let paths = [one];
  let calls = 0;
  const first = Promise.withResolvers<void>();
  const watch = watchPaths(() => paths, () => {
    calls++;
    paths = [one, two];
    first.resolve();
  }, FAST);
  const alive = setInterval(() => {}, 1000);
  try {
    await Deno.writeTextFile(one, "changed");
    await first.promise;
    await new Promise((resolve) => setTimeout(resolve, 40)); // several looks
    assert.equal(calls, 1);
  } finally {
    clearInterval(alive);
    watch.close();
    await Deno.remove(folder, { recursive: true });
  }
});

/** Runs until `done`, at most ten seconds; watching does not keep the process alive by itself. */
async function within10s(done: Promise<unknown>): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const deadline = setTimeout(() => reject(new Error("it did not come")), 10_000);
  await Promise.race([done, late]).finally(() => clearTimeout(deadline));
}

Deno.test("watchPaths() goes on when its callback throws, and says so", async () => {
  const file = await Deno.makeTempFile();
  const failures: unknown[] = [];
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const watch = watchPaths(() => [file], () => {
    if (failures.length === 1) return second.resolve();
    throw new Error("defect");
  }, {
    ...FAST,
    failed: (error) => {
      failures.push(error);
      first.resolve();
    },
  });
  try {
    await Deno.writeTextFile(file, "one");
    await within10s(first.promise);
    await Deno.writeTextFile(file, "another");
    await within10s(second.promise);
    assert.deepEqual(failures.map(String), ["Error: defect"]);
  } finally {
    watch.close();
    await Deno.remove(file);
  }
});

Deno.test("watchPaths() does not call back while it is still being called back", async () => {
  const file = await Deno.makeTempFile();
  const [began, mayEnd, again] = [0, 0, 0].map(() => Promise.withResolvers<void>());
  assert(began && mayEnd && again);
  let [running, calls] = [0, 0];
  const watch = watchPaths(() => [file], async () => {
    assert.equal(++running, 1);
    calls++;
    began.resolve();
    await mayEnd.promise;
    running--;
    if (calls === 2) again.resolve();
  }, { ...FAST, failed: again.reject });
  try {
    await Deno.writeTextFile(file, "one");
    await within10s(began.promise);
    await Deno.writeTextFile(file, "changed meanwhile");
    await new Promise((resolve) => setTimeout(resolve, 40)); // several looks, if there were any
    assert.equal(calls, 1);
    mayEnd.resolve();
    await within10s(again.promise);
  } finally {
    watch.close();
    await Deno.remove(file);
  }
});

Deno.test("watchPaths() with a long interval does not wait for another one to see that a change is over", async () => {
  const file = await Deno.makeTempFile();
  const called = Promise.withResolvers<void>();
  let looks = 0;
  const watch = watchPaths(() => [file], called.resolve, { intervalMs: () => looks++ === 0 ? 5 : 3600_000 });
  try {
    await Deno.writeTextFile(file, "one");
    await within10s(called.promise);
  } finally {
    watch.close();
    await Deno.remove(file);
  }
});
