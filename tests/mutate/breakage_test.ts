import assert from "node:assert/strict";
import { AnchorGone, failingNowAndThen, instead } from "./breakage.ts";
import { mistakesInBreakages } from "./broken_promises.ts";
import { rowsOf } from "./promises.ts";

Deno.test("each promise is broken by something, which finds its place in the code, and its tests are there", async () => {
  assert.deepEqual(await mistakesInBreakages(new URL("../../", import.meta.url).pathname), []);
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
