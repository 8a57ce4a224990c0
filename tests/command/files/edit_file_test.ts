import assert from "node:assert/strict";
import { join } from "node:path";
import { CommandFailed } from "../../../src/command/command.ts";
import { editFile } from "../../../src/command/files/edit_file.ts";

/** A test with the path of a file in a folder of its own; nothing but the file may be left there. */
function scene(name: string, test: (file: string) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await test(join(folder, "file"));
      const left = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name !== "file");
      assert.deepEqual(left, []);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

scene("editFile() shows the change the old text, and writes the new one", async (file) => {
  const seen: (string | undefined)[] = [];
  const append = (text: string | undefined) => {
    seen.push(text);
    return `${text ?? ""}x`;
  };
  await editFile(file, append);
  await editFile(file, append);
  assert.deepEqual(seen, [undefined, "x"]);
  assert.equal(await Deno.readTextFile(file), "xx");
});

scene("editFile() overwrites nothing that somebody else wrote meanwhile", async (file) => {
  await Deno.writeTextFile(file, "old");
  const edit = editFile(file, (text) => {
    Deno.writeTextFileSync(file, "theirs");
    return `${text} and ours`;
  });
  await assert.rejects(edit, (error: unknown) => {
    assert.ok(error instanceof CommandFailed);
    assert.match(error.message, /was changed by somebody else meanwhile, nothing was written/);
    return true;
  });
  assert.equal(await Deno.readTextFile(file), "theirs");
});

scene("editFile() leaves the file as it was if the change throws", async (file) => {
  await Deno.writeTextFile(file, "old");
  const failed = new CommandFailed("no");
  await assert.rejects(
    editFile(file, () => {
      throw failed;
    }),
    failed,
  );
  assert.equal(await Deno.readTextFile(file), "old");
});

scene("editFile() lets a reader see the old or the new text, never a part", async (file) => {
  const texts = ["a", "b"].map((letter) => letter.repeat(1_000_000));
  await Deno.writeTextFile(file, texts[0] ?? "");
  let done = false;
  const edits = (async () => {
    for (let i = 1; i <= 6; i++) await editFile(file, () => texts[i % 2] ?? "");
    done = true;
  })();
  while (!done) assert.ok(texts.includes(await Deno.readTextFile(file)));
  await edits;
});
