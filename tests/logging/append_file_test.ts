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
