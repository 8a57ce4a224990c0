import assert from "node:assert/strict";
import { LogFile } from "../../src/logging/log_file.ts";

async function withFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await act(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("LogFile writes each line to console and file; without a file only to the console", () =>
  withFolder(async (folder) => {
    const said: string[] = [];
    const log = new LogFile(`${folder}/a.log`, (text) => said.push(text));
    log.write("one", "info");
    log.writeLines("two\nthree\n");
    assert.deepEqual(said, ["one\n", "two\nthree\n"]);
    assert.equal(await Deno.readTextFile(`${folder}/a.log`), "one\ntwo\nthree\n");
    log.moveTo(undefined);
    log.write("four", "info");
    log.moveTo(`${folder}/b.log`);
    log.write("five", "info");
    log.close();
    assert.deepEqual(said.slice(2), ["four\n", "five\n"]);
    assert.equal(await Deno.readTextFile(`${folder}/a.log`), "one\ntwo\nthree\n");
    assert.equal(await Deno.readTextFile(`${folder}/b.log`), "five\n");
  }));

Deno.test("LogFile that prefers its file writes to the console only lines that the file cannot take", () =>
  withFolder(async (folder) => {
    const said: string[] = [];
    await Deno.writeTextFile(`${folder}/sub`, "");
    const log = new LogFile(`${folder}/a.log`, (text) => said.push(text));
    log.write("one", "info");
    log.prefersFile = true;
    log.write("two", "info");
    assert.deepEqual(said, ["one\n"]);
    assert.equal(await Deno.readTextFile(`${folder}/a.log`), "one\ntwo\n");
    log.moveTo(`${folder}/sub/b.log`); // a file is not a folder
    log.write("three", "info");
    assert.match(said.slice(1).join(""), /^\S+ error log file not written .*\nthree\n$/);
    log.moveTo(undefined);
    log.write("four", "info");
    assert.equal(said.at(-1), "four\n");
    log.close();
  }));

Deno.test("toConsole() writes a whole text, and fails if its reader is gone", async () => {
  const text = `first ${"\u00e4\u{1f600}".repeat(40_000)} last\n`;
  const code = `import { CONSOLE, toConsole } from ${
    JSON.stringify(new URL("../../src/logging/log_file.ts", import.meta.url))
  };
    toConsole("first " + "\\u00e4\\u{1f600}".repeat(40_000) + " last\\n");
    await CONSOLE.flush();
    toConsole("");
    Deno.exit(0);`;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output();
  assert.equal(new TextDecoder().decode(stdout), text);
  const { success, stderr } = await new Deno.Command("sh", {
    args: ["-c", 'exec "$@" >/dev/full', "sh", Deno.execPath(), "eval", code],
  }).output();
  assert.ok(!success);
  assert.match(new TextDecoder().decode(stderr), /No space left/);
});

Deno.test("LogFile reports once that a file cannot be written, and again after a recovery", () =>
  withFolder(async (folder) => {
    const said: string[] = [];
    const complaints = () => said.filter((text) => text.includes("error log file not written")).length;
    // Not even root can create a folder below a file.
    for (const name of ["sub", "other"]) await Deno.writeTextFile(`${folder}/${name}`, "");
    const log = new LogFile(`${folder}/sub/a.log`, (text) => said.push(text));
    log.write("one", "info");
    log.write("two", "info");
    assert.deepEqual([said[0], said[2], said.length, complaints()], ["one\n", "two\n", 3, 1]);
    log.moveTo(`${folder}/other/b.log`);
    log.write("three", "info");
    assert.equal(complaints(), 2, "another file is another matter");
    log.moveTo(`${folder}/c.log`);
    log.write("four", "info");
    log.moveTo(`${folder}/other/b.log`);
    log.write("five", "info");
    log.close();
    assert.equal(complaints(), 3);
    assert.equal(await Deno.readTextFile(`${folder}/c.log`), "four\n");
  }));

Deno.test("LogFile reports a failing file once on the console, counts lost lines, and retries by itself", () =>
  withFolder(async (folder) => {
    const said: string[] = [];
    const path = `${folder}/a.log`;
    await Deno.symlink("/dev/full", path);
    const log = new LogFile(path, (text) => said.push(text.slice(text.indexOf(" ") + 1)));
    log.writeLines("one\ntwo\n");
    log.write("three", "info");
    const [file, console] = log.sinks;
    assert.match(file?.failure?.reason ?? "", /a\.log: .*No space left/);
    assert.deepEqual([file?.name, file?.lost], ["log", 4], "with the line about it");
    assert.deepEqual(console, { name: "console", lost: 0 });
    assert.equal(said.filter((line) => /^error log file not written/.test(line)).length, 1);
    log.retry();
    assert.equal(log.sinks[0]?.failure?.since, file?.failure?.since);
    await Deno.remove(path);
    log.retry();
    assert.deepEqual(log.sinks[0], { name: "log", lost: 4 });
    log.close();
    const lines = (await Deno.readTextFile(path)).trim().split("\n").map((line) => line.slice(25));
    assert.deepEqual(lines, ["info  log file tried again", "warn  log file written again lost=4"]);
    assert.equal(said.at(-1), "warn  log file written again lost=4\n");
  }));

Deno.test("LogFile reports a failing console once in the file, and its recovery", () =>
  withFolder(async (folder) => {
    let full = true;
    const log = new LogFile(`${folder}/a.log`, () => {
      if (full) throw new Error("nobody reads");
    });
    log.writeLines("one\ntwo\n");
    log.write("three", "info");
    assert.equal(log.sinks[1]?.failure?.reason, "Error: nobody reads");
    full = false;
    log.write("four", "info");
    log.close();
    assert.deepEqual(log.sinks[1], { name: "console", lost: 4 });
    const lines = (await Deno.readTextFile(`${folder}/a.log`)).trim().split("\n");
    assert.deepEqual(lines.map((line) => line.replace(/^\S+Z /, "")), [
      'error console not written error="Error: nobody reads"',
      "one",
      "two",
      "three",
      "warn  console written again lost=4",
      "four",
    ]);
  }));
