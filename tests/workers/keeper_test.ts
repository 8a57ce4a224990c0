import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { Keeper } from "../../src/workers/keeper.ts";
import { WorkerLifecycle } from "../../src/workers/worker_lifecycle.ts";

interface Scene {
  readonly keeper: Keeper<object>;
  /** Milliseconds of each pause so far. */
  readonly pauses: number[];
  readonly lines: string[];
  /** Resolves at the next replacement. */
  replaced(): Promise<void>;
}

/** A place; `start` says how many attempts fail. */
function scene(failing: number): Scene {
  const [pauses, lines]: [number[], string[]] = [[], []];
  let done = Promise.withResolvers<void>();
  const keeper: Keeper<object> = new Keeper({
    what: "edge",
    start: () => {
      if (failing-- > 0) return Promise.reject(new Error("no"));
      keeper.put({});
      return Promise.resolve();
    },
    changes: new WorkerLifecycle(),
    reports: {
      log: createLogger((line) => lines.push(line.slice(25))),
      counters: { count: () => done.resolve() },
    },
    pause: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
  });
  return {
    keeper,
    pauses,
    lines,
    replaced: async () => {
      await done.promise;
      done = Promise.withResolvers();
    },
  };
}

Deno.test("Keeper starts another at once, then with growing pauses, until one lives", async () => {
  const { keeper, pauses, lines, replaced } = scene(7);
  const first = {};
  keeper.put(first);
  keeper.lost(first, { reason: "defect" });
  assert.equal(keeper.current, undefined);
  await replaced();
  assert.notEqual(keeper.current, undefined);
  assert.deepEqual(pauses, [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.equal(lines[0], "error edge died, starting another reason=defect");
  assert.equal(lines.at(-1), "warn  worker replaced what=edge");
});

Deno.test("Keeper pauses before it replaces one that soon died, whatever happens to other kinds of workers", async () => {
  const { keeper, pauses, replaced } = scene(0);
  const other = scene(5);
  for (const one of [keeper, other.keeper]) {
    const first = {};
    one.put(first);
    one.lost(first, {});
  }
  await Promise.all([replaced(), other.replaced()]);
  assert(keeper.current);
  keeper.lost(keeper.current, {});
  await replaced();
  assert.deepEqual(pauses, [0, 1000]);
});

Deno.test("Keeper takes no notice of the death of one that was replaced, and starts nobody once closed", () => {
  const { keeper, pauses } = scene(0);
  const [first, second] = [{}, {}];
  assert.equal(keeper.put(first), undefined);
  assert.equal(keeper.put(second), first);
  keeper.lost(first, {});
  assert.equal(keeper.current, second);
  keeper.close();
  keeper.lost(second, {});
  assert.deepEqual(pauses, []);
});
