/** Owners and users who lose their rights while the service runs. */
import assert from "node:assert/strict";
import { inTime, until } from "../../fixtures/deadline.ts";
import { setTimeout as delay } from "node:timers/promises";
import { runCommand } from "../../../src/command/run_command.ts";
import { recordedIo } from "../../command/recorded_io.ts";
import { ALICE, ALICE_DN, MAP, passwordLine, PASSWORDS } from "../running_service.ts";
import { answerTo, BOB, BOB_DN, EVERYBODY, SharingSystem, textOf } from "./sharing_system.ts";

const sharing = await SharingSystem.open();
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

async function ban(...args: readonly string[]): Promise<void> {
  const io = recordedIo();
  assert.equal(await runCommand(["ban", ...args, "--config", sharing.system.main], io), 0, io.err);
}

/** Returns the size of a file in bytes; 0 if the file does not exist. */
const sizeOf = (path: string) => Deno.stat(path).then(({ size }) => size, () => 0);

/** More bytes than all buffers on the path hold. */
const BIG = 24 * 1024 ** 2;

/**
 * Starts a download that is too large for all buffers.
 * @returns Function that reads the rest, and reports whether everything arrived.
 */
async function beginDownload(id: string, as: readonly [string, string]): Promise<() => Promise<boolean>> {
  const client = Deno.createHttpClient({ caCerts: [sharing.system.authority.certificate] });
  const headers = { Authorization: `Basic ${btoa(as.join(":"))}` };
  const response = await fetch(`${sharing.origin}/rest/access/HPC/${id}/big`, { client, headers });
  assert.equal(response.status, 200);
  return async () => {
    using _ = client;
    return await response.bytes().then(({ length }) => length === BIG, () => false);
  };
}

Deno.test("a ban aborts the transfers of banned users, and no others", async () => {
  using file = await Deno.create(`${sharing.data}/d/big`);
  await file.truncate(BIG);
  const id = await sharing.share("d/", { access: "WRITE" });

  const [hers, his] = [await beginDownload(id, ALICE), await beginDownload(id, BOB)];
  const uploading = sharing.begin(`${id}/new`, { method: "PUT", as: ALICE });
  const answer = answerTo(uploading);
  uploading.write("the first half, ");
  await sharing.system.logged(/share used .*HTTP-upload/);
  for (const path = `${sharing.data}/d/new`; await sizeOf(path) === 0;) await delay(10);

  await ban("add", "--user", "alice");
  try {
    const response = await inTime(answer, "the end of the upload");
    assert.equal(response.statusCode, 429, "the upload ends while its client sends nothing");
    assert.match(await textOf(response), /ERR_TOO_MANY_FAILURES/);
    assert.equal(await inTime(hers(), "the end of the download"), false);
    await sharing.system.logged(/share use ended by a ban .*HTTP-download/);
  } finally {
    await ban("remove", "--user", "alice");
    uploading.destroy();
  }

  await ban("add", "--user", "bob", "--address", "192.0.2.1");
  assert.equal(await his(), true, "banned at another address");
  await ban("remove", "--user", "bob");

  const again = await beginDownload(id, BOB);
  await ban("add", "--address", "127.0.0.1");
  await ban("remove", "--address", "127.0.0.1");
  assert.equal(await inTime(again(), "the end of the download"), false);
  await sharing.sessionsClosed();
});

Deno.test("a ban aborts the transfers of banned users in a core that a reload replaced", async () => {
  using file = await Deno.create(`${sharing.data}/d/big`);
  await file.truncate(BIG);
  const id = await sharing.share("d/");
  const hers = await beginDownload(id, ALICE);
  const before = sharing.system.log.length;
  await sharing.system.service.reload();
  await sharing.system.logged(/configuration reloaded generation=2/, before);
  await ban("add", "--user", "alice");
  try {
    assert.equal(await inTime(hers(), "the end of the download"), false);
    await sharing.system.logged(/share use ended by a ban .*HTTP-download/, before);
  } finally {
    await ban("remove", "--user", "alice");
  }
  await sharing.sessionsClosed();
});

Deno.test("a ban of an account protects its shares from users who select another account of theirs", async () => {
  sharing.system.daemon().users.set("bob", { uid: 1001, home: sharing.data, groups: ["users"] });
  await changeFile(
    "conf/mapfile.json",
    JSON.stringify({ ...MAP, [BOB_DN]: { role: "user", xlogin: ["alice", "bob"] } }),
  );
  const body = { path: `${sharing.data}/d/`, user: EVERYBODY, access: "READ" };
  const made = await sharing.system.ask("/rest/share/HPC", { as: BOB, body });
  assert.equal(made.status, 201, made.text);
  const id = made.headers.location?.split("/").at(-1);
  const headers = { "X-UNICORE-User-Preferences": "uid:bob" };
  const move = async () => {
    const body = { path: `${sharing.data}/d/sub/` };
    const question = { as: BOB, method: "PUT", headers, body };
    return (await sharing.system.ask(`/rest/share/HPC/${id}`, question)).status;
  };
  const renew = async () => (await sharing.system.ask("/rest/share/HPC", { as: BOB, headers, body })).status;
  await ban("add", "--user", "alice");
  const whileBanned = [await renew(), await move()];
  await ban("remove", "--user", "alice");
  assert.deepEqual([...whileBanned, await renew(), await move()], [429, 429, 201, 200]);
  await changeFile("conf/mapfile.json", mapWith(ALICES));
});

/** Longer than the service relies on what it knew about a caller when the request began, in milliseconds. */
const OUTDATED_MS = 1100;

/**
 * Sends requests that need the daemon, and changes something while the daemon is opening the first session.
 * @returns The status of each answer.
 */
async function meanwhile(
  [first, ...others]: readonly [Requested, ...Requested[]],
  change: () => Promise<void>,
): Promise<number[]> {
  const daemon = sharing.system.daemon();
  const before = daemon.sessionRequests.length;
  const { promise, resolve: release } = Promise.withResolvers<void>();
  daemon.hold = promise;
  const ask = ({ path, ...asked }: Requested) => sharing.system.ask(path, asked);
  try {
    const answers = [ask(first)];
    await until(() => daemon.sessionRequests.length > before, { what: "the daemon opens a session" });
    answers.push(...others.map(ask));
    await change();
    await delay(OUTDATED_MS);
    release();
    return (await Promise.all(answers)).map(({ status }) => status);
  } finally {
    release();
    daemon.hold = undefined;
  }
}

type Requested = { readonly path: string } & NonNullable<Parameters<typeof sharing.system.ask>[1]>;

Deno.test("nobody gets a session after a ban, or after the end of the share, however long the daemon takes", async () => {
  const ids = [await sharing.share("d/"), await sharing.share("d/sub/")];
  const body = { serverPath: `${sharing.data}/d/` };
  const asked = [
    { path: "/rest/auth/HPC", as: ALICE, body },
    { path: `/rest/access/HPC/${ids[0]}`, as: BOB, body },
    { path: `/rest/access/HPC/${ids[1]}`, body: { serverPath: `${sharing.data}/d/sub/` } },
  ] as const;
  try {
    const begin = sharing.system.log.length;
    const statuses = await meanwhile(asked, async () => {
      await sharing.system.logged(/share used.*\/d\/sub\//, begin);
      for (const user of ["alice", "bob"]) await ban("add", "--user", user);
      const io = recordedIo();
      const words = ["share", "remove", ids[1] ?? "", "--config", sharing.system.main];
      assert.equal(await runCommand(words, io), 0, io.err);
      await sharing.system.logged(/share use ended with its share/, begin);
    });
    assert.deepEqual(statuses, [429, 429, 404]);
  } finally {
    for (const user of ["alice", "bob"]) await ban("remove", "--user", user);
  }
});

Deno.test("nobody gets a session or a share with a token after its revocation, however long the daemon takes", async () => {
  const [id, moved] = [await sharing.share("d/", { user: ALICE_DN }), await sharing.share("d/sub/")];
  const ask = sharing.system.ask.bind(sharing.system);
  const tokenOf = async (question: Partial<Requested>) => {
    const headers = { ...question.headers, Accept: "text/plain" };
    const { text } = await ask("/rest/auth/token?renewable=true", { ...question, headers });
    return { headers: { Authorization: `Bearer ${text.trim()}` } };
  };
  const revoked = async (...asked: readonly [Requested, ...Requested[]]) =>
    await meanwhile(asked, async () => {
      await delay(300); // all of them wait for the daemon
      assert.equal((await ask("/rest/auth/tokens", { as: ALICE, method: "DELETE" })).status, 200);
    });
  const body = { serverPath: `${sharing.data}/d/` };
  const first = await tokenOf({ as: ALICE });
  const sessions = await revoked(
    { path: "/rest/auth/HPC", ...first, body },
    { path: "/rest/auth/HPC", ...await tokenOf(first), body },
    { path: `/rest/access/HPC/${id}`, ...first, body },
    { path: "/rest/auth/HPC", as: ALICE, body },
  );
  assert.deepEqual(sessions, [401, 401, 401, 200]);
  const other = {
    ...await tokenOf({ as: ALICE }),
    body: { path: `${sharing.data}/d/ten.txt`, user: BOB_DN },
  };
  assert.deepEqual(await revoked({ path: "/rest/share/HPC", ...other }), [401]);
  const change = { ...await tokenOf({ as: ALICE }), method: "PUT", body: { path: `${sharing.data}/d/` } };
  assert.deepEqual(await revoked({ path: `/rest/share/HPC/${moved}`, ...change }), [401]);
});

Deno.test("nobody creates or moves a share after a ban, however long the daemon takes", async () => {
  const id = await sharing.share("d/sub/x.dat");
  const body = { path: `${sharing.data}/d/ten.txt`, user: BOB_DN };
  const change = { path: `/rest/share/HPC/${id}`, method: "PUT", body: { path: `${sharing.data}/d/` } };
  for (const asked of [{ path: "/rest/share/HPC", body }, change]) {
    try {
      const add = () => ban("add", "--user", "alice");
      assert.deepEqual(await meanwhile([{ ...asked, as: ALICE }], add), [429], asked.path);
    } finally {
      await ban("remove", "--user", "alice");
    }
  }
  const { shares } = (await sharing.system.ask("/rest/share/HPC", { as: ALICE })).json();
  assert(!JSON.stringify(shares).includes("cn=bob"));
});

const EXCLUDED = { excludes: "*/secret/*" };
const ALICES = MAP[ALICE_DN];

/** Returns the map file with another entry for Alice, or without one, and further attributes of both. */
function mapWith(alice: Record<string, unknown> | undefined, more: Record<string, string> = {}): string {
  return JSON.stringify({
    [BOB_DN]: { role: "user", ...more },
    ...(alice !== undefined && { [ALICE_DN]: { ...alice, ...more } }),
  });
}

await Deno.mkdir(`${sharing.data}/d/secret`);
await Deno.writeTextFile(`${sharing.data}/d/secret/s.txt`, "SECRET");

async function changeFile(file: string, text: string): Promise<void> {
  const before = sharing.system.log.length;
  await sharing.system.replace(file, text);
  await sharing.system.logged(new RegExp(`file read again.*${file.split("/").at(-1)}`), before);
}

/** Shares a directory of which the owner must not reach a part. */
async function shareDirectory() {
  await changeFile(
    "conf/mapfile.json",
    mapWith({ ...ALICES, "uftpd.HPC.excludes": EXCLUDED.excludes }),
  );
  const id = await sharing.share("d/");
  const status = async (path: string) => (await sharing.fetch(`${id}/${path}`)).status;
  const session = async () => {
    const body = { serverPath: `${sharing.data}/d/` };
    return (await sharing.system.ask("/rest/access/HPC", { as: BOB, body })).status;
  };
  assert.deepEqual([await status("ten.txt"), await status("secret/s.txt")], [200, 404]);
  return { status, session };
}

Deno.test("shares of an owner who is removed from the map end, and the excludes remain in force", async () => {
  const { status, session } = await shareDirectory();
  await changeFile("conf/mapfile.json", mapWith(undefined));
  assert.deepEqual([await status("ten.txt"), await status("secret/s.txt"), await session()], [404, 404, 404]);
  await changeFile("conf/mapfile.json", mapWith(ALICES));
  assert.deepEqual([await status("ten.txt"), await status("secret/s.txt")], [200, 404]);
  await changeFile("conf/mapfile.json", mapWith({ ...ALICES, role: "guest" }));
  assert.deepEqual([await status("ten.txt"), await session()], [404, 404]);
});

Deno.test("nobody gets a session with an account or limits that were lost while the daemon was opening the session", async () => {
  const everybody = PASSWORDS + passwordLine(BOB, BOB_DN);
  await changeFile("conf/mapfile.json", mapWith(ALICES));
  const id = await sharing.share("d/");
  const body = { serverPath: `${sharing.data}/d/` };
  const asked = [
    { path: "/rest/auth/HPC", as: ALICE, body },
    { path: `/rest/access/HPC/${id}`, as: BOB, body },
    { path: `/rest/access/HPC/${id}`, body },
  ] as const;
  const during = (change: () => Promise<void>) => meanwhile(asked, change);
  try {
    assert.deepEqual(await during(async () => {}), [200, 200, 200]);
    const withoutBob = () => changeFile("conf/users.txt", passwordLine(ALICE, ALICE_DN));
    assert.deepEqual(await during(withoutBob), [200, 401, 200]);
    await changeFile("conf/users.txt", everybody);
    const withoutAlice = () => changeFile("conf/users.txt", passwordLine(BOB, BOB_DN));
    assert.deepEqual(await during(withoutAlice), [401, 404, 404]);
    await changeFile("conf/users.txt", everybody);
    assert.deepEqual(
      await during(() => changeFile("conf/mapfile.json", mapWith({ ...ALICES, xlogin: "nobody" }))),
      [503, 404, 404],
    );
    await changeFile("conf/mapfile.json", mapWith(ALICES));
    const excluding = { ...ALICES, "uftpd.HPC.excludes": `${sharing.data}/d/secret/*` };
    assert.deepEqual(
      await during(() => changeFile("conf/mapfile.json", mapWith(excluding))),
      [503, 503, 503],
    );
    await changeFile("conf/mapfile.json", mapWith(ALICES));
    const limited = mapWith(ALICES, { "uftpd.HPC.rateLimit": "1M" });
    assert.deepEqual(await during(() => changeFile("conf/mapfile.json", limited)), [503, 503, 200]);
    assert.deepEqual(await during(async () => {}), [200, 200, 200], "the next session has the new limits");
  } finally {
    await changeFile("conf/mapfile.json", mapWith(ALICES));
  }
});

Deno.test("shares of an owner who is removed from the password file end", async () => {
  const { status, session } = await shareDirectory();
  await changeFile("conf/users.txt", passwordLine(BOB, BOB_DN));
  assert.deepEqual([await status("ten.txt"), await session()], [404, 404]);
  await changeFile("conf/users.txt", PASSWORDS);
  assert.equal(await status("ten.txt"), 200);
});
