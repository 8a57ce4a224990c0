import assert from "node:assert/strict";
import { Imports, loadedBy } from "./imports.ts";

Deno.test("loadedBy() knows every way to load a file", () => {
  const text = [
    'import { a } from "./a.ts";',
    'import type { b } from "../b.ts";',
    'import "./c.ts";',
    'export { d } from "./d/d.ts";',
    'const e = await import("./e.ts");',
    'new Worker(new URL("./f.ts", import.meta.url));',
    'new URL("g.ts", import.meta.url).pathname;',
    'import h from "node:h"; import i from "./i.json";',
  ].join("\n");
  assert.deepEqual(
    loadedBy("src/x/y.ts", text).sort(),
    ["src/b.ts", "src/x/a.ts", "src/x/c.ts", "src/x/d/d.ts", "src/x/e.ts", "src/x/f.ts", "src/x/g.ts"],
  );
});

Deno.test("Imports.testsOf() finds tests by what they load, through workers and the program too, the nearest first", async () => {
  const imports = await Imports.of(new URL("../../", import.meta.url).pathname);
  const tests = imports.testsOf("src/model/rate.ts");
  assert.deepEqual(tests[0], ["tests/model/rate_test.ts", 1]);
  const distances = tests.map(([, distance]) => distance);
  assert.deepEqual(distances, distances.toSorted((a, b) => a - b));
  assert(tests.some(([path]) => path === "tests/system/session_test.ts"), "in this process");
  assert(
    tests.some(([path]) => path === "tests/system/process_test.ts"),
    "in workers of a process of its own",
  );
  assert(!tests.some(([path]) => path === "tests/model/address_test.ts"), "not those that never load it");
});
