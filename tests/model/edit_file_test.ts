import assert from "node:assert/strict";
import { lchownSync } from "node:fs";
import { join } from "node:path";
import { editFile, FileNotChanged } from "../../src/model/edit_file.ts";

/** Registers a test with the path of a file in a new folder, in which only that file may remain. */
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
    assert.ok(error instanceof FileNotChanged);
    assert.match(error.message, /was changed by somebody else meanwhile, nothing was written/);
    return true;
  });
  assert.equal(await Deno.readTextFile(file), "theirs");
});

scene("editFile() leaves the file as it was if the change throws", async (file) => {
  await Deno.writeTextFile(file, "old");
  const failed = new FileNotChanged("no");
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

scene("editFile() serialises concurrent edits, and loses none", async (file) => {
  await Promise.all(Array.from({ length: 12 }, (_, i) => editFile(file, (text = "") => `${text}${i};`)));
  const done = (await Deno.readTextFile(file)).split(";").slice(0, -1).map(Number);
  assert.deepEqual(done.toSorted((a, b) => a - b), Array.from({ length: 12 }, (_, i) => i));
});

scene(
  "editFile() waits for the lock of a running editor, but not of a killed one",
  async (file) => {
    const lives = new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        "--quiet",
        `Deno.openSync(Deno.args[0], { write: true, create: true }).lockSync(true);
      console.log("held"); setInterval(() => {}, 1000);`,
        `${file}.lock`,
      ],
      stdout: "piped",
    }).spawn();
    await lives.stdout.getReader().read();
    let done = false;
    const edited = editFile(file, () => "new").then(() => done = true);
    await Deno.stat(`${file}.lock`);
    assert.equal(done, false);
    assert.equal(await Deno.stat(file).catch(() => "absent"), "absent");
    lives.kill("SIGKILL");
    await lives.status;
    await edited;
    assert.equal(await Deno.readTextFile(file), "new");
  },
);

scene("editFile() narrows the mode of a file that others may read", async (file) => {
  await Deno.writeTextFile(file, "");
  await Deno.chmod(file, 0o664);
  assert.deepEqual(await editFile(file, () => "b"), { remarks: ["its mode was 0664 and is now 0600"] });
  assert.equal(((await Deno.stat(file)).mode ?? 0) & 0o777, 0o600);
});

/** User id of another account. */
const OTHER = 12_345;
const AS_ROOT = { ignore: Deno.uid() !== 0 };

/** Registers a test with a folder that another account can write, and a file of ours that must not change. */
function trap(name: string, test: (folder: string, own: string) => Promise<void>): void {
  Deno.test({
    name,
    ...AS_ROOT,
    async fn() {
      const folder = await Deno.makeTempDir();
      try {
        await Deno.mkdir(join(folder, "theirs"));
        await Deno.chown(join(folder, "theirs"), OTHER, OTHER);
        await Deno.writeTextFile(join(folder, "own"), "ours");
        await test(join(folder, "theirs"), join(folder, "own"));
        const { uid, mode } = await Deno.stat(join(folder, "own"));
        assert.deepEqual([await Deno.readTextFile(join(folder, "own")), uid, (mode ?? 0) & 0o777], [
          "ours",
          0,
          0o644,
        ]);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

async function linkOf(other: number, target: string, path: string): Promise<void> {
  await Deno.symlink(target, path);
  lchownSync(path, other, other);
}

trap("editFile() follows no link of another account to a file of ours", async (theirs, own) => {
  await linkOf(OTHER, own, join(theirs, "file"));
  const refused = { constructor: FileNotChanged, message: /is a link to .*own, made by another account/ };
  await assert.rejects(editFile(join(theirs, "file"), () => "new"), refused);
  await linkOf(OTHER, join(theirs, "nowhere"), join(theirs, "dangling"));
  await assert.rejects(editFile(join(theirs, "dangling"), () => "new"), /leads nowhere/);
});

trap("editFile() creates and empties no file through a link in place of its lock", async (theirs, own) => {
  await linkOf(OTHER, own, join(theirs, "file.lock"));
  await assert.rejects(editFile(join(theirs, "file"), () => "new"), /file\.lock: a link is in its place/);
  await Deno.remove(join(theirs, "file.lock"));
  await linkOf(OTHER, join(theirs, "made"), join(theirs, "file.lock"));
  await assert.rejects(editFile(join(theirs, "file"), () => "new"), /a link is in its place/);
  await assert.rejects(Deno.lstat(join(theirs, "made")), Deno.errors.NotFound);
});

trap("editFile() changes the owner of no file that replaces the other account's", async (theirs, own) => {
  const file = join(theirs, "file");
  await Deno.writeTextFile(file, "theirs");
  await Deno.chown(file, OTHER, OTHER);
  const swap = () => {
    Deno.removeSync(file);
    Deno.symlinkSync(own, file);
    return "new";
  };
  await assert.rejects(editFile(file, swap), /a link is in its place/);
  assert.deepEqual([...Deno.readDirSync(theirs)].map(({ name }) => name), ["file"], "nothing is left");
});

trap(
  "editFile() keeps the owner of the file, and follows links of root and of that owner",
  async (theirs) => {
    const file = join(theirs, "file");
    await Deno.writeTextFile(file, "old");
    await Deno.chown(file, OTHER, OTHER);
    await linkOf(OTHER, file, join(theirs, "link"));
    await linkOf(0, file, join(theirs, "roots"));
    for (const name of ["file", "link", "roots"]) {
      await editFile(join(theirs, name), () => name);
      const { uid, gid } = await Deno.stat(file);
      assert.deepEqual([await Deno.readTextFile(file), uid, gid], [name, OTHER, OTHER]);
    }
  },
);
