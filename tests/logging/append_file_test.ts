import assert from "node:assert/strict";
import { AppendFile } from "../../src/logging/append_file.ts";

Deno.test("AppendFile makes a file that was moved away anew within a second, and looks no more often", async () => {
  const folder = await Deno.makeTempDir();
  const { now } = performance;
  const time = { at: 5000 };
  performance.now = () => time.at;
  const file = new AppendFile(`${folder}/logs/a.log`);
  const read = (name: string) => Deno.readTextFileSync(`${folder}/logs/${name}`);
  try {
    file.append("one\n");
    Deno.renameSync(file.path, `${folder}/logs/a.log.1`);
    time.at += 999;
    file.append("two\n");
    assert.equal(read("a.log.1"), "one\ntwo\n", "not looked at yet");
    time.at += 1;
    file.append("three\n");
    assert.equal(read("a.log"), "three\n");
    assert.equal(read("a.log.1"), "one\ntwo\n");
  } finally {
    performance.now = now;
    file.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("AppendFile begins a line of its own after a partial write", async () => {
  const folder = await Deno.makeTempDir();
  const { writeSync } = Deno.FsFile.prototype;
  let room = Infinity;
  Deno.FsFile.prototype.writeSync = function (bytes) {
    if (room === 0) throw new Error("full");
    const written = writeSync.call(this, bytes.subarray(0, room));
    room -= written;
    return written;
  };
  const file = new AppendFile(`${folder}/a.log`);
  try {
    for (const [text, left] of [["one\n", 2], ["two\n", 0], ["three\n", 1], ["four\n", Infinity]] as const) {
      room = left;
      if (left < Infinity) assert.throws(() => file.append(text), /full/);
      else file.append(text);
    }
    file.append("five\n");
    assert.equal(
      await Deno.readTextFile(file.path),
      "on\nfour\nfive\n",
      "a line end fits where nothing else does",
    );
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
    file.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("AppendFile renames a file that has its full size, keeps as many as it may, and counts what was there before", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/a.log`;
  await Deno.writeTextFile(path, "old\n");
  const file = new AppendFile(path, { maxSize: 8, maxFiles: 2 });
  const files = () =>
    Object.fromEntries(
      [...Deno.readDirSync(folder)].map(({ name }) => [name, Deno.readTextFileSync(`${folder}/${name}`)]),
    );
  try {
    file.append("one\n");
    file.append("two\n");
    assert.deepEqual(files(), { "a.log": "two\n", "a.log.1": "old\none\n" });
    for (const line of ["three and more\n", "four\n", "five and more\n", "six\n"]) file.append(line);
    assert.deepEqual(files(), {
      "a.log": "six\n",
      "a.log.1": "four\nfive and more\n",
      "a.log.2": "two\nthree and more\n",
    });
  } finally {
    file.close();
    await Deno.remove(folder, { recursive: true });
  }
});
