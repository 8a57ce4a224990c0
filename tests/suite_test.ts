import assert from "node:assert/strict";
import { dirname } from "node:path";
import { inTime, until } from "./fixtures/deadline.ts";
import { skippedLines } from "./skipped.ts";
import { runSuite } from "./suite.ts";
import { writeTestGroups } from "./test_groups.ts";

/** Reports whether a process has ended; its parent may not have read that yet. */
async function isGone(pid: number): Promise<boolean> {
  const status = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => undefined);
  return status === undefined || / Z /.test(status);
}

/** Runs a suite of one file. */
async function suiteOf(text: string, longestMs?: number) {
  const folder = await Deno.makeTempDir();
  const lines: string[] = [];
  try {
    await Deno.writeTextFile(`${folder}/a_test.ts`, text);
    return {
      status: await runSuite([folder], (line) => lines.push(line), { longestMs }),
      text: lines.join("\n"),
    };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("runSuite() ends a run with a test that hangs, and names the test", async () => {
  const { status, text } = await suiteOf(
    'Deno.test("hangs for ever", () => new Promise(() => setInterval(() => {}, 1000)));\n',
    5000,
  );
  assert.equal(status, 1);
  assert.match(text, /hangs for ever => \S*a_test\.ts:1/);
  assert.match(text, /^FAILED \| 0 passed \| 0 failed \| not ended: see above$/m);
});

Deno.test("an interrupted run ends all processes that its tests started", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/a_test.ts`,
      `Deno.test("hangs for ever", async () => {
        const { pid } = new Deno.Command("sleep", { args: ["1000"] }).spawn();
        await Deno.writeTextFile("${folder}/new", String(pid));
        await Deno.rename("${folder}/new", "${folder}/pid");
        await new Promise(() => setInterval(() => {}, 1000));
      });`,
    );
    const run = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--allow-all", new URL("./run_tests.ts", import.meta.url).pathname, folder],
      stdout: "null",
      stderr: "null",
    }).spawn();
    await until(() => Deno.stat(`${folder}/pid`).catch(() => undefined));
    run.kill("SIGINT");
    assert.notEqual((await inTime(run.status, "the end of the run")).code, 0);
    const pid = Number(await Deno.readTextFile(`${folder}/pid`));
    await until(() => isGone(pid));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("runSuite() returns the status of the runner, and prints the skipped tests with reasons", async () => {
  const { status, text } = await suiteOf(
    'const LONG = false;\nDeno.test("fine", () => {});\nDeno.test({ name: "rare", ignore: !LONG, fn() {} });\n',
  );
  assert.equal(status, 0);
  assert.match(text, /^skipped: 1, takes long: deno task test:long\n {2}\S+a_test\.ts => rare$/m);
  const failed = await suiteOf('Deno.test("fails", () => { throw new Error("x"); });\n');
  assert.notEqual(failed.status, 0);
  assert.match(failed.text, /fails/);
});

Deno.test("skippedLines() names the package that enables a test, and only requirements that this machine lacks", async () => {
  const all = [
    { sign: /fish/, missing: true, why: "fish is not installed (Debian: apt-get install fish)" },
    { sign: /zsh/, missing: false, why: "zsh" },
  ];
  assert.deepEqual(
    await skippedLines([
      "./x_test.ts => fish completes ... ignored (0ms)",
      "./x_test.ts => zsh completes ... ignored (0ms)",
    ], all),
    [
      "skipped: 1, fish is not installed (Debian: apt-get install fish)",
      "  x_test.ts => fish completes",
      "skipped: 1, see the test's file for what it needs",
      "  x_test.ts => zsh completes",
    ],
  );
});

Deno.test("skippedLines() reads the requirement of a test from its own file, if a module imports several", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${folder}/a_test.ts`,
      'const FISH = 1;\nDeno.test({ name: "a", ignore: !FISH });\n',
    );
    await Deno.writeTextFile(
      `${folder}/b_test.ts`,
      'const ZSH = 1;\nDeno.test({ name: "shell", ignore: !ZSH });\n',
    );
    const imports = ["a", "b"].map((name) => `import "file://${folder}/${name}_test.ts";\n`).join("");
    await Deno.writeTextFile(`${folder}/all_test.ts`, imports);
    const all = [
      { sign: /FISH/, missing: true, why: "no fish" },
      { sign: /ZSH/, missing: true, why: "no zsh" },
    ];
    const lines = await skippedLines([`${folder}/all_test.ts => shell ... ignored (0ms)`], all);
    assert.equal(lines[0], "skipped: 1, no zsh");
    assert.match(lines[1] ?? "", /\/b_test\.ts => shell$/, "not the module");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("writeTestGroups() includes each test file exactly once", async () => {
  const tests = new URL("./", import.meta.url).pathname;
  await using groups = await writeTestGroups(tests);
  const run: string[] = [];
  for (const path of groups.paths) {
    const files = [...(await Deno.readTextFile(path)).matchAll(/"file:\/\/([^"]+)"/g)].map(([, file = ""]) =>
      file
    );
    run.push(...files);
    if (files.length === 1) continue;
    for (const file of files) assert.doesNotMatch(await Deno.readTextFile(file), /sanitizeOps: true/, file);
  }
  const there: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) await walk(`${folder}${name}/`);
      else if (name.endsWith("_test.ts")) there.push(folder + name);
    }
  };
  await walk(tests);
  assert(groups.paths.length < run.length / 2);
  assert.equal(new Set(groups.paths.map(dirname)).size, 1, "else the runner has an order of its own");
  assert.deepEqual(run.toSorted(), there.toSorted());
});
