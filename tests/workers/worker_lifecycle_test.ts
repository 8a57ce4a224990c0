import assert from "node:assert/strict";
import { createLogger } from "../../src/logging/logger.ts";
import { RestartPolicy, WorkerLifecycle } from "../../src/workers/worker_lifecycle.ts";

interface Scene {
  readonly restartPolicy: RestartPolicy<object>;
  /** Milliseconds of each pause so far. */
  readonly pauses: number[];
  readonly lines: string[];
  /** Resolves at the next replacement. */
  replaced(): Promise<void>;
}

/** Returns a policy whose first `failing` starts fail. */
function scene(failing: number): Scene {
  const [pauses, lines]: [number[], string[]] = [[], []];
  let done = Promise.withResolvers<void>();
  const restartPolicy: RestartPolicy<object> = new RestartPolicy({
    what: "edge",
    start: () => {
      if (failing-- > 0) return Promise.reject(new Error("no"));
      restartPolicy.put({});
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
    restartPolicy,
    pauses,
    lines,
    replaced: async () => {
      await done.promise;
      done = Promise.withResolvers();
    },
  };
}

Deno.test("RestartPolicy starts another worker at once, then with growing pauses, until one survives", async () => {
  const { restartPolicy, pauses, lines, replaced } = scene(7);
  const first = {};
  restartPolicy.put(first);
  restartPolicy.lost(first, { reason: "defect" });
  assert.equal(restartPolicy.current, undefined);
  await replaced();
  assert.notEqual(restartPolicy.current, undefined);
  assert.deepEqual(pauses, [0, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  assert.equal(lines[0], "error edge died, starting another reason=defect");
  assert.equal(lines.at(-1), "warn  worker replaced what=edge");
});

Deno.test("RestartPolicy pauses before it replaces a worker that died early, independently of other kinds", async () => {
  const { restartPolicy, pauses, replaced } = scene(0);
  const other = scene(5);
  for (const one of [restartPolicy, other.restartPolicy]) {
    const first = {};
    one.put(first);
    one.lost(first, {});
  }
  await Promise.all([replaced(), other.replaced()]);
  assert(restartPolicy.current);
  restartPolicy.lost(restartPolicy.current, {});
  await replaced();
  assert.deepEqual(pauses, [0, 1000]);
});

Deno.test("RestartPolicy ignores the death of a replaced worker, and starts none once closed", () => {
  const { restartPolicy, pauses } = scene(0);
  const [first, second] = [{}, {}];
  assert.equal(restartPolicy.put(first), undefined);
  assert.equal(restartPolicy.put(second), first);
  restartPolicy.lost(first, {});
  assert.equal(restartPolicy.current, second);
  restartPolicy.close();
  restartPolicy.lost(second, {});
  assert.deepEqual(pauses, []);
});
