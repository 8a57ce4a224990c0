import assert from "node:assert/strict";
import { readProject } from "../../bin/build/project.ts";

Deno.test("readProject() returns the flags of the task start, plus flags against code from elsewhere", async () => {
  const { runtimeFlags } = await readProject();
  assert.deepEqual(runtimeFlags, [
    "--unstable-worker-options",
    "--unstable-net",
    "--unstable-lazy-dynamic-imports",
    "--v8-flags=--max-semi-space-size=8,--heap-growing-percent=20,--expose-gc",
    "--allow-read",
    "--allow-write",
    "--allow-net",
    "--allow-env",
    "--allow-sys=hostname,uid",
    "--deny-import",
    "--no-prompt",
    "--no-remote",
    "--no-npm",
  ]);
});
