import assert from "node:assert/strict";
import { outdatedPages } from "../../bin/docs/generate.ts";
import { readErrorClasses } from "../../bin/docs/read_error_classes.ts";

Deno.test("the generated pages of the manual are up to date (deno task docs)", async () => {
  assert.deepEqual(await outdatedPages(), []);
});

Deno.test("a code always has the same status", async () => {
  const classes = await readErrorClasses(new URL("../../src", import.meta.url).pathname);
  const statuses = new Map<string, Set<number>>();
  for (const { code, status } of classes) {
    statuses.set(code, (statuses.get(code) ?? new Set()).add(status));
  }
  assert.ok(statuses.size > 40);
  for (const [code, all] of statuses) assert.equal(all.size, 1, code);
});

Deno.test("readErrorClasses() refuses a code without status, and one whose class it cannot read", async () => {
  const folder = await Deno.makeTempDir();
  try {
    for (
      const text of [
        '/** A. */\nexport class A extends ServiceError {\n  readonly code = "ERR_A";\n}\n',
        'class A extends ServiceError {\n  readonly code = "ERR_A";\n  readonly status = 400;\n}\n',
      ]
    ) {
      await Deno.writeTextFile(`${folder}/a.ts`, text);
      await assert.rejects(readErrorClasses(folder), /a\.ts/);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
