import assert from "node:assert/strict";
import { InvalidFile } from "../../src/model/diagnostic.ts";
import {
  ifExists,
  openRegularFile,
  readRegularFile,
  utf8Text,
  writeAll,
} from "../../src/model/regular_file.ts";

/** Returns the number of descriptors that this process has open on a path. */
function openOn(path: string): number {
  return [...Deno.readDirSync("/proc/self/fd")].filter(({ name }) => {
    try {
      return Deno.readLinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false; // closed meanwhile
    }
  }).length;
}

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "authserver-regular-" }));
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("readRegularFile() reads from the first byte to the last, and leaves nothing open", () =>
  withFolder(async (folder) => {
    const path = `${folder}/file`;
    for (const length of [0, 1, 70_000]) {
      const bytes = Uint8Array.from({ length }, (_, i) => i * 7);
      await Deno.writeFile(path, bytes);
      assert.deepEqual(await readRegularFile(path, length), bytes);
      if (length > 0) {
        await assert.rejects(
          readRegularFile(path, length - 1),
          (error) =>
            error instanceof InvalidFile &&
            error.message === `${path}: ${length} bytes: expected at most ${length - 1}`,
        );
      }
    }
    assert.equal(openOn(path), 0);
  }));

Deno.test("openRegularFile() opens no folder and no pipe, does not block, and leaves nothing open", () =>
  withFolder(async (folder) => {
    const pipe = `${folder}/pipe`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    await assert.rejects(openRegularFile(pipe), /TypeError: .*pipe is no regular file/);
    await assert.rejects(openRegularFile(folder), Deno.errors.IsADirectory);
    assert.deepEqual([openOn(pipe), openOn(folder)], [0, 0]);
  }));

Deno.test("openRegularFile() fails as Deno does for an absent file", () =>
  withFolder(async (folder) => {
    await assert.rejects(openRegularFile(`${folder}/none`), Deno.errors.NotFound);
    await Deno.writeTextFile(`${folder}/file`, "");
    await assert.rejects(openRegularFile(`${folder}/file/below`), { code: "ENOTDIR" });
  }));

Deno.test("ifExists() returns a result, undefined for an absent file, and throws any other failure", async () => {
  assert.equal(await ifExists(Promise.resolve(1)), 1);
  assert.equal(await ifExists(Promise.reject(new Deno.errors.NotFound())), undefined);
  await assert.rejects(
    ifExists(Promise.reject(new Deno.errors.PermissionDenied())),
    Deno.errors.PermissionDenied,
  );
});

Deno.test("writeAll() writes everything in order to a writer that takes a part at a time", async () => {
  const taken: number[] = [];
  const slow = {
    write(bytes: Uint8Array): Promise<number> {
      const part = bytes.subarray(0, 3);
      taken.push(...part);
      return Promise.resolve(part.length);
    },
  };
  await writeAll(slow, Uint8Array.of(1, 2, 3, 4, 5, 6, 7));
  assert.deepEqual(taken, [1, 2, 3, 4, 5, 6, 7]);
  await writeAll(slow, new Uint8Array());
  assert.equal(taken.length, 7);
});

Deno.test("utf8Text() reads UTF-8, and ISO-8859-1 in XML that declares it", () => {
  const latin1 = (text: string) => Uint8Array.from(text, (sign) => sign.charCodeAt(0));
  const xml = (declaration: string) => `<?xml version="1.0" ${declaration}?>\n<a>M\xfcller</a>`;
  const read: [Uint8Array, string][] = [
    [new TextEncoder().encode("\ufeffMüller"), "Müller"],
    [latin1(xml('encoding="ISO-8859-1"')), xml('encoding="UTF-8"')],
    [latin1(xml("encoding = 'iso-8859-1' standalone='yes'")), xml("encoding = 'UTF-8' standalone='yes'")],
  ];
  for (const [bytes, text] of read) assert.equal(utf8Text(bytes, "map.xml"), text);
  const refused = ["", 'encoding="UTF-8"', 'encoding="ISO-8859-15"', 'encoding="US-ASCII"', 'x="ISO-8859-1"'];
  for (const declaration of refused) {
    assert.throws(() => utf8Text(latin1(xml(declaration)), "map.xml"), (error) => {
      assert.ok(error instanceof InvalidFile, declaration);
      assert.match(error.message, /expected UTF-8 text/);
      return true;
    });
  }
  for (const text of ["\xff\xfea\0", "\xfe\xff\0a"]) {
    assert.throws(() => utf8Text(latin1(text), "map.json"), (error) => {
      assert.ok(error instanceof InvalidFile);
      const [{ expected, fix = "" } = { expected: "" }] = error.diagnostics;
      assert.equal(expected, "expected UTF-8 text, found UTF-16");
      assert.match(fix, /^text=\$\(iconv -f UTF-16 -t UTF-8 map\.json\) && printf/);
      return true;
    });
  }
  assert.throws(() => utf8Text(latin1(`x${xml('encoding="ISO-8859-1"')}`), "map.xml"), InvalidFile);
});
