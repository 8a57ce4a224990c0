import assert from "node:assert/strict";
import { Imports } from "./imports.ts";
import { testsInOrder } from "./tests_of.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Returns imports in which the given tests load every file, from the nearest to the farthest. */
const loadedBy = (...tests: readonly string[]) => ({
  testsOf: () => tests.map((path, i) => [path, i + 1] as const),
});

Deno.test("testsInOrder() begins with the test of the same path, and keeps folders apart", () => {
  const { own, others } = testsInOrder(
    loadedBy("tests/b/near_test.ts", "tests/a/near_test.ts", "tests/a/x/y_test.ts", "tests/b/far_test.ts"),
    "src/a/x/y.ts",
  );
  assert.deepEqual(own, [["tests/a/x/y_test.ts"], ["tests/a/near_test.ts"]]);
  assert.deepEqual(others, [["tests/b/near_test.ts", "tests/b/far_test.ts"]]);
});

Deno.test("testsInOrder() takes tests in the whole program for a folder's own where those are its doors", async () => {
  const imports = await Imports.of(ROOT);
  const doors: readonly (readonly [file: string, elsewhere: number])[] = [
    ["command/run_command", 5],
    ["pages/page", 8],
    ["workers/worker_lifecycle", 7],
    ["service/http/router", 2],
  ];
  for (const [file, elsewhere] of doors) {
    const { own, others } = testsInOrder(imports, `src/${file}.ts`);
    const folder = `tests/${file.split("/")[0]}/`;
    assert.equal(own.flat().filter((path) => !path.startsWith(folder)).length, elsewhere, file);
    assert(others.flat().length > 0, file);
  }
  assert.deepEqual(testsInOrder(imports, "src/workers/worker_lifecycle.ts").own[0], [
    "tests/workers/worker_lifecycle_test.ts",
  ]);
});

Deno.test("testsInOrder() asks in parts that double, and no more than 28 tests of other folders", () => {
  const many = Array.from({ length: 100 }, (_, i) => `tests/b/${i}_test.ts`);
  const { own, others } = testsInOrder(loadedBy("tests/docs/a_test.ts", ...many), "src/a/y.ts");
  assert.deepEqual(own, []);
  assert.deepEqual(others.map(({ length }) => length), [4, 8, 16]);
  assert.deepEqual(others.flat(), many.slice(0, 28));
});
