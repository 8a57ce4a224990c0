import assert from "node:assert/strict";
import { AppendFile } from "../../src/logging/append_file.ts";

Deno.test("AppendFile recreates a moved file within a second, and checks at most once a second", async () => {
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

Deno.test("AppendFile starts a new line after a partial write", async () => {
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

/** Returns the contents of all files of a folder. */
function contents(folder: string): Readonly<Record<string, string>> {
  const names = [...Deno.readDirSync(folder)].filter(({ isFile }) => isFile).map(({ name }) => name).sort();
  return Object.fromEntries(names.map((name) => [name, Deno.readTextFileSync(`${folder}/${name}`)]));
}

Deno.test("AppendFile renames a file of full size, keeps the permitted number, and counts existing content", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/a.log`;
  await Deno.writeTextFile(path, "old\n");
  const rotation = { maxSize: 8, maxFiles: 2 };
  const file = new AppendFile(path, () => rotation);
  try {
    file.append("one\n");
    file.append("two\n");
    assert.deepEqual(contents(folder), { "a.log": "two\n", "a.log.1": "old\none\n" });
    for (const line of ["three and more\n", "four\n", "five and more\n", "six\n"]) file.append(line);
    assert.deepEqual(contents(folder), {
      "a.log": "six\n",
      "a.log.1": "four\nfive and more\n",
      "a.log.2": "two\nthree and more\n",
    });
    rotation.maxSize = 0; // as after a reload
    for (const line of ["seven\n", "eight\n"]) file.append(line);
    assert.equal(contents(folder)["a.log"], "six\nseven\neight\n");
  } finally {
    file.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("AppendFile neither loses nor repeats lines when several writers rotate one file", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/a.log`;
  const writers = Array.from(
    { length: 3 },
    () => new AppendFile(path, () => ({ maxSize: 20, maxFiles: 1000 })),
  );
  const written: string[] = [];
  try {
    for (let i = 100; i < 250; i++) {
      const line = `line ${i}\n`;
      writers[i % 7 % 3]?.append(line);
      written.push(line);
    }
    const files = contents(folder);
    const lines = Object.values(files).flatMap((text) => text.split(/(?<=\n)/));
    assert.deepEqual(lines.sort(), written);
    for (const text of Object.values(files)) assert.ok(text.length < 100, text);
    assert.ok(Object.keys(files).length > 20, "they are small");
  } finally {
    for (const writer of writers) writer.close();
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("AppendFile continues with a full file that it cannot rename, and does not rotate devices", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/a.log`;
  await Deno.mkdir(`${path}.1/full`, { recursive: true });
  await Deno.symlink("/dev/null", `${folder}/device`);
  const rotation = () => ({ maxSize: 4, maxFiles: 1 });
  const files = [new AppendFile(path, rotation), new AppendFile(`${folder}/device`, rotation)];
  try {
    for (const file of files) {
      for (const line of ["one\n", "two\n", "three\n"]) file.append(line);
    }
    assert.deepEqual(contents(folder), { "a.log": "one\ntwo\nthree\n" });
    assert.ok((await Deno.lstat(`${folder}/device`)).isSymlink);
    await Deno.remove(`${path}.1`, { recursive: true });
    files[0]?.append("four\n");
    assert.deepEqual(contents(folder), { "a.log": "four\n", "a.log.1": "one\ntwo\nthree\n" });
  } finally {
    for (const file of files) file.close();
    await Deno.remove(folder, { recursive: true });
  }
});
