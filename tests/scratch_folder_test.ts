import assert from "node:assert/strict";
import { makeScratchFolder } from "./scratch_folder.ts";

Deno.test("makeScratchFolder() creates a folder for a command and its children, under any account, until its end", async () => {
  const { path, within, ...scratch } = await makeScratchFolder();
  {
    await using _ = scratch;
    const [program = "", ...args] = [...within, "sh", "-c", `echo yes > ${path}/made && cat ${path}/made`];
    const { code, stdout } = await new Deno.Command(program, { args }).output();
    assert.deepEqual([code, new TextDecoder().decode(stdout)], [0, "yes\n"]);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o7777, 0o1777);
    // A folder in memory is empty again once the command has ended.
    const left = [...Deno.readDirSync(path)].map(({ name }) => name);
    assert.deepEqual(left, within.length === 0 ? ["made"] : []);
  }
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
});
