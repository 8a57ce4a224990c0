import assert from "node:assert/strict";
import { changedSince, type Choice, chosenGroups, type Group } from "./groups.ts";
import { Imports } from "./imports.ts";
import type { Scores } from "./reports.ts";

/** Makes a repository of three source files, one with a test. */
async function repository() {
  const root = `${await Deno.makeTempDir({ prefix: "authserver-guards-" })}/`;
  const write = async (path: string, text: string) => {
    await Deno.mkdir(`${root}${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(root + path, text);
  };
  const git = async (...args: readonly string[]) => {
    const identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"];
    const { success } = await new Deno.Command("git", { args: [...identity, ...args], cwd: root }).output();
    assert(success, `git ${args.join(" ")}`);
  };
  await write("main.ts", "");
  await write("src/edge/a.ts", "export const a = 1;\n");
  await write("src/edge/b.ts", "export const b = 1;\n");
  await write("src/other/c.ts", "export const c = 1;\n");
  await write("tests/edge/a_test.ts", 'import { a } from "../../src/edge/a.ts";\na;\n');
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "one");
  return { root, write, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

/** Returns the chosen groups. */
async function chosen(root: string, choice: Partial<Choice> = {}, before: Scores = {}) {
  const all = { guards: true, names: ["src/edge"], onlyNew: false, ...choice };
  return await chosenGroups(root, await Imports.of(root), all, before);
}

const paths = (groups: readonly Group[]) => groups.map(({ path }) => path);

Deno.test("chosenGroups() takes each file for a group of guards, and each folder for a sample", async () => {
  await using at = await repository();
  assert.deepEqual(paths(await chosen(at.root)), ["src/edge/a.ts", "src/edge/b.ts"]);
  const sample = (names: string[]) => chosen(at.root, { guards: false, names });
  assert.deepEqual((await sample([])).map(({ path, files, whole }) => [path, files.length, whole]), [
    ["src/edge", 2, true],
    ["src/other", 1, true],
  ]);
  assert.deepEqual((await sample(["src/edge/a.ts"])).map(({ path, whole }) => [path, whole]), [[
    "src/edge",
    false,
  ]]);
  await assert.rejects(sample(["src/gone"]), /src\/gone/);
});

Deno.test("chosenGroups() takes files that differ from a commit, and new ones", async () => {
  await using at = await repository();
  const choose = async () => paths(await chosen(at.root, { changed: await changedSince(at.root, "HEAD") }));
  assert.deepEqual(await choose(), []);
  await at.write("src/edge/b.ts", "export const b = 2;\n");
  await at.write("src/edge/d.ts", "export const d = 1;\n");
  await at.write("src/other/c.ts", "export const c = 2;\n");
  assert.deepEqual(await choose(), ["src/edge/b.ts", "src/edge/d.ts"]);
});

Deno.test("chosenGroups() leaves out what has a good result for its present text and that of its tests", async () => {
  await using at = await repository();
  const files = ["src/edge/a.ts", "src/edge/b.ts"];
  const score = { day: "2026-01-05", mutants: 1, tried: 1, own: 1, killed: 1, equivalent: [], survivors: [] };
  const before = Object.fromEntries(
    (await chosen(at.root)).map(({ path, digest }) => [path, { ...score, digest }] as const),
  );
  const choose = async (before: Scores) => paths(await chosen(at.root, { onlyNew: true }, before));
  assert.deepEqual(await choose({}), files);
  assert.deepEqual(await choose(before), []);
  const survivors = ["- `src/edge/a.ts:1` guard: `a → false`"];
  assert.deepEqual(await choose({ ...before, "src/edge/a.ts": { ...score, survivors } }), ["src/edge/a.ts"]);
  await at.write("tests/edge/a_test.ts", 'import { a } from "../../src/edge/a.ts";\na + 1;\n');
  assert.deepEqual(await choose(before), ["src/edge/a.ts"]);
  await at.write("src/edge/b.ts", "export const b = 3;\n");
  assert.deepEqual(await choose(before), files);
});
