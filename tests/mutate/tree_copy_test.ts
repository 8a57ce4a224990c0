import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { isNoticed, TreeCopy } from "./tree_copy.ts";

Deno.test("TreeCopy runs tests of a copy, tells which fail, and ends those without end with all they started", async () => {
  await using tree = await TreeCopy.make();
  const restore = await tree.change(
    "src/model/rate.ts",
    'throw new Error("broken");\nexport function parseRate() {}\n',
  );
  assert.equal((await tree.test(["tests/model/rate_test.ts"], 60_000)).passed, false);
  await restore();
  assert.equal((await tree.test(["tests/model/rate_test.ts"], 60_000)).passed, true);

  await tree.change(
    "tests/one_test.ts",
    'Deno.test("no", () => { throw 1; });\nDeno.test("yes", () => {});\n',
  );
  const failing = await tree.test(["tests/one_test.ts"], 60_000);
  assert.deepEqual([failing.passed, failing.failed, failing.late], [false, ["no"], false]);

  const mark = `${tree.folder}/started`;
  await tree.change(
    "tests/endless_test.ts",
    `Deno.test("endless", async () => {
      const child = new Deno.Command("sleep", { args: ["600"] }).spawn();
      await Deno.writeTextFile(${JSON.stringify(mark)}, String(child.pid));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // as a loop, without its price
    });`,
  );
  const endless = await tree.test(["tests/endless_test.ts"], 5_000);
  assert.deepEqual([endless.passed, endless.late], [false, true]);
  const pid = Number(await Deno.readTextFile(mark));
  // A killed process takes a moment to end, and may be a zombie until its new parent process reaps it.
  const stateOf = () =>
    Deno.readTextFile(`/proc/${pid}/stat`).then((text) => text.split(" ")[2], () => "gone");
  await until(async () => /^(?:Z|X|gone)$/.test(String(await stateOf())), { what: "the process ended" });
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
