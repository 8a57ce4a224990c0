import assert from "node:assert/strict";
import { join } from "node:path";
import { isPattern, matchingFiles } from "../../../src/config/tls/glob.ts";

const FILES = [
  "ca/a.pem",
  "ca/b.pem",
  "ca/B.PEM",
  "ca/.hidden.pem",
  "ca/a.pem.bak",
  "ca/a+b(1).pem",
  "cb/c.pem",
  "cb/d/e.pem",
];

/** Matches a pattern against the files above; returns files and folders relative to the root. */
async function find(pattern: string): Promise<{ files: string[]; folders: string[] }> {
  const root = await Deno.makeTempDir();
  for (const file of FILES) {
    await Deno.mkdir(join(root, file, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, file), "");
  }
  const { files, folders } = await matchingFiles(join(root, pattern), (error) => assert.fail(String(error)));
  await Deno.remove(root, { recursive: true });
  const relative = (path: string) => path.replace(root, "").replace(/^\//, "");
  return { files: files.map(relative), folders: folders.map(relative) };
}

const PATTERNS: [pattern: string, files: string[], folders: string[]][] = [
  ["ca/*.pem", ["ca/a+b(1).pem", "ca/a.pem", "ca/b.pem"], ["ca"]],
  ["ca/?.pem", ["ca/a.pem", "ca/b.pem"], ["ca"]],
  ["ca/?.*", ["ca/B.PEM", "ca/a.pem", "ca/a.pem.bak", "ca/b.pem"], ["ca"]],
  ["ca/.*", ["ca/.hidden.pem"], ["ca"]],
  ["ca/a+b(?).pem", ["ca/a+b(1).pem"], ["ca"]],
  ["c?/*.pem", ["ca/a+b(1).pem", "ca/a.pem", "ca/b.pem", "cb/c.pem"], ["", "ca", "cb"]],
  ["cb/*", ["cb/c.pem"], ["cb"]],
  ["*/d/*", ["cb/d/e.pem"], ["", "ca/d", "cb/d"]],
  ["none/*.pem", [], ["none"]],
  ["ca/a.pem/*", [], ["ca/a.pem"]],
  ["ca/none*", [], ["ca"]],
];

for (const [pattern, files, folders] of PATTERNS) {
  Deno.test(`matchingFiles() finds ${files.length} files like ${pattern}`, async () => {
    assert.deepEqual(await find(pattern), { files, folders });
  });
}

Deno.test("isPattern() distinguishes patterns from paths", () => {
  assert.ok(isPattern("/a/*.pem") && isPattern("/a?/b"));
  assert.ok(!isPattern("/a/b.pem") && !isPattern("/a[1]/{b}"));
});
