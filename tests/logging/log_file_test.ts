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

Deno.test("LogFile writes each line to console and file; without a file to the console alone", () =>
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

Deno.test("toConsole() writes all of a text, and is silent where nobody reads", async () => {
  const text = `first ${"\u00e4\u{1f600}".repeat(40_000)} last\n`;
  const code = `import { toConsole } from ${
    JSON.stringify(new URL("../../src/logging/log_file.ts", import.meta.url))
  };
    toConsole("first " + "\\u00e4\\u{1f600}".repeat(40_000) + " last\\n");`;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output();
  assert.equal(new TextDecoder().decode(stdout), text);
  const { success } = await new Deno.Command("sh", {
    args: ["-c", 'exec "$@" >/dev/full', "sh", Deno.execPath(), "eval", code],
  }).output();
  assert.ok(success);
});

Deno.test("LogFile says once that a file cannot be written, and again after it could be", () =>
  withFolder(async (folder) => {
    const said: string[] = [];
    const complaints = () => said.filter((text) => text.includes("error log file not written")).length;
    // Below files no folder can be made, not even by root.
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
