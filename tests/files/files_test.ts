import assert from "node:assert/strict";
import { Files } from "../../src/files/files.ts";
import type { PathLimits } from "../../src/files/path_limits.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { deleteDue, withTemporaryPath } from "../../src/resource/access/drop/delete_part.ts";
import { rows } from "../../src/store/database.ts";
import { Site } from "../sharing/site.ts";

const NEVER = new AbortController().signal;
const lock = () => Promise.resolve(() => {});
const text = (words: string) => new TextEncoder().encode(words);

/** Returns all files of alice within limits. */
function files(site: Site, limits: PathLimits = {}): Files {
  const parts = { sessions: new Map([["HPC", site.sessions]]), uploads: site.uploads };
  return new Files(
    site.sessions,
    () => ({
      user: "alice",
      scope: { file: "/", includes: "*" },
      permission: "FULL",
      rateLimit: 0,
      limits: [limits],
      keep: true,
    }),
    () => Promise.resolve(`${site.root}/`),
    (part, work, replacement) =>
      withTemporaryPath({ server: "HPC", uid: "alice", part, replacement }, work, parts),
  );
}

/** Returns the recorded temporary paths. */
function temporaryOf({ uploads }: Site) {
  return uploads.unfinished.store.database.read(() => rows("SELECT part FROM share_upload", {}));
}

Deno.test("Files.write() replaces a file at once, keeps its mode, and leaves nothing of a failed upload", async () => {
  await using site = await Site.open();
  const { root } = site;
  const own = files(site);
  const path = `${root}/d/ten.txt`;
  await Deno.chmod(path, 0o600);
  const write = (words: string, length: number, to = path) =>
    own.write(to, text(words), { length, signal: NEVER, lock });
  assert.equal(await write("new", 3), true);
  assert.equal(await Deno.readTextFile(path), "new");
  assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  assert.equal(await write("new", 3, `${root}/d/file with blanks`), false);
  assert.equal(await write("again", 5, `${root}/d/file with blanks`), true); // in place
  assert.equal(await Deno.readTextFile(`${root}/d/file with blanks`), "again");
  const names = () => Array.from(Deno.readDirSync(`${root}/d`), ({ name }) => name).sort();
  await assert.rejects(write("cut", 9), { code: "ERR_UPLOAD_INCOMPLETE" });
  assert.deepEqual(names(), ["file with blanks", "sub", "ten.txt"]); // removed at once
  assert.equal(await Deno.readTextFile(path), "new");
  await assert.rejects(write("x", 1, `${root}/none/x`), { code: "ERR_NO_DIRECTORY" });
  await assert.rejects(write("x", 1, `${root}/d/sub`), { code: "ERR_NOT_A_FILE" });
  assert.deepEqual(names(), ["file with blanks", "sub", "ten.txt"]);
  assert.deepEqual(await temporaryOf(site), []); // each counts for the limit of the account
});

Deno.test("Files.write() reports the daemon's failure after the transfer, not a missing directory", async () => {
  await using site = await Site.open();
  const { sessionFaults } = site.daemon;
  for (const [then, code] of [["EIO", "ERR_DAEMON_SESSION"], ["ENOSPC", "ERR_STORAGE_FULL"]] as const) {
    sessionFaults.always = { kind: "cut-data", after: 3, then };
    const write = files(site).write(`${site.root}/d/new`, text("0123456789"), { length: 10, signal: NEVER });
    await assert.rejects(write, { code });
  }
});

Deno.test("Files.remove() fails with a clear error if the daemon does not list an entry", async () => {
  await using site = await Site.open();
  const { root } = site;
  await Deno.symlink(`${root}/none`, `${root}/d/sub/broken`);
  const notEmpty = { code: "ERR_NOT_EMPTY", status: 409 };
  await assert.rejects(files(site).remove(`${root}/d`, NEVER), notEmpty);
  await Deno.writeTextFile(`${root}/d2/listed as\nanother`, "");
  await assert.rejects(files(site).remove(`${root}/d2`, NEVER), notEmpty);
  assert.equal(await Deno.readLink(`${root}/d/sub/broken`), `${root}/none`);
});

Deno.test("deleteDue() gives up after the first try on a replaced directory that it cannot delete", async () => {
  await using site = await Site.open();
  const { root, uploads } = site;
  const parts = { sessions: new Map([["HPC", site.sessions]]), uploads };
  await Deno.symlink(`${root}/none`, `${root}/d/sub/broken`);
  await files(site).move(`${root}/d2`, `${root}/d`, { signal: NEVER });
  const { store } = uploads.unfinished;
  assert.equal((await temporaryOf(site)).length, 1);
  await store.database.change(() =>
    rows("UPDATE share_upload SET touched = 0, held_until = 0 RETURNING key", {})
  );
  await deleteDue(parts, SILENT);
  assert.deepEqual(await temporaryOf(site), []);
  assert.equal(await Deno.readTextFile(`${root}/d/canary`), "CANARY");
});

for (
  const [reply, code] of [
    ["[Errno 2] No such file or directory: '/a' -> '/b'", "ERR_NOT_FOUND"],
    ["[Errno 40] Too many levels of symbolic links: '/a' -> '/b'", "ERR_NOT_FOUND"],
    ["[Errno 21] Is a directory: '/a' -> '/b'", "ERR_NOT_A_FILE"],
    ["[Errno 36] File name too long: '/a' -> '/b'", "ERR_INVALID_PATH"],
    ["/b (File name too long)", "ERR_INVALID_PATH"],
    ["[Errno 18] Invalid cross-device link: '/a' -> '/b'", "ERR_OTHER_FILE_SYSTEM"],
    ["[Errno 13] Permission denied: '/a' -> '/b [Errno 28]'", "ERR_ACCESS_REFUSED"],
    ["[Errno 1] Operation not permitted: '/a' -> '/b'", "ERR_ACCESS_REFUSED"],
    ["[Errno 30] Read-only file system: '/a' -> '/b'", "ERR_ACCESS_REFUSED"],
    ["[Errno 5] Input/output error", "ERR_DAEMON_SESSION"],
  ] as const
) {
  Deno.test(`Files.move() fails with ${code} if the daemon answers ${reply}`, async () => {
    await using site = await Site.open();
    const { root } = site;
    const answer = `500 Error processing command 'RNTO': ${reply}`;
    site.daemon.sessionFaults.always = { kind: "reply", to: "RNTO", reply: answer };
    await assert.rejects(files(site).move(`${root}/d/ten.txt`, `${root}/d2/x`, { signal: NEVER }), { code });
  });
}

Deno.test("Files.remove() deletes a tree, but not the targets of its links", async () => {
  await using site = await Site.open();
  const { root } = site;
  await Deno.symlink(`${root}/d2`, `${root}/d/sub/link`);
  await files(site).remove(`${root}/d`, NEVER);
  assert.deepEqual(Array.from(Deno.readDirSync(root), ({ name }) => name), ["d2"]);
  assert.equal(await Deno.readTextFile(`${root}/d2/canary`), "CANARY");
});

Deno.test("Files neither moves, copies nor deletes a directory of which limits hide a part", async () => {
  await using site = await Site.open();
  const { root } = site;
  const own = files(site, { excludes: `${root}/d/sub/*` });
  const refused = { code: "ERR_OUTSIDE_LIMITS" };
  await assert.rejects(own.move(`${root}/d`, `${root}/other`, { signal: NEVER }), refused);
  await assert.rejects(own.remove(`${root}/d`, NEVER), refused);
  await assert.rejects(own.copy(`${root}/d`, `${root}/x`, { shallow: false, signal: NEVER }), refused);
  await assert.rejects(own.move(`${root}/d2`, `${root}/d/sub/x`, { signal: NEVER }), {
    code: "ERR_OUTSIDE_LIMITS",
  });
  await assert.rejects(own.move(`${root}/d2/canary`, `${root}/d/sub/x`, { signal: NEVER }), {
    code: "ERR_NOT_FOUND",
  });
  await assert.rejects(own.move(`${root}/d2/canary`, `${root}/d`, { signal: NEVER }), refused); // what it would replace
});

Deno.test("Files.remove() deletes a tree even if others delete parts of it meanwhile", async () => {
  await using site = await Site.open();
  const { root } = site;
  // Another client deletes these after the listing.
  const lines = ["type=file;size=1;perm=rw; gone", "type=dir;size=1;perm=lwe; gone too"];
  site.daemon.sessionFaults.queue.push({ kind: "injected-directory", lines });
  await files(site).remove(`${root}/d`, NEVER);
  assert.deepEqual(Array.from(Deno.readDirSync(root), ({ name }) => name), ["d2"]);
});

Deno.test("Files.makeDirectory() fails with ERR_EXISTS if another client makes the directory first", async () => {
  await using site = await Site.open();
  const reply = "500 Error processing command 'MKD': [Errno 17] File exists: '/a'";
  site.daemon.sessionFaults.always = { kind: "reply", to: "MKD", reply };
  await assert.rejects(files(site).makeDirectory(`${site.root}/new`, NEVER), { code: "ERR_EXISTS" });
});

Deno.test("Files.copy() replaces a tree with a copy of another, and keeps it if the copy fails", async () => {
  await using site = await Site.open();
  const { root } = site;
  const own = files(site);
  const copying = { shallow: false, signal: NEVER };
  await own.copy(`${root}/d`, `${root}/d2`, copying);
  assert.equal(await Deno.readTextFile(`${root}/d2/sub/x.dat`), "x");
  assert.equal(await Deno.readTextFile(`${root}/d2/ten.txt`), "0123456789");
  assert.deepEqual(Array.from(Deno.readDirSync(root), ({ name }) => name).sort(), ["d", "d2"]);
  await Deno.symlink(`${root}/d`, `${root}/alias`);
  await assert.rejects(own.copy(`${root}/alias`, `${root}/d`, copying), { code: "ERR_NOT_FOUND" });
  assert.equal(await Deno.readTextFile(`${root}/d/ten.txt`), "0123456789");
  for (const to of [`${root}/d`, `${root}/d/sub/deep`, root]) {
    await assert.rejects(own.copy(`${root}/d`, to, copying), { code: "ERR_OVERLAP" });
    await assert.rejects(own.move(`${root}/d`, to, { signal: NEVER }), { code: "ERR_OVERLAP" });
  }
});

Deno.test("Files.move() restores a directory that it cannot replace, and deletes one that it has replaced", async () => {
  await using site = await Site.open();
  const { root } = site;
  const own = files(site);
  const names = () => Array.from(Deno.readDirSync(root), ({ name }) => name).sort();
  await Deno.symlink(`${root}/d`, `${root}/alias`);
  await assert.rejects(own.move(`${root}/alias/sub`, `${root}/d`, { signal: NEVER }), {
    code: "ERR_NOT_FOUND",
  });
  assert.equal(await Deno.readTextFile(`${root}/d/ten.txt`), "0123456789");
  assert.deepEqual(names(), ["alias", "d", "d2"]);
  await own.move(`${root}/d2`, `${root}/d`, { signal: NEVER });
  assert.deepEqual(names(), ["alias", "d"]);
  assert.equal(await Deno.readTextFile(`${root}/d/canary`), "CANARY");
  assert.deepEqual(await site.uploads.unfinished.store.due(), []);
});

Deno.test("deleteDue() restores a directory that was set aside, deletes one that was replaced, and else leaves it", async () => {
  await using site = await Site.open();
  const { root, uploads } = site;
  const parts = { sessions: new Map([["HPC", site.sessions]]), uploads };
  const [from, to, aside] = [`${root}/d2`, `${root}/d`, `${root}/.part-1-d`];
  const { store } = uploads.unfinished;
  const id = { server: "HPC", share: "~alice", key: "k" };
  const set = {
    ...id,
    uid: "alice",
    part: aside,
    name: from,
    target: to,
    files: 0,
    bytes: 0,
    finished: false,
  };
  const recover = async () => {
    await store.begin(set, "dead");
    await store.release(id, "dead");
    await store.database.change(() => rows("UPDATE share_upload SET touched = 0 RETURNING key", {}));
    await deleteDue(parts, SILENT);
    return Array.from(Deno.readDirSync(root), ({ name }) => name).sort();
  };
  await Deno.rename(to, aside);
  assert.deepEqual(await recover(), ["d", "d2"], "put back");
  assert.equal(await Deno.readTextFile(`${to}/ten.txt`), "0123456789");
  await Deno.rename(to, aside);
  await Deno.mkdir(to);
  assert.deepEqual(await recover(), [".part-1-d", "d", "d2"], "somebody else made another one");
  await store.delete(id);
  await Deno.remove(to);
  await Deno.rename(from, to);
  assert.deepEqual(await recover(), ["d"], "deleted, since it was replaced");
  assert.deepEqual(await store.due(), []);
});
