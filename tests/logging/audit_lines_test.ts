import assert from "node:assert/strict";
import { AppendFile } from "../../src/logging/append_file.ts";
import { AuditLines } from "../../src/logging/audit_lines.ts";
import { Sink } from "../../src/logging/sink.ts";
import { createLogger } from "../../src/logging/logger.ts";

async function withFolder(act: (folder: string, log: string[]) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await act(folder, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const logger = (lines: string[]) => createLogger((line) => lines.push(line.slice(25)));

Deno.test("AuditLines appends lines, and creates missing files and folders", async () => {
  await withFolder(async (folder, log) => {
    const path = `${folder}/new/audit.log`;
    const file = new AuditLines(new AppendFile(path), new Sink("audit", logger(log)));
    file.write(["a"]);
    file.write(["b", "c"]);
    assert.deepEqual(await file.close(), []);
    assert.equal(await Deno.readTextFile(path), "a\nb\nc\n");
    assert.deepEqual(log, []);
  });
});

for (const umask of ["077", "022", "000"]) {
  Deno.test(`AuditLines creates its file with mode 0640, as documented, with umask ${umask}`, async () => {
    await withFolder(async (folder) => {
      const path = `${folder}/audit.log`;
      await Deno.writeTextFile(
        `${folder}/write.ts`,
        `import { AppendFile } from ${
          JSON.stringify(import.meta.resolve("../../src/logging/append_file.ts"))
        };
new AppendFile(${JSON.stringify(path)}).append("a\\n");
`,
      );
      // Runs a separate process, since a umask applies to the whole process.
      const { success, stderr } = await new Deno.Command("sh", {
        args: ["-c", 'umask "$0"; exec "$@"', umask, Deno.execPath(), "run", "-A", "--no-check", "write.ts"],
        cwd: folder,
      }).output();
      assert(success, new TextDecoder().decode(stderr));
      assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o640);
    });
  });
}

Deno.test("AuditLines keeps lines that cannot be written, and writes them later in order", async () => {
  await withFolder(async (folder, log) => {
    const path = `${folder}/audit.log`;
    await Deno.mkdir(path); // a folder in place of the file
    const file = new AuditLines(new AppendFile(path), new Sink("audit", logger(log)));
    file.write(["a"]);
    file.write(["b"]);
    assert.equal(log.length, 1);
    assert.match(log[0] ?? "", /^error audit lines not written to=\S+ error=/);
    await Deno.remove(path);
    file.retry();
    file.write(["c"]);
    assert.deepEqual(await file.close(), []);
    assert.equal(await Deno.readTextFile(path), "a\nb\nc\n");
    assert.match(log[1] ?? "", /^warn {2}audit lines written again lost=0/);
  });
});

Deno.test("AuditLines drops the oldest of too many lines, and reports how many", async () => {
  await withFolder(async (folder, log) => {
    const path = `${folder}/audit.log`;
    await Deno.mkdir(path);
    const file = new AuditLines(new AppendFile(path), new Sink("audit", logger(log)));
    file.write(Array.from({ length: 9_999 }, (_, i) => `${i}`));
    file.write(["x", "y", "z"]);
    await Deno.remove(path);
    assert.deepEqual(await file.close(), []);
    const lines = (await Deno.readTextFile(path)).trim().split("\n");
    assert.equal(lines.length, 10_000);
    assert.deepEqual([lines[0], lines.at(-1)], ["2", "z"]);
    assert.match(log[1] ?? "", /written again lost=2/);
  });
});

Deno.test("AuditLines returns unwritten lines when it ends", async () => {
  await withFolder(async (folder, log) => {
    const path = `${folder}/audit.log`;
    await Deno.mkdir(path);
    const file = new AuditLines(new AppendFile(path), new Sink("audit", logger(log)));
    file.write(["a", "b"]);
    assert.deepEqual(await file.close(), ["a", "b"]);
  });
});
