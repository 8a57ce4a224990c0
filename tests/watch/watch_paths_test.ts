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
