/** Tests of requests that make, extend, use and remove locks of WebDAV. */
import assert from "node:assert/strict";
import { canonicalDn } from "../../../src/model/distinguished_name.ts";
import { httpError } from "../../../src/model/http_error.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { PathLocks } from "../../../src/resource/share/path_locks.ts";
import MARK_TABLES from "../../../src/store/postgres/tables/shared_mark.sql" with { type: "text" };
import { Leases } from "../../../src/store/leases.ts";
import { IN_MEMORY, SqliteDatabase } from "../../../src/store/sqlite_database.ts";
import { inTime, until } from "../../fixtures/deadline.ts";
import { DavSite, lockinfo } from "./dav_site.ts";

const WRONG: [method: string, question: { headers?: Record<string, string>; body?: string }, told: string][] =
  [
    ["LOCK", { body: lockinfo(), headers: { Depth: "1" } }, "400 ERR_INVALID_REQUEST"],
    ["LOCK", { body: lockinfo().replaceAll("lockinfo", "propfind") }, "400 ERR_INVALID_REQUEST"],
    ["LOCK", { body: lockinfo().replace("write", "read") }, "400 ERR_INVALID_REQUEST"],
    ["LOCK", { body: lockinfo("other") }, "400 ERR_INVALID_REQUEST"],
    ["LOCK", { body: lockinfo("exclusive/><shared") }, "400 ERR_INVALID_REQUEST"],
    ["LOCK", { body: lockinfo(), headers: { If: "(<a>)" } }, "412 ERR_PRECONDITION_FAILED"],
    ["LOCK", { headers: { If: "(Not <DAV:no-lock>)" } }, "412 ERR_PRECONDITION_FAILED"],
    ["UNLOCK", {}, "400 ERR_INVALID_REQUEST"],
    ["UNLOCK", { headers: { "Lock-Token": "<a> <b>" } }, "400 ERR_INVALID_REQUEST"],
    ["UNLOCK", { headers: { "Lock-Token": "<a>" } }, "409 ERR_NO_LOCK"],
    ["UNLOCK", { headers: { "Lock-Token": "<>" } }, "400 ERR_INVALID_REQUEST"],
    ["UNLOCK", { headers: { "Lock-Token": "urn:uuid:a" } }, "409 ERR_NO_LOCK"],
  ];

Deno.test("WebDAV makes, extends and removes no lock for an invalid request", async () => {
  await using dav = await DavSite.open();
  for (const [method, question, expected] of WRONG) {
    const told = await dav.told(method, "d/ten.txt", question);
    assert.equal(told, expected, `${method} ${JSON.stringify(question)}`);
  }
  const reader = { restrictions: { activity: "read" }, body: lockinfo() } as const;
  assert.equal(await dav.told("LOCK", "d/ten.txt", reader), "403 ERR_ACCESS_REFUSED");
  assert.equal(await dav.told("PUT", "d/ten.txt", { body: "x" }), "204", "nothing is locked");
});

Deno.test("WebDAV locks nothing that the account cannot write", async () => {
  await using dav = await DavSite.open();
  const reply = "250- Listing\n size=10;type=file;perm=r;UNIX.mode=100444; ten.txt\n250 End";
  dav.site.daemon.sessionFaults.queue.push({ kind: "reply", to: "MLST", reply });
  assert.equal(await dav.told("LOCK", "d/ten.txt", { body: lockinfo() }), "403 ERR_ACCESS_REFUSED");
});

Deno.test("WebDAV locks nothing, not for a moment, where the account cannot create a file", async () => {
  await using dav = await DavSite.open();
  const { locks } = dav.parts;
  let made = 0;
  const make = locks.make.bind(locks);
  locks.make = (...args) => {
    made++;
    return make(...args);
  };
  assert.equal(await dav.told("LOCK", "absent/new", { body: lockinfo() }), "409 ERR_NO_DIRECTORY");
  const { sessions } = dav.site;
  const open = sessions.open.bind(sessions);
  sessions.open = async (...args) => {
    const session = await open(...args);
    const entry = session.entry.bind(session);
    session.entry = async (path) => ({ ...await entry(path), permissions: "le" });
    return session;
  };
  assert.equal(await dav.told("LOCK", "d/new", { body: lockinfo() }), "403 ERR_ACCESS_REFUSED");
  assert.equal(made, 0);
});

Deno.test("WebDAV locks no file that others create at the same moment, and leaves its content", async () => {
  await using dav = await DavSite.open();
  const { locks } = dav.parts;
  const make = locks.make.bind(locks);
  locks.make = async (...args) => {
    await Deno.writeTextFile(`${dav.root}/d/new`, "others'");
    return await make(...args);
  };
  assert.equal(await dav.told("LOCK", "d/new", { body: lockinfo() }), "412 ERR_PRECONDITION_FAILED");
  assert.equal(await Deno.readTextFile(`${dav.root}/d/new`), "others'");
  const alice = { owner: canonicalDn("CN=alice"), server: "HPC", uid: "alice" };
  assert.deepEqual(await locks.at(alice, `${dav.root}/d/new`), [], "no lock is left");
});

Deno.test("WebDAV does not take a failure of the daemon for a failed condition", async () => {
  await using dav = await DavSite.open();
  dav.site.sessions.open = () => Promise.reject(httpError("ERR_SERVER_DOWN", { status: "down" }));
  assert.match(
    await dav.told("DELETE", "d/ten.txt", { headers: { If: '(["x"])' } }),
    /^50\d ERR_SERVER_DOWN/,
  );
});

/** Opens marks of instances that share a database. */
function sharedMarks() {
  const steps = [MARK_TABLES.replaceAll("UNLOGGED ", "")];
  const database = new SqliteDatabase(IN_MEMORY, { what: "marks", applicationId: 1, steps }, Date.now);
  const leases = new Leases(database, { log: SILENT });
  return { leases, [Symbol.dispose]: () => database.close() };
}

/** Makes a lock and returns its token. */
async function locked(dav: DavSite, path: string, question = {}): Promise<string> {
  const response = await dav.ask("LOCK", path, { body: lockinfo(), ...question });
  await response.text();
  return response.headers.get("Lock-Token") ?? `${response.status}`;
}

Deno.test("WebDAV makes and extends locks while another user's LOCK waits for a session", async () => {
  await using dav = await DavSite.open();
  const token = await locked(dav, "d/ten.txt");
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: free, resolve: end } = Promise.withResolvers<void>();
  const { sessions } = dav.site;
  const open = sessions.open.bind(sessions);
  sessions.open = async (wanted, signal) => {
    if (wanted.user === "carol") {
      begin();
      await free;
    }
    return await open(wanted, signal);
  };
  const slow = dav.told("LOCK", "d/slow", { body: lockinfo(), as: "carol", uid: "carol" });
  try {
    await inTime(begun, "the session of the slow LOCK");
    const extended = dav.told("LOCK", "d/ten.txt", { headers: { If: `(${token})` } });
    assert.match(await inTime(extended, "the longer lock"), /^200 /);
    assert.match(await inTime(locked(dav, "d/sub/x.dat"), "the lock of another file"), /^<opaquelocktoken:/);
    assert.match(await inTime(locked(dav, "d/slow"), "the lock of the same file"), /^<opaquelocktoken:/);
  } finally {
    end();
  }
  assert.equal(await slow, "423 ERR_LOCKED");
});

Deno.test("WebDAV gives one of several simultaneous requests the exclusive lock of a new file, on all instances", async () => {
  await using dav = await DavSite.open();
  using setting = sharedMarks();
  const { uploads: { unfinished }, locks } = dav.parts;
  const { sessions } = dav.site;
  const [open, make] = [sessions.open.bind(sessions), locks.make.bind(locks)];
  const count = { opened: 0, making: 0, most: 0 };
  sessions.open = (...args) => {
    count.opened++;
    return open(...args);
  };
  locks.make = async (...args) => {
    count.most = Math.max(count.most, ++count.making);
    await until(() => count.opened >= 4, { what: "all look for the file before one makes a lock" });
    return await make(...args).finally(() => count.making--);
  };
  const asked = Array.from({ length: 4 }, (_, i) => {
    dav.parts = { ...dav.parts, uploads: { unfinished, locks: new PathLocks(setting.leases) } };
    return dav.told("LOCK", "d/fresh", { body: lockinfo(), ...(i % 2 === 1 && { as: "carol" }) });
  });
  const all = await inTime(Promise.all(asked), "the answers");
  const told = all.map((text) => text.slice(0, 3)).sort();
  assert.deepEqual(told, ["201", "423", "423", "423"]);
  assert.equal(count.most, 1);
  assert.equal((await Deno.stat(`${dav.root}/d/fresh`)).size, 0);
});

Deno.test("WebDAV locks bind every writer of a file, except their owner with the token", async () => {
  await using dav = await DavSite.open();
  const token = await locked(dav, "d/ten.txt");
  const write = (question = {}) => dav.told("PUT", "d/ten.txt", { body: "x", ...question });
  const carol = { as: "carol", uid: "carol" };
  const shown = { headers: { If: `(${token})` } };
  assert.equal(await write(), "423 ERR_LOCKED");
  assert.equal(await write(carol), "423 ERR_LOCKED");
  assert.equal(await write({ ...carol, ...shown }), "423 ERR_LOCKED");
  assert.equal(await write(shown), "204");
  for (
    const [method, headers] of [["DELETE", {}], ["MOVE", { Destination: `/dav/HPC${dav.root}/d/y` }]] as const
  ) {
    assert.equal(await dav.told(method, "d/ten.txt", { headers }), "423 ERR_LOCKED", method);
    assert.equal(await dav.told(method, "d", { headers }), "423 ERR_LOCKED", method);
  }
  const destination = { Destination: `/dav/HPC${dav.root}/d/ten.txt` };
  assert.equal(await dav.told("COPY", "d2/canary", { headers: destination }), "423 ERR_LOCKED");
  assert.equal(await dav.told("LOCK", "d/ten.txt", { body: lockinfo(), ...carol }), "423 ERR_LOCKED");
  assert.equal(
    await dav.told("UNLOCK", "d/ten.txt", { headers: { "Lock-Token": token }, ...carol }),
    "423 ERR_LOCKED",
  );
  assert.match(await dav.told("LOCK", "d/ten.txt", shown), /^200 .*Second-(?:600|5\d\d)\b/s);
  dav.time.ahead = 601_000;
  assert.equal(await write(carol), "204");
});

/** Requests whose target changes while the new content is on its way. */
const LATE: readonly {
  readonly request: string;
  readonly method: "PUT" | "COPY" | "MOVE";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly meanwhile: "locked" | "created";
  readonly told: string;
}[] = [
  { request: "a PUT", method: "PUT", path: "d/ten.txt", meanwhile: "locked", told: "423 ERR_LOCKED" },
  { request: "a PUT", method: "PUT", path: "d/new", meanwhile: "locked", told: "423 ERR_LOCKED" },
  { request: "a COPY", method: "COPY", path: "d/ten.txt", meanwhile: "locked", told: "423 ERR_LOCKED" },
  { request: "a COPY", method: "COPY", path: "d/new", meanwhile: "locked", told: "423 ERR_LOCKED" },
  {
    request: "a COPY with Overwrite: F",
    method: "COPY",
    path: "d/new",
    headers: { Overwrite: "F" },
    meanwhile: "created",
    told: "412 ERR_PRECONDITION_FAILED",
  },
];
for (const { request, method, path, headers, meanwhile, told } of LATE) {
  Deno.test(`${request} to ${path} replaces nothing that is ${meanwhile} during the transfer`, async () => {
    await using dav = await DavSite.open();
    await Deno.writeTextFile(`${dav.root}/d2/source`, "0123456789");
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const { promise: free, resolve: end } = Promise.withResolvers<void>();
    const { uploads } = dav.parts;
    const { unfinished: { store } } = uploads;
    const start = store.begin.bind(store);
    store.begin = async (upload, holder) => {
      if (upload.name.includes("/.part-")) begin();
      await free;
      await start(upload, holder);
    };
    const asked = method === "PUT" ? dav.told("PUT", path, { body: "late" }) : dav.told(method, "d2/source", {
      headers: { Destination: `/dav/HPC${dav.root}/${path}`, ...headers },
    });
    await inTime(begun, "the transfer");
    store.begin = start;
    const carol = { as: "carol", uid: "carol" };
    if (meanwhile === "created") {
      assert.equal(await dav.told("PUT", path, { body: "theirs", ...carol }), "201");
    } else assert.match(await locked(dav, path, carol), /^<opaquelocktoken:/);
    end();
    assert.equal(await asked, told);
    const left = meanwhile === "created" ? "theirs" : path === "d/new" ? "" : "0123456789";
    assert.equal(await Deno.readTextFile(`${dav.root}/${path}`), left);
    assert.deepEqual(dav.names("d").filter((name) => name.startsWith(".part-")), []);
  });
}

Deno.test("a MOVE with Overwrite: F replaces no file that appears at the last moment", async () => {
  await using dav = await DavSite.open();
  const { locks } = dav.parts.uploads;
  const take = locks.take.bind(locks);
  locks.take = async (...args) => {
    await Deno.writeTextFile(`${dav.root}/d/new`, "theirs");
    return await take(...args);
  };
  const headers = { Destination: `/dav/HPC${dav.root}/d/new`, Overwrite: "F" };
  assert.equal(await dav.told("MOVE", "d2/canary", { headers }), "412 ERR_PRECONDITION_FAILED");
  assert.equal(await Deno.readTextFile(`${dav.root}/d/new`), "theirs");
  assert.deepEqual(dav.names("d2"), ["canary"]);
});

Deno.test("WebDAV locks of a directory bind its account with all below, and no other account", async () => {
  await using dav = await DavSite.open();
  const token = await locked(dav, "d");
  assert.equal(await dav.told("PUT", "d/sub/new", { body: "x" }), "423 ERR_LOCKED");
  assert.equal(await dav.told("PUT", "d/sub/new", { body: "x", as: "carol", uid: "carol" }), "201");
  // As npm webdav sends it.
  assert.equal(await dav.told("UNLOCK", "d/sub", { headers: { "Lock-Token": token.slice(1, -1) } }), "204");
  assert.match(await locked(dav, "unmapped"), /^<opaquelocktoken:/);
  assert.equal((await Deno.stat(`${dav.root}/unmapped`)).size, 0);
  assert.equal(await locked(dav, "unmapped"), "423");
});

Deno.test("WebDAV accepts the ETag of a just written file from the holder of its lock, as davfs2 needs", async () => {
  await using dav = await DavSite.open();
  dav.time.ahead = -3_600_000; // all files count as just written
  const token = await locked(dav, "d/new");
  const tag = async (path = "d/new") => (await dav.ask("HEAD", path)).headers.get("ETag") ?? "";
  const put = (body: string, headers: Record<string, string>, question = {}) =>
    dav.told("PUT", "d/new", { body, headers, ...question });
  const shown = { If: `(${token})` };
  const empty = await tag();
  assert.match(empty, /^"0-\d+"$/);
  assert.equal(await put("first", { ...shown, "If-Match": empty }), "204");
  const fresh = await tag();
  assert.match(fresh, /^W\/"5-\d+-\w+"$/);
  assert.equal(await put("again", { ...shown, "If-Match": empty }), "412 ERR_PRECONDITION_FAILED");
  await Deno.writeTextFile(`${dav.root}/d/new`, "others'");
  assert.equal(await put("again", { ...shown, "If-Match": fresh }), "412 ERR_PRECONDITION_FAILED");
  const now = await tag();
  assert.equal(await put("again", { "If-Match": now }), "423 ERR_LOCKED");
  assert.equal(await put("again", { ...shown, "If-Match": now }), "204");
  assert.equal(await Deno.readTextFile(`${dav.root}/d/new`), "again");
  const modified = (await dav.ask("HEAD", "d/new")).headers.get("Last-Modified") ?? "";
  assert.equal(await put("since", { ...shown, "If-Unmodified-Since": modified }), "204");
  assert.equal((await dav.ask("UNLOCK", "d/new", { headers: { "Lock-Token": token } })).status, 204);
  assert.equal(
    await put("x", { "If-Match": await tag() }),
    "412 ERR_PRECONDITION_FAILED",
    "others may write",
  );
  const ofDirectory = await locked(dav, "d");
  const below = { If: `<https://h/dav/HPC${dav.root}/d> (${ofDirectory})`, "If-Match": await tag() };
  assert.equal(await put("x", below), "412 ERR_PRECONDITION_FAILED", "it binds its account alone");
  await dav.ask("UNLOCK", "d", { headers: { "Lock-Token": ofDirectory } });
  const shared = await locked(dav, "d/new", { body: lockinfo("shared") });
  const byOne = { If: `(${shared})`, "If-Match": await tag() };
  assert.equal(await put("x", byOne), "412 ERR_PRECONDITION_FAILED", "others may have one too");
});

Deno.test("WebDAV needs a shared lock of each locked file to delete, move or replace their directory", async () => {
  await using dav = await DavSite.open();
  const question = { body: lockinfo("shared") };
  const own = await locked(dav, "d/ten.txt", question);
  const other = await locked(dav, "d/sub/x.dat", { ...question, as: "bob" });
  const at = (path: string) => `https://h/dav/HPC${dav.root}/${path}`;
  const If = `<${at("d/ten.txt")}> (${own})`;
  const Destination = at("moved");
  assert.equal(await dav.told("DELETE", "d", { headers: { If } }), "423 ERR_LOCKED");
  assert.equal(await dav.told("MOVE", "d", { headers: { If, Destination } }), "423 ERR_LOCKED");
  await dav.told("MKCOL", "new");
  const onto = { headers: { If, Destination: at("d") } };
  assert.equal(await dav.told("COPY", "new", onto), "423 ERR_LOCKED");
  assert.ok(dav.names("d/sub").includes("x.dat"), "nothing was deleted");
  await dav.ask("UNLOCK", "d/sub/x.dat", { headers: { "Lock-Token": other }, as: "bob" });
  assert.match(await dav.told("DELETE", "d", { headers: { If } }), /^204/);
});

Deno.test("WebDAV writes a file under two shared locks with the token of either", async () => {
  await using dav = await DavSite.open();
  const around = await locked(dav, "d", { body: lockinfo("shared") });
  const own = await locked(dav, "d/ten.txt", { body: lockinfo("shared") });
  for (const token of [around, own]) {
    const headers = { If: `(${token})` };
    assert.equal(await dav.told("PUT", "d/ten.txt", { body: "x", headers }), "204");
  }
  assert.equal(await dav.told("PUT", "d/ten.txt", { body: "x" }), "423 ERR_LOCKED");
});
