import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { type ArchiveEntry, zipArchive } from "../../../../src/resource/access/archive/zip_archive.ts";

/** Whether Python, which reads archives, is installed. */
const PYTHON = await new Deno.Command("python3", { args: ["--version"], stdout: "null", stderr: "null" })
  .output()
  .then(({ success }) => success, () => false);
if (!PYTHON) console.warn("No python3 on this machine, archives are not read by other software");

async function* parts(...chunks: readonly Uint8Array<ArrayBuffer>[]) {
  for (const chunk of chunks) yield await Promise.resolve(chunk);
}

async function* listed(entries: Iterable<ArchiveEntry>) {
  for (const entry of entries) yield await Promise.resolve(entry);
}

function file(name: string, text: string, modified?: string): ArchiveEntry {
  const bytes = new TextEncoder().encode(text);
  return { name, size: bytes.length, modified, open: () => parts(bytes) };
}

/** Runs a Python program on an archive. @returns Its output, parsed as JSON. */
async function python(archive: string, program: string): Promise<unknown> {
  const { success, stdout, stderr } = await new Deno.Command("python3", {
    args: ["-c", `import json, zipfile\nz = zipfile.ZipFile(${JSON.stringify(archive)})\n${program}`],
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Writes an archive as a sparse file, so that long runs of zeros take no space. */
async function write(entries: Iterable<ArchiveEntry>): Promise<string> {
  const path = await Deno.makeTempFile({ suffix: ".zip" });
  using out = await Deno.open(path, { write: true });
  let waiting: Uint8Array[] = [];
  let end = 0;
  const flush = async () => {
    const bytes = Buffer.concat(waiting);
    waiting = [];
    for (let at = 0; at < bytes.length;) at += await out.write(bytes.subarray(at));
  };
  for await (const piece of zipArchive(listed(entries))) {
    end += piece.length;
    if (piece === ZEROS) {
      await flush();
      await out.seek(piece.length, Deno.SeekMode.Current);
    } else if (waiting.push(piece) > 10_000) await flush();
  }
  await flush();
  await out.truncate(end);
  return path;
}

const ZEROS = new Uint8Array(64 * 1024 * 1024);

Deno.test({
  name: "zipArchive() is readable by Python: names in any script, times, modes, empty files and directories",
  ignore: !PYTHON,
  fn: async () => {
    const archive = await write([
      { name: "top/", size: 0, modified: "20260304050607" },
      file("top/ä 日本 \u202e😀.txt", "hello", "20260304050608"),
      { name: "top/empty", size: 0, modified: "18991231235959" },
    ]);
    const seen = await python(
      archive,
      `assert z.testzip() is None
print(json.dumps([[i.filename, z.read(i).decode(), list(i.date_time), oct(i.external_attr >> 16)] for i in z.infolist()]))`,
    );
    assert.deepEqual(seen, [
      ["top/", "", [2026, 3, 4, 5, 6, 6], "0o40755"],
      ["top/ä 日本 \u202e😀.txt", "hello", [2026, 3, 4, 5, 6, 8], "0o100644"],
      ["top/empty", "", [1980, 1, 1, 0, 0, 0], "0o100644"],
    ]);
    await Deno.remove(archive);
  },
});

Deno.test({
  name: "zipArchive() exceeds 4 GiB, in a file and after it (Zip64)",
  ignore: !PYTHON,
  fn: async () => {
    const zeros = Array<Uint8Array<ArrayBuffer>>(65).fill(ZEROS);
    const size = zeros.length * ZEROS.length;
    const archive = await write([
      { name: "large", size, open: () => parts(...zeros) },
      file("behind", "here"),
      file("and behind", "there"),
    ]);
    const program =
      `print(json.dumps([[i.filename, i.file_size, i.header_offset > 2**32] for i in z.infolist()] + ` +
      `[z.read("behind").decode(), z.read("and behind").decode()]))`;
    assert.deepEqual(await python(archive, program), [
      ["large", size, false],
      ["behind", 4, true],
      ["and behind", 5, true],
      "here",
      "there",
    ]);
    await Deno.remove(archive);
  },
});

Deno.test({
  name: "zipArchive() exceeds 65,535 members (Zip64)",
  ignore: !PYTHON,
  fn: async () => {
    const archive = await write(Array.from({ length: 66_000 }, (_, i) => ({ name: `${i}`, size: 0 })));
    assert.deepEqual(
      await python(archive, "print(json.dumps([len(z.infolist()), z.infolist()[-1].filename]))"),
      [
        66_000,
        "65999",
      ],
    );
    await Deno.remove(archive);
  },
});

Deno.test({
  name: "zipArchive() preserves any content of files, in any pieces",
  ignore: !PYTHON,
  fn: async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 300 }).map((chunk) => new Uint8Array(chunk)), {
      maxLength: 5,
    });
    const files = fc.sample(chunks, 300);
    const archive = await write(files.map((given, i): ArchiveEntry => ({
      name: `${i}`,
      size: given.reduce((sum, { length }) => sum + length, 0),
      open: () => parts(...given),
    })));
    const seen = await python(
      archive,
      "assert z.testzip() is None\nprint(json.dumps([z.read(i).hex() for i in z.infolist()]))",
    );
    await Deno.remove(archive);
    assert.deepEqual(seen, files.map((given) => given.map((chunk) => chunk.toHex()).join("")));
  },
});

Deno.test("zipArchive() fails if a file is longer or shorter than announced", async () => {
  for (const size of [4, 6]) {
    const bytes = new TextEncoder().encode("hello");
    const archive = zipArchive(listed([{ name: "a", size, open: () => parts(bytes) }]));
    await assert.rejects(Array.fromAsync(archive), { message: `5 bytes of a file of ${size}` });
  }
});
