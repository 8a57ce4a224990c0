import assert from "node:assert/strict";
import { chosenFiles, digestOf } from "./guards.ts";
import { Imports } from "./imports.ts";

/** A repository of two files of sources, one with a test. */
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

Deno.test("chosenFiles() with `changed` takes files that differ from a commit, and new ones", async () => {
  await using at = await repository();
  const names = ["src/edge"];
  const choose = async () =>
    await chosenFiles(at.root, await Imports.of(at.root), { names, changed: "HEAD", onlyNew: false }, {});
  assert.deepEqual(await choose(), []);
  await at.write("src/edge/b.ts", "export const b = 2;\n");
  await at.write("src/edge/d.ts", "export const d = 1;\n");
  await at.write("src/other/c.ts", "export const c = 2;\n");
  assert.deepEqual(await choose(), ["src/edge/b.ts", "src/edge/d.ts"]);
});

Deno.test("chosenFiles() with `onlyNew` leaves out files whose text and near tests have a result", async () => {
  await using at = await repository();
  const choose = async (digests: Readonly<Record<string, string>>) => {
    const results = Object.fromEntries(
      Object.entries(digests).map(([file, digest]) =>
        [file, { day: "2026-01-05", digest, guards: 0, byTests: 0, byCompiler: 0, survivors: [] }] as const
      ),
    );
    const imports = await Imports.of(at.root);
    return await chosenFiles(at.root, imports, { names: ["src/edge"], onlyNew: true }, results);
  };
  const files = ["src/edge/a.ts", "src/edge/b.ts"];
  assert.deepEqual(await choose({}), files);
  const imports = await Imports.of(at.root);
  const digests: Record<string, string> = {};
  for (const file of files) digests[file] = await digestOf(at.root, imports, file);
  assert.deepEqual(await choose(digests), []);
  await at.write("tests/edge/a_test.ts", 'import { a } from "../../src/edge/a.ts";\na + 1;\n');
  assert.deepEqual(await choose(digests), ["src/edge/a.ts"]);
  await at.write("src/edge/b.ts", "export const b = 3;\n");
  assert.deepEqual(await choose(digests), files);
});

Deno.test("chosenFiles() refuses a name that is neither folder nor file", async () => {
  await using at = await repository();
  const imports = await Imports.of(at.root);
  await assert.rejects(
    chosenFiles(at.root, imports, { names: ["src/gone"], onlyNew: false }, {}),
    /src\/gone/,
  );
});
