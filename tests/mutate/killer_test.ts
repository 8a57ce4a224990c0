import assert from "node:assert/strict";
import { Imports } from "./imports.ts";
import { Killer } from "./killer.ts";
import { TreeCopy } from "./tree_copy.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

Deno.test("Killer tells who notices: the folder's tests, the compiler, or nobody; and leaves the copy as it was", async () => {
  await using tree = await TreeCopy.make();
  const killer = new Killer(await Imports.of(ROOT));
  const file = "src/model/rate.ts";
  const text = await Deno.readTextFile(ROOT + file);
  const killedBy = (text: string) => killer.killedBy(tree, { file, text }, true);
  assert.equal(await killedBy(text.replaceAll("===", "!==")), "own");
  assert.equal(await killedBy(`${text}\nexport const one: string = 1;\n`), "types");
  assert.equal(await killedBy(`${text}\n// no mistake\n`), undefined);
  assert.equal(await Deno.readTextFile(`${tree.folder}/${file}`), text);
});

Deno.test("Killer.failures() names tests that fail because of the mutant, not those that fail anyhow", async () => {
  await using tree = await TreeCopy.make();
  const killer = new Killer(await Imports.of(ROOT));
  const tests = `import { rate } from "../src/x.ts";
Deno.test("always fails", () => { throw 1; });
Deno.test("rate is one", () => { if (rate !== 1) throw 2; });
Deno.test("rate is positive", () => { if (rate <= 0) throw 3; });`;
  await tree.change("tests/x_test.ts", tests);
  await tree.change("src/x.ts", "export const rate: number = 1;");
  const failures = (text: string, only?: string) =>
    killer.failures(tree, { file: "src/x.ts", text }, [["tests/x_test.ts"]], { only });
  assert.deepEqual(await failures("export const rate: number = 2;"), ["rate is one"]);
  assert.deepEqual(await failures("export const rate: number = 2;", "positive"), undefined);
  assert.deepEqual(await failures("export const rate: number = 1 + 0;"), undefined);
  assert.deepEqual(await failures("export const rat: number = 1;", "rate"), [], "it cannot be loaded");
});
