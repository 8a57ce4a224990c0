import assert from "node:assert/strict";
import fc from "fast-check";
import { type Entry, isWritable, parseEntry } from "../../../src/daemon/session/entry.ts";
import { assertAlike } from "../../fixtures/assert_alike.ts";
import { CHARACTER } from "../../fixtures/character.ts";

const LINES: [string, Entry | undefined][] = [
  [
    "size=10;modify=20260304050607;type=file;perm=rw;UNIX.mode=100644; ten.txt",
    { name: "ten.txt", kind: "file", size: 10, modified: "20260304050607", permissions: "rw", mode: 0o644 },
  ],
  ["size=4096;type=dir;perm=lwe;UNIX.mode=40755; sub", {
    name: "sub",
    kind: "directory",
    size: 4096,
    permissions: "lwe",
    mode: 0o755,
  }],
  ["size=0;type=file;perm=rw;UNIX.mode=10666; pipe", {
    name: "pipe",
    kind: "special",
    size: 0,
    permissions: "rw",
    mode: 0o666,
  }],
  ["size=0;type=file;perm=r;UNIX.mode=20666; null", {
    name: "null",
    kind: "special",
    size: 0,
    permissions: "r",
    mode: 0o666,
  }],
  ["size=0;type=file;UNIX.mode=140755; socket", {
    name: "socket",
    kind: "special",
    size: 0,
    permissions: "",
    mode: 0o755,
  }],
  ["size=1;type=file;  lead", { name: " lead", kind: "file", size: 1, permissions: "" }],
  ["size=1;type=file; a;b=c d", { name: "a;b=c d", kind: "file", size: 1, permissions: "" }],
  ["size=1;type=dir; bare", { name: "bare", kind: "directory", size: 1, permissions: "" }],
  ["size=1;type=dir;UNIX.mode=755; bits", {
    name: "bits",
    kind: "directory",
    size: 1,
    permissions: "",
    mode: 0o755,
  }],
  ["Size=1;Type=file;Unix.Mode=644; x", { name: "x", kind: "file", size: 1, permissions: "", mode: 0o644 }],
  ["size=1;modify=soon;type=file; x", { name: "x", kind: "file", size: 1, permissions: "" }],
  ["type=cdir; .", undefined],
  ["size=-1;type=file; x", undefined],
  ["size=1e3;type=file; x", undefined],
  ["size=99999999999999999;type=file; x", undefined],
  ["size=1;type=file;UNIX.mode=999; x", undefined],
  ["size=1;type=file; ", undefined],
  ["size=1;type=file;x", undefined],
  ["size=1;type=file; a\rb", undefined],
  ["", undefined],
];

for (const [line, expected] of LINES) {
  Deno.test(`parseEntry() of ${JSON.stringify(line)}`, () => assertAlike(parseEntry(line), expected));
}

Deno.test("parseEntry() never throws, for any text", () => {
  fc.assert(fc.property(fc.string({ unit: CHARACTER }), (text) => void parseEntry(text)));
});

Deno.test("isWritable() requires permission to enter a directory, in the notation of either daemon", () => {
  const entry = (kind: Entry["kind"], permissions: string) => ({ name: "x", kind, size: 0, permissions });
  assert.equal(isWritable(entry("file", "rw")), true);
  assert.equal(isWritable(entry("file", "r")), false);
  assert.equal(isWritable(entry("directory", "lwe")), true);
  assert.equal(isWritable(entry("directory", "rwx")), true);
  assert.equal(isWritable(entry("directory", "lw")), false);
  assert.equal(isWritable(entry("directory", "le")), false);
  assert.equal(isWritable(entry("special", "rw")), false);
});
