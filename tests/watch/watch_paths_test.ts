import assert from "node:assert/strict";
import { watchPaths } from "../../src/watch/watch_paths.ts";
import { inTime } from "../fixtures/deadline.ts";

/** Timers that the test runs. */
class Timers {
  /** Requested pauses, in milliseconds. */
  readonly pauses: number[] = [];
  #task: (() => void) | undefined;
  #asked = Promise.withResolvers<void>();

  schedule = (ms: number, task: () => void) => {
    this.pauses.push(ms);
    this.#task = task;
    this.#asked.resolve();
    return () => this.#task = undefined;
  };

  get isOver(): boolean {
    return this.#task === undefined;
  }

  /** Ends the pause. @returns Resolves when the check is over and the next pause begins. */
  turn(): Promise<void> {
    const task = this.#task;
    assert(task !== undefined, "nobody waits");
    this.#asked = Promise.withResolvers();
    task();
    return this.#asked.promise;
  }
}

/** Registers a test with a file and timers that trigger checks of it. */
function test(
  name: string,
  check: (file: string, timers: Timers, write: (text: string) => Promise<void>) => Promise<void>,
): void {
  Deno.test(`watchPaths() ${name}`, async () => {
    const file = await Deno.makeTempFile();
    try {
      await check(file, new Timers(), (text) => Deno.writeTextFile(file, text));
    } finally {
      await Deno.remove(file);
    }
  });
}

test(
  "calls back once after a change, only when nothing changes any more",
  async (file, timers, write) => {
    const calls: string[] = [];
    const watch = watchPaths(
      () => [file],
      () => void calls.push(Deno.readTextFileSync(file)),
      { schedule: timers.schedule },
    );
    for (const text of ["one", "other"]) {
      calls.length = 0;
      for (let part = 1; part <= 3; part++) {
        await write(text.repeat(part));
        await timers.turn();
        assert.deepEqual(calls, [], "it still changes");
      }
      for (let i = 0; i < 3; i++) await timers.turn();
      assert.deepEqual(calls, [text.repeat(3)]);
    }
    watch.close();
  },
);

test("notices new and removed paths", async (file, timers) => {
  let calls = 0;
  const other = `${file}.other`;
  const watch = watchPaths(() => [file, other], () => void calls++, { schedule: timers.schedule });
  await Deno.writeTextFile(other, "");
  for (let i = 0; i < 3; i++) await timers.turn();
  assert.equal(calls, 1);
  await Deno.remove(other);
  for (let i = 0; i < 3; i++) await timers.turn();
  assert.equal(calls, 2);
  watch.close();
});

test("notices changes while the callback runs", async (file, timers, write) => {
  const seen: string[] = [];
  const watch = watchPaths(() => [file], async () => {
    seen.push(await Deno.readTextFile(file));
    if (seen.length === 1) await write("changed meanwhile");
  }, { schedule: timers.schedule });
  await write("first");
  for (let i = 0; i < 5; i++) await timers.turn();
  assert.deepEqual(seen, ["first", "changed meanwhile"]);
  watch.close();
});

test("accepts another set of paths after a callback that changed it", async (file, timers, write) => {
  let paths = [file];
  let calls = 0;
  const watch = watchPaths(() => paths, () => {
    calls++;
    paths = [file, import.meta.filename ?? ""];
  }, { schedule: timers.schedule });
  await write("changed");
  for (let i = 0; i < 5; i++) await timers.turn();
  assert.equal(calls, 1);
  watch.close();
});

test("continues when its callback throws, and reports it", async (file, timers, write) => {
  const failures: unknown[] = [];
  let calls = 0;
  const watch = watchPaths(() => [file], () => {
    if (++calls === 1) throw new Error("defect");
  }, { failed: (error) => void failures.push(error), schedule: timers.schedule });
  for (const text of ["one", "another"]) {
    await write(text);
    for (let i = 0; i < 3; i++) await timers.turn();
  }
  assert.deepEqual([failures.map(String), calls], [["Error: defect"], 2]);
  watch.close();
});

test(
  "repeats only a failed callback, after five minutes",
  async (file, timers, write) => {
    const results = [false, "defect", true];
    let calls = 0;
    const watch = watchPaths(() => [file], () => {
      const result = results[calls++];
      if (typeof result === "string") throw new Error(result);
      return result;
    }, { intervalMs: () => 60_000, schedule: timers.schedule });
    await write("changed");
    const callsAfter: number[] = [];
    for (let i = 0; i < 18; i++) {
      await timers.turn();
      callsAfter.push(calls);
    }
    assert.deepEqual(callsAfter, [0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3]);
    watch.close();
  },
);

test("waits for the end of its callback before the next check", async (file, timers, write) => {
  const mayEnd = Promise.withResolvers<void>();
  const watch = watchPaths(() => [file], () => mayEnd.promise, { schedule: timers.schedule });
  await write("one");
  await timers.turn();
  const { length } = timers.pauses;
  const looked = timers.turn();
  assert.equal(timers.pauses.length, length);
  mayEnd.resolve();
  await looked;
  assert.equal(timers.pauses.length, length + 1);
  watch.close();
});

const PAUSES: readonly (readonly [intervalMs: number | undefined, untilRest: number])[] = [
  [undefined, 500],
  [250, 250],
  [60_000, 500],
];
for (const [intervalMs, untilRest] of PAUSES) {
  test(
    `checks every ${intervalMs ?? 1500} ms, and ${untilRest} ms after a change`,
    async (file, timers, write) => {
      const watch = watchPaths(() => [file], () => {}, {
        schedule: timers.schedule,
        ...(intervalMs !== undefined && { intervalMs: () => intervalMs }),
      });
      const everyMs = intervalMs ?? 1500;
      await timers.turn();
      await write("one");
      await timers.turn();
      await timers.turn();
      assert.deepEqual(timers.pauses, [everyMs, everyMs, untilRest, everyMs]);
      watch.close();
    },
  );
}

test("stops checking once it is closed, even by a callback", async (file, timers, write) => {
  const closed = watchPaths(() => [file], () => {}, { schedule: timers.schedule });
  closed.close();
  assert.ok(timers.isOver);

  const ended = Promise.withResolvers<void>();
  const watch = watchPaths(() => [file], () => {
    watch.close();
    ended.resolve();
  }, { schedule: timers.schedule });
  await write("one");
  await timers.turn();
  const { length } = timers.pauses;
  void timers.turn();
  await ended.promise;
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal(timers.pauses.length, length);
});

test("uses platform timers that keep no process alive", async (file, _timers, write) => {
  const called = Promise.withResolvers<void>();
  const watch = watchPaths(() => [file], called.resolve, { intervalMs: () => 5 });
  await write("one");
  await inTime(called.promise, "the change");
  watch.close();
  const code = `import { watchPaths } from ${
    JSON.stringify(new URL("../../src/watch/watch_paths.ts", import.meta.url))
  };
    watchPaths(() => [], () => {});`;
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-config", code],
    signal: AbortSignal.timeout(60_000),
  }).output();
  assert.ok(success);
});
