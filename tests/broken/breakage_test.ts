import assert from "node:assert/strict";
import { AnchorGone, failingNowAndThen, instead, isNoticed } from "./breakage.ts";
import { BREAKAGES } from "./breakages.ts";
import { brokenPage } from "./broken_page.ts";
import { rowsOf } from "./promises.ts";

Deno.test("each breakage finds its place in the code, and its tests are there", async () => {
  const root = new URL("../../", import.meta.url);
  for (const { file, broken, change, tests } of BREAKAGES) {
    const text = await Deno.readTextFile(new URL(file, root));
    assert.notEqual(change(text), text, broken);
    for (const test of tests) await Deno.stat(new URL(test, root)); // what is not there fails, too, and notices nothing
  }
});

Deno.test("instead() finds its place whatever the blanks, once and only once", () => {
  assert.equal(instead("if (a) b();", "")("x;\nif (a)\n  b();\ny;"), "x;\n\ny;");
  assert.throws(() => instead("c()", "")("a(); b();"), AnchorGone);
  assert.throws(() => instead("a()", "")("a(); a();"), AnchorGone);
});

Deno.test("failingNowAndThen() breaks a function or a method of a name, and nothing else", () => {
  const broken = failingNowAndThen("f")(
    "function g() { return 1; }\nexport function f(): number { return 1; }",
  );
  assert.match(broken, /^function g\(\) \{ return 1; \}\nexport function f\(\): number \{ if \(Math\.random/);
  assert.match(failingNowAndThen("f")("class C { f() { return 1; } }"), /f\(\) \{ if \(Math\.random/);
  assert.throws(() => failingNowAndThen("h")("function f() {}"), AnchorGone);
});

Deno.test("rowsOf() reads first cells of the tables that are asked for", () => {
  const page = [
    "| Attack | Held by |",
    "| ------ | ------- |",
    "| Guessing | `a_test.ts` |",
    "",
    "| Asset | Why |",
    "|---|---|",
    "| Shares | they are |",
    "",
    "| Attack | Held by |",
    "|---|---|",
    "| `Host` twice | x |",
  ].join("\n");
  assert.deepEqual(rowsOf(page, ["Attack"]), ["Guessing", "`Host` twice"]);
});

Deno.test("brokenPage() has a line for each promise, with what failed", () => {
  const row = {
    rows: ["a", "b"],
    broken: "x | y",
    file: "src/f.ts",
    failed: ["1", "2", "3"],
    late: false,
    run: "2026-01-05 0123abcd",
  };
  const page = brokenPage(
    { rows: [row, { ...row, rows: ["c"], failed: [] }] },
    ["d"],
  );
  assert.match(page, /2 ways to\nbreak 3 promises/);
  assert.match(page, /^\| a \| x \\\| y \(`src\/f\.ts`\) \| 1; 2; and 1 more \| 2026-01-05 0123abcd \|$/m);
  assert.match(page, /^\| c \| .* \| tests could not be run to their end \| 2026-01-05 0123abcd \|$/m);
  assert.match(page, /Not broken yet, or not noticed:\n\n- d\n/);
});

Deno.test("isNoticed() asks for a failure: tests that do not end in time notice nothing", () => {
  const [passes, fails] = [{ passed: true }, { passed: false }];
  assert.equal(isNoticed({ passed: false, failed: ["a"], late: false }, passes), true);
  assert.equal(isNoticed({ passed: false, failed: ["a"], late: true }, fails), true);
  assert.equal(isNoticed({ passed: false, failed: [], late: true }, passes), false);
  assert.equal(isNoticed({ passed: false, failed: [], late: false }, passes), true);
  assert.equal(isNoticed({ passed: false, failed: [], late: false }, fails), false);
  assert.equal(isNoticed({ passed: true, failed: [], late: false }, passes), false);
});
