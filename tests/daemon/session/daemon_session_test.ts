import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { TransferResult } from "../../../src/daemon/session/download_stream.ts";
import type { DaemonSession } from "../../../src/daemon/session/daemon_session.ts";
import type { Entry } from "../../../src/daemon/session/entry.ts";
import type { ErrorCode } from "../../../src/model/errors.ts";
import { existingFile, sizeOf } from "../../../src/files/files.ts";
import { isHttpError } from "../../../src/model/http_error.ts";
import type { SessionFault } from "../../daemon_simulator/session_fault.ts";
import { inTime } from "../../fixtures/deadline.ts";
import { SHORT_TIMES, Site } from "../../sharing/site.ts";

/** Downloads a range and returns its text and result. */
async function fetchRange(
  site: Site,
  path: string,
  first: number,
  length: number,
): Promise<{ text: string; result: TransferResult }> {
  using session = await site.session(path);
  const { promise, resolve } = Promise.withResolvers<TransferResult>();
  const stream = await session.download(`${site.root}/${path}`, { first, length, done: resolve });
  const text = await new Response(stream).text();
  return { text, result: await promise };
}

async function put(site: Site, path: string, body: BodyInit, length?: number): Promise<number[]> {
  using session = await site.session(path, { permission: "WRITE" });
  const seen: number[] = [];
  await session.upload(`${site.root}/${path}`, new Response(body).body, {
    ...(length !== undefined && { length }),
    progress: (bytes) => seen.push(bytes),
  });
  return seen;
}

Deno.test("DaemonSession returns the entry at a path", async () => {
  await using site = await Site.open();
  await Deno.utime(`${site.root}/d/ten.txt`, 1772600767, 1772600767);
  using session = await site.session("d/");
  const file = await session.entry(`${site.root}/d/ten.txt`);
  assert.deepEqual([file.name, file.kind, file.size, file.modified], [
    "ten.txt",
    "file",
    10,
    "20260304050607",
  ]);
  assert.match(file.permissions, /r/);
  assert.deepEqual(await session.datedEntry(`${site.root}/d/ten.txt`), {
    ...file,
    modifiedAt: 1772600767000,
  });
  assert.equal((await session.entry(`${site.root}/d/sub`)).kind, "directory");
  assert.equal((await session.entry(`${site.root}/d/`)).kind, "directory");
  await assert.rejects(session.entry(`${site.root}/d/none`), { code: "ERR_NOT_FOUND" });
  await assert.rejects(session.datedEntry(`${site.root}/d/none`), { code: "ERR_NOT_FOUND" });
});

Deno.test("DaemonSession requests only one stream, a base, an include pattern and the local address", async () => {
  await using site = await Site.open();
  (await site.session("d/ten.txt")).close();
  await site.allClosed();
  const values = site.daemon.sessions.at(-1)?.values;
  assert.equal(values?.get("file"), `${site.root}/d/`);
  assert.equal(values?.get("includes"), `${site.root}/d/ten.txt`);
  assert.equal(values?.get("access-permissions"), "READ");
  assert.equal(values?.get("streams"), "1");
  assert.equal(values?.get("persistent"), "false");
  assert.match(values?.get("client-ip") ?? "", /^127\.0\.0\.1\b/);
});

Deno.test("DaemonSession lists a directory", async () => {
  await using site = await Site.open();
  for (const name of [" lead", "trail ", "ä😀", "a;b=c", "<x>", "a\\b", ".hidden"]) {
    await Deno.writeTextFile(`${site.root}/d/sub/${name}`, name);
  }
  await Deno.symlink(site.canary, `${site.root}/d/sub/link`);
  using session = await site.session("d/sub/");
  const entries: Entry[] = [];
  const { complete } = await session.list(`${site.root}/d/sub/`, (entry) => entries.push(entry));
  assert.equal(complete, true);
  assert.deepEqual(
    entries.map(({ name }) => name).toSorted(),
    [" lead", "trail ", "ä😀", "a;b=c", "<x>", "a\\b", ".hidden", "link", "x.dat"].toSorted(),
  );
  await assert.rejects(session.list(`${site.root}/d/sub/none/`, () => {}), { code: "ERR_NOT_FOUND" });
});

Deno.test("DaemonSession ignores lines that a file name inserts into a listing", async () => {
  await using site = await Site.open();
  site.daemon.sessionFaults.queue.push({
    kind: "injected-listing",
    lines: [
      "226 Transfer complete",
      "250 End",
      "type=file;size=x; y",
      "no facts",
      "",
      "type=file;size=1; ..",
    ],
  });
  using session = await site.session("d/");
  const entries: Entry[] = [];
  await session.list(`${site.root}/d/`, (entry) => entries.push(entry));
  assert.deepEqual(entries.map(({ name }) => name).toSorted(), ["sub", "ten.txt"]);
});

const RANGES: [number, number, string][] = [
  [0, 10, "0123456789"],
  [0, 1, "0"],
  [2, 4, "2345"],
  [9, 1, "9"],
];

for (const [first, length, expected] of RANGES) {
  Deno.test(`DaemonSession downloads ${length} bytes from ${first}`, async () => {
    await using site = await Site.open();
    const { text, result } = await fetchRange(site, "d/ten.txt", first, length);
    assert.equal(text, expected);
    assert.deepEqual(result, { bytes: length, complete: true });
  });
}

/** Reads several files as a series and returns their texts. */
async function seriesOf(session: DaemonSession, files: Parameters<DaemonSession["series"]>[0]) {
  const series = await session.series(files);
  const texts: string[] = [];
  try {
    for (const _ of files) {
      const chunks = await Array.fromAsync(series.next());
      texts.push(await new Response(new Blob(chunks).stream()).text());
    }
  } finally {
    series.close();
  }
  return texts;
}

for (const keeps of [true, false]) {
  Deno.test(`DaemonSession reads a series of files in order from a daemon that ${keeps ? "keeps" : "ends"} data connections`, async () => {
    await using site = await Site.open();
    // The commands for all of them are longer than the session sends ahead.
    const names = Array.from({ length: 60 }, (_, i) => `${String(i).padStart(3, "0")}${"n".repeat(120)}`);
    const textOf = (i: number) => `${i}`.repeat(i === 30 ? 100_000 : 1 + i % 3);
    for (const [i, name] of names.entries()) await Deno.writeTextFile(`${site.root}/d/${name}`, textOf(i));
    if (!keeps) {
      site.daemon.sessionFaults.always = {
        kind: "reply",
        to: "KEEP-ALIVE",
        reply: "502 Command not implemented.",
      };
    }
    using session = await site.session("d/");
    const files = names.map((name, i) => ({ path: `${site.root}/d/${name}`, length: textOf(i).length }));
    assert.deepEqual(await seriesOf(session, files), names.map((_, i) => textOf(i)));
    // The session remains usable after the series.
    const listed: string[] = [];
    await session.list(`${site.root}/d/sub/`, ({ name }) => listed.push(name));
    assert.deepEqual(listed, ["x.dat"]);
    const two = [{ path: `${site.root}/d/sub/x.dat`, length: 1 }, {
      path: `${site.root}/d/ten.txt`,
      length: 5,
    }];
    assert.deepEqual(await seriesOf(session, two), ["x", "01234"]);
    assert.deepEqual(await seriesOf(session, two.slice(1)), ["01234"]);
    assert.deepEqual(await seriesOf(session, []), []);
  });
}

Deno.test("DaemonSession ends a series at a missing file, or at once if one is shorter than requested", async () => {
  await using site = await Site.open();
  const ten = { path: `${site.root}/d/ten.txt`, length: 10 };
  const none = { path: `${site.root}/d/none`, length: 1 };
  using missing = await site.session("d/");
  await assert.rejects(seriesOf(missing, [ten, none, ten]), { code: "ERR_ACCESS_REFUSED" });
  using last = await site.session("d/");
  await assert.rejects(seriesOf(last, [ten, none]), { code: "ERR_ACCESS_REFUSED" });
  assert.deepEqual(await seriesOf(last, [ten, ten]), ["0123456789", "0123456789"]);
  for (
    const short of [[ten, { ...ten, length: 11 }], [{ ...ten, length: 11 }, ten], [
      { ...ten, length: 11 },
      ten,
      ten,
    ]]
  ) {
    using session = await site.session("d/");
    await assert.rejects(seriesOf(session, short), { message: "Daemon ended the data early" });
  }
});

Deno.test("DaemonSession closes the connection when the caller stops reading, within a file and between two", async () => {
  await using site = await Site.open({}, { clientIdleMs: 50 });
  await Deno.writeFile(`${site.root}/d/large`, new Uint8Array(1_000_000));
  const large = { path: `${site.root}/d/large`, length: 1_000_000 };
  const ten = { path: `${site.root}/d/ten.txt`, length: 10 };
  for (const first of [large, ten]) {
    using session = await site.session("d/");
    const series = await session.series([first, large]);
    const file = series.next()[Symbol.asyncIterator]();
    await file.next();
    if (first === ten) await file.next();
    await site.allClosed();
    const rest = first === ten ? series.next()[Symbol.asyncIterator]() : file;
    await assert.rejects(async () => {
      while ((await rest.next()).done !== true);
    }, { code: /^ERR_DAEMON_SESSION/ });
    series.close();
  }
});

const ODD_NAMES = [
  " lead",
  "trail ",
  "nbsp\u00a0",
  "a:b",
  "a*b",
  "a[1].txt",
  "q?",
  "ä😀",
  "-rf",
  "a b",
  "c\\d",
  "'\"",
  "~",
];

for (const name of ODD_NAMES) {
  Deno.test(`DaemonSession writes and reads a file named ${JSON.stringify(name)}`, async () => {
    await using site = await Site.open();
    await put(site, `d/${name}`, `content of ${name}`);
    assert.equal(await Deno.readTextFile(`${site.root}/d/${name}`), `content of ${name}`);
    const { size } = await Deno.stat(`${site.root}/d/${name}`);
    assert.equal((await fetchRange(site, `d/${name}`, 0, size)).text, `content of ${name}`);
  });
}

Deno.test("DaemonSession reaches files in directories with wildcard characters in their names", async () => {
  await using site = await Site.open();
  await Deno.mkdir(`${site.root}/d/a[1]*`);
  await put(site, "d/a[1]*/f", "here");
  assert.equal((await fetchRange(site, "d/a[1]*/f", 0, 4)).text, "here");
});

Deno.test("DaemonSession fails a download of a file that shrank", async () => {
  await using site = await Site.open();
  using session = await site.session("d/ten.txt");
  const { promise, resolve } = Promise.withResolvers<TransferResult>();
  const stream = await session.download(`${site.root}/d/ten.txt`, { first: 5, length: 20, done: resolve });
  await assert.rejects(new Response(stream).text(), { code: "ERR_DAEMON_SESSION" });
  assert.deepEqual(await promise, { bytes: 5, complete: false });
});

Deno.test("DaemonSession releases everything when a download is cancelled", async () => {
  await using site = await Site.open();
  const file = await Deno.open(`${site.root}/d/big`, { create: true, write: true });
  await file.truncate(100_000_000);
  file.close();
  using session = await site.session("d/big");
  const { promise, resolve } = Promise.withResolvers<TransferResult>();
  const stream = await session.download(`${site.root}/d/big`, {
    first: 0,
    length: 100_000_000,
    done: resolve,
  });
  const reader = stream.getReader();
  assert.ok((await reader.read()).value);
  await reader.cancel();
  const { bytes, complete } = await promise;
  assert.equal(complete, false);
  assert.ok(bytes < 10_000_000, `${bytes} bytes were read ahead`);
  await site.allClosed();
});

Deno.test("DaemonSession releases everything when its signal fires during a download", async () => {
  await using site = await Site.open();
  const file = await Deno.open(`${site.root}/d/big`, { create: true, write: true });
  await file.truncate(100_000_000);
  file.close();
  const controller = new AbortController();
  using session = await site.session("d/big", {}, controller.signal);
  const { promise, resolve } = Promise.withResolvers<TransferResult>();
  const stream = await session.download(`${site.root}/d/big`, {
    first: 0,
    length: 100_000_000,
    done: resolve,
  });
  const reader = stream.getReader();
  await reader.read();
  controller.abort(new Error("client gone"));
  await assert.rejects(
    (async () => {
      while (!(await reader.read()).done);
    })(),
    /client gone/,
  );
  assert.equal((await promise).complete, false);
  await site.allClosed();
});

Deno.test("DaemonSession gives up on a client that reads nothing", async () => {
  await using site = await Site.open({}, { clientIdleMs: 50 });
  const file = await Deno.open(`${site.root}/d/big`, { create: true, write: true });
  await file.truncate(100_000_000);
  file.close();
  using session = await site.session("d/big");
  const { promise, resolve } = Promise.withResolvers<TransferResult>();
  const stream = await session.download(`${site.root}/d/big`, {
    first: 0,
    length: 100_000_000,
    done: resolve,
  });
  assert.equal((await promise).complete, false);
  await assert.rejects(new Response(stream).text(), { code: "ERR_DAEMON_SESSION_TIMEOUT" });
  await site.allClosed();
});

Deno.test("DaemonSession uploads with and without an announced length, including empty files", async () => {
  await using site = await Site.open();
  assert.deepEqual((await put(site, "d/new", "hello", 5)).at(-1), 5);
  assert.equal(await Deno.readTextFile(`${site.root}/d/new`), "hello");
  await put(site, "d/new", "x");
  assert.equal(await Deno.readTextFile(`${site.root}/d/new`), "x");
  assert.equal((await put(site, "d/new", "", 0)).at(-1), 0);
  assert.equal(await Deno.readTextFile(`${site.root}/d/new`), "");
});

for (const keeps of [true, false]) {
  Deno.test(`DaemonSession writes small files one after the other to a daemon that ${keeps ? "keeps" : "ends"} data connections`, async () => {
    await using site = await Site.open();
    if (!keeps) {
      site.daemon.sessionFaults.always = {
        kind: "reply",
        to: "KEEP-ALIVE",
        reply: "502 Command not implemented.",
      };
    }
    const { root } = site;
    {
      using session = await site.session("d/", { permission: "FULL" });
      const write = async (name: string, text: string, length: number | undefined = text.length) => {
        assert.equal(await session.mayExist(`${root}/d/${name}`), false);
        await session.upload(`${root}/d/${name}`, new Response(text).body, {
          ...(length !== -1 && { length }),
          progress: () => {},
        });
        assert.equal(await Deno.readTextFile(`${root}/d/${name}`), text);
        assert.equal(await session.mayExist(`${root}/d/${name}`), true);
      };
      for (const [name, text] of [["a", "one"], ["b", ""], ["c", "x".repeat(100_000)]] as const) {
        await write(name, text);
      }
      // A daemon closes the data connection when it reports a missing file.
      await assert.rejects(session.entry(`${root}/d/none`), { code: "ERR_NOT_FOUND" });
      await write("d", "after");
      // Larger files and those of unknown length use their own connection.
      await write("large", "x".repeat(1024 ** 2 + 1));
      await write("unknown", "without a length", -1);
      const listed: string[] = [];
      await session.list(`${root}/d/sub/`, ({ name }) => listed.push(name));
      assert.deepEqual(listed, ["x.dat"]);
      await write("e", "again");
      await write("f", "again");
    }
    await site.allClosed();
    const opened = site.daemon.sessions.at(-1)?.commands.filter((command) => command === "EPSV").length;
    assert.equal(opened, keeps ? 6 : 9);
  });
}

/** Uploads a small file from memory, to rename it next. @returns Its digest, if the daemon sent it. */
async function uploadText(session: DaemonSession, path: string, text: string): Promise<string | undefined> {
  const bytes = new TextEncoder().encode(text);
  const seen: number[] = [];
  const digest = await session.upload(path, bytes, {
    length: bytes.length,
    checksum: "SHA-256",
    renames: true,
    progress: (sent) => seen.push(sent),
  });
  assert.deepEqual(seen, [0, bytes.length]);
  return digest;
}

Deno.test("DaemonSession sends small files in memory with the commands, and learns size and digest at once", async () => {
  await using site = await Site.open();
  const { root } = site;
  using session = await site.session("d/", { permission: "WRITE" });
  for (const text of ["hello", "", "x", "y".repeat(16 * 1024), "z".repeat(16 * 1024 + 1)]) {
    const digest = await uploadText(session, `${root}/d/part`, text);
    const expected = createHash("sha256").update(text).digest("hex");
    assert.equal(digest, text.length > 1 ? expected : undefined, "of shorter ones it does not tell the size");
    await session.rename(`${root}/d/part`, `${root}/d/named`);
    assert.equal(await Deno.readTextFile(`${root}/d/named`), text);
  }
  const commands =
    site.daemon.sessions.at(-1)?.commands.flatMap((command) => command.match(/^[A-Z]+/) ?? []) ?? [];
  const from = commands.indexOf("ALLO");
  assert.deepEqual(commands.slice(from, from + 5), ["ALLO", "STOR", "HASH", "RNFR", "RNTO"]);
  // The session renames the file that the caller names, even if it has begun to rename another.
  await uploadText(session, `${root}/d/part`, "other");
  await session.rename(`${root}/d/named`, `${root}/d/last`);
  assert.equal(await Deno.readTextFile(`${root}/d/part`), "other");
});

Deno.test("DaemonSession does without the digest of a small file, but not without its size", async () => {
  await using site = await Site.open();
  const path = `${site.root}/d/part`;
  for (const [to, reply] of [["OPTS", "500 no"], ["HASH", "500 no"], ["HASH", "213 SHA-256 0-4"]] as const) {
    site.daemon.sessionFaults.always = { kind: "reply", to, reply };
    using session = await site.session("d/", { permission: "WRITE" });
    assert.equal(await uploadText(session, path, "hello"), undefined, reply);
    await session.rename(path, `${site.root}/d/named`);
  }
  site.daemon.sessionFaults.always = { kind: "reply", to: "HASH", reply: "213 SHA-256 0-3 ab /part" };
  using session = await site.session("d/", { permission: "WRITE" });
  await assert.rejects(uploadText(session, path, "hello"), { code: "ERR_UPLOAD_INCOMPLETE" });
});

Deno.test("DaemonSession matches replies to commands when the daemon refuses a small file in memory", async () => {
  await using site = await Site.open();
  const { root } = site;
  using session = await site.session("d/", { permission: "WRITE" });
  await assert.rejects(uploadText(session, `${root}/d/none/part`, "hello"), { code: "ERR_NOT_FOUND" });
  assert.equal((await session.entry(`${root}/d/ten.txt`)).size, 10);
  await uploadText(session, `${root}/d/part`, "after");
  assert.equal(await Deno.readTextFile(`${root}/d/part`), "after");
  session.close();
  await site.allClosed();
  site.daemon.sessionFaults.always = { kind: "reply", to: "RNFR", reply: "534 Access denied" };
  using refused = await site.session("d/", { permission: "WRITE" });
  await uploadText(refused, `${root}/d/part`, "hello");
  await assert.rejects(refused.rename(`${root}/d/part`, `${root}/d/named`), { code: "ERR_ACCESS_REFUSED" });
});

for (
  const reply of [
    "502 Command not implemented.",
    "500 Error processing command 'STAT': out of memory",
    "211 End",
  ]
) {
  Deno.test(`DaemonSession does not treat ${JSON.stringify(reply)} as the absence of a file`, async () => {
    await using site = await Site.open();
    site.daemon.sessionFaults.always = { kind: "reply", to: "STAT", reply };
    using session = await site.session("d/", { permission: "WRITE" });
    for (const name of ["ten.txt", "none"]) assert(await session.mayExist(`${site.root}/d/${name}`), name);
    assert.equal(await sizeOf(session, `${site.root}/d/ten.txt`), 10);
    assert.equal(await sizeOf(session, `${site.root}/d/none`), undefined);
    assert.equal(await existingFile(session, `${site.root}/d/none`), undefined);
  });
}

Deno.test("DaemonSession closes a data connection if the daemon does not answer whether it keeps it", {
  sanitizeResources: true,
}, async () => {
  await using site = await Site.open({}, SHORT_TIMES);
  site.daemon.sessionFaults.always = { kind: "hang", on: "KEEP-ALIVE" };
  await assert.rejects(put(site, "d/new", "hello", 5), { code: "ERR_DAEMON_SESSION_TIMEOUT" });
  await site.allClosed();
});

Deno.test("DaemonSession fails at a small file that is shorter than announced", async () => {
  await using site = await Site.open();
  using session = await site.session("d/", { permission: "WRITE" });
  const write = (text: string, length: number) =>
    session.upload(`${site.root}/d/new`, new Response(text).body, { length, progress: () => {} });
  await write("hello", 5);
  await assert.rejects(write("hello", 9), { code: "ERR_UPLOAD_INCOMPLETE" });
  session.close();
  await site.allClosed();
});

Deno.test("DaemonSession treats an upload that ends early as a failure, although the daemon does not", async () => {
  await using site = await Site.open();
  await assert.rejects(put(site, "d/new", "hello", 9), { code: "ERR_UPLOAD_INCOMPLETE" });
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("half"));
    },
    pull(controller) {
      controller.error(new Error("client gone"));
    },
  });
  await assert.rejects(put(site, "d/new", broken), /client gone/);
  await site.allClosed();
});

Deno.test("DaemonSession gives up on a client that sends nothing", async () => {
  await using site = await Site.open({}, { clientIdleMs: 50 });
  let cancelled = false;
  const silent = new ReadableStream<Uint8Array>({ cancel: () => void (cancelled = true) });
  await assert.rejects(put(site, "d/new", silent), { code: "ERR_DAEMON_SESSION_TIMEOUT" });
  assert.equal(cancelled, true);
});

Deno.test("DaemonSession truncates a listing that is too long, and does not wait for its end", async () => {
  await using site = await Site.open();
  const lines = Array.from({ length: 150_000 }, (_, i) => `size=1;type=file; ${"n".repeat(150)}${i}`);
  site.daemon.sessionFaults.queue.push({ kind: "injected-directory", lines });
  using session = await site.session("d/");
  let entries = 0;
  const { complete } = await session.list(`${site.root}/d`, () => void entries++);
  assert.equal(complete, false);
  assert(entries > 100_000 && entries < 150_000, `${entries}`);
});

Deno.test("DaemonSession creates directories, renames and removes, and reports failures", async () => {
  await using site = await Site.open();
  using session = await site.session("d/", { permission: "FULL" });
  const at = (name: string) => `${site.root}/d/${name}`;
  await session.makeDirectory(at("made"));
  assert((await Deno.stat(at("made"))).isDirectory);
  await session.rename(at("ten.txt"), at("made/eleven.txt"));
  assert.equal(await Deno.readTextFile(at("made/eleven.txt")), "0123456789");
  await Deno.writeTextFile(at("other"), "other");
  await session.rename(at("other"), at("made/eleven.txt"));
  assert.equal(await Deno.readTextFile(at("made/eleven.txt")), "other", "replaced");
  await assert.rejects(session.makeDirectory(at("made")), /MKD/);
  using reading = await site.session("d/");
  await assert.rejects(reading.rename(at("made"), at("new")), /RNFR/);
  await assert.rejects(session.rename(at("none"), at("new")), /RNTO/);
  await assert.rejects(session.rename(at("made/eleven.txt"), at("none/new")), /RNTO/);
  await session.remove(at("made/eleven.txt"));
  await assert.rejects(Deno.stat(at("made/eleven.txt")), Deno.errors.NotFound);
  await assert.rejects(session.remove(at("made/eleven.txt")), /DELE/);
  assert.equal((await session.entry(at("made"))).kind, "directory", "it goes on");
});

Deno.test("DaemonSession cannot write in a READ session, nor outside its scope", async () => {
  await using site = await Site.open();
  using reading = await site.session("d/new");
  await assert.rejects(
    reading.upload(`${site.root}/d/new`, null, { progress: () => {} }),
    { code: "ERR_ACCESS_REFUSED" },
  );
  using elsewhere = await site.session("d/", { permission: "WRITE" });
  await assert.rejects(
    elsewhere.upload(`${site.root}/d2/new`, null, { progress: () => {} }),
    { code: "ERR_ACCESS_REFUSED" },
  );
  await assert.rejects(Deno.stat(`${site.root}/d2/new`), Deno.errors.NotFound);
});

Deno.test("DaemonSession distinguishes a pipe from a file, and sends no control characters", async () => {
  await using site = await Site.open();
  const made = await new Deno.Command("mkfifo", { args: [`${site.root}/d/pipe`] }).output();
  assert.ok(made.success);
  using session = await site.session("d/");
  assert.equal((await session.entry(`${site.root}/d/pipe`)).kind, "special");
  await assert.rejects(session.entry(`${site.root}/d/a\r\nDELE ten.txt`), { code: "ERR_DAEMON_SESSION" });
  assert.equal((await session.entry(`${site.root}/d/ten.txt`)).size, 10);
});

type Operation = "open" | "entry" | "list" | "download" | "upload";

const FAULTS: [SessionFault, Operation, ErrorCode | "any"][] = [
  [{ kind: "close-at-once" }, "open", "ERR_DAEMON_SESSION"],
  [{ kind: "no-greeting" }, "open", "ERR_DAEMON_SESSION_TIMEOUT"],
  [{ kind: "reply", to: "PASS", reply: "530 Not logged in: unknown user" }, "open", "ERR_DAEMON_SESSION"],
  [
    {
      kind: "reply",
      to: "PASS",
      reply: "500 Too many active transfer requests / sessions for 'alice' - server limit is 8",
    },
    "open",
    "ERR_TOO_MANY_SESSIONS",
  ],
  [{ kind: "close-after-login" }, "open", "ERR_NOT_FOUND"],
  [{ kind: "hang", on: "MLST" }, "entry", "ERR_DAEMON_SESSION_TIMEOUT"],
  [{ kind: "unterminated-reply", to: "MLST" }, "entry", "ERR_DAEMON_SESSION"],
  [{ kind: "reply", to: "MLST", reply: "250 End" }, "entry", "ERR_DAEMON_SESSION"],
  [{ kind: "reply", to: "MLST", reply: "250- Listing\n250 End" }, "entry", "ERR_DAEMON_SESSION"],
  [
    { kind: "reply", to: "MLST", reply: "250- x\n size=1;type=file; a\n size=1;type=file; b\n250 End" },
    "entry",
    "ERR_DAEMON_SESSION",
  ],
  [{ kind: "reply", to: "MLST", reply: "hello" }, "entry", "ERR_DAEMON_SESSION"],
  [{ kind: "reply", to: "MLST", reply: "250- x\nno space\n250 End" }, "entry", "ERR_DAEMON_SESSION"],
  [{ kind: "reply", to: "MLST", reply: `250 ${"x".repeat(40_000)}` }, "entry", "ERR_DAEMON_SESSION"],
  [
    { kind: "reply", to: "MLST", reply: `250- x\n${" y\n".repeat(40_000)}250 End` },
    "entry",
    "ERR_DAEMON_SESSION",
  ],
  [{ kind: "reply", to: "MLST", reply: "550 no\n250 surplus" }, "list", "ERR_DAEMON_SESSION"],
  [
    { kind: "reply", to: "EPSV", reply: "229 Entering Extended Passive Mode (|||99999|)" },
    "download",
    "ERR_DAEMON_SESSION",
  ],
  [{ kind: "reply", to: "EPSV", reply: "500 no ports" }, "download", "ERR_DAEMON_SESSION"],
  [{ kind: "refused-data-port" }, "download", "any"],
  [{ kind: "silent-data" }, "download", "ERR_DAEMON_SESSION_TIMEOUT"],
  [{ kind: "cut-data", after: 3, then: "226" }, "download", "ERR_DAEMON_SESSION"],
  [{ kind: "cut-data", after: 3, then: "ENOSPC" }, "download", "ERR_DAEMON_SESSION"],
  [{ kind: "cut-data", after: 3, then: "close" }, "download", "ERR_DAEMON_SESSION"],
  [{ kind: "cut-data", after: 3, then: "226" }, "upload", "any"],
  [{ kind: "cut-data", after: 3, then: "ENOSPC" }, "upload", "any"],
  [{ kind: "cut-data", after: 3, then: "close" }, "upload", "any"],
  [{ kind: "no-226" }, "download", "ERR_DAEMON_SESSION_TIMEOUT"],
  [{ kind: "no-226" }, "upload", "ERR_DAEMON_SESSION"],
  [{ kind: "no-226" }, "list", "ERR_DAEMON_SESSION_TIMEOUT"],
  [{ kind: "reply", to: "STOR", reply: "500 No space left on device" }, "upload", "ERR_STORAGE_FULL"],
  [{ kind: "reply", to: "RETR", reply: "550 not readable" }, "download", "ERR_ACCESS_REFUSED"],
];

for (const [fault, operation, expected] of FAULTS) {
  const what = JSON.stringify(fault).slice(0, 80);
  Deno.test(`DaemonSession fails cleanly when the daemon does ${what} on ${operation}`, async () => {
    await using site = await Site.open({}, SHORT_TIMES);
    site.daemon.sessionFaults.always = fault;
    const operate = async () => {
      if (operation === "download") return await fetchRange(site, "d/ten.txt", 0, 10);
      if (operation === "upload") return await put(site, "d/new", "0123456789", 10);
      using session = await site.session("d/");
      if (operation === "open") return;
      await session.entry(`${site.root}/d/ten.txt`).catch((error) => {
        if (operation === "entry" || !isHttpError(error, "ERR_NOT_FOUND")) throw error;
      });
      await session.list(`${site.root}/d/`, () => {});
    };
    const failure = await inTime(operate(), "the end").catch((error: unknown) => error);
    assert(failure instanceof Error, "it does not fail");
    if (expected === "any") assert.doesNotMatch(failure.message, /did not come/);
    else assert.equal("code" in failure ? failure.code : failure.message, expected);
    site.daemon.sessionFaults.always = undefined;
    await site.allClosed();
  });
}
