import { until } from "../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { SharingSite } from "../sharing_site.ts";

Deno.test("upload() writes new and existing files, and counts as a use", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE" });
  const chunked = await site.ask("anonymous", "PUT", `access/HPC/${id}/new%20file`, { body: "hello" });
  assert.deepEqual([chunked.status, await chunked.text()], [201, ""]);
  assert.equal(await Deno.readTextFile(`${site.root}/d/new file`), "hello");
  const announced = await site.ask("anonymous", "PUT", `access/HPC/${id}/new%20file`, {
    body: "bye",
    headers: { "Content-Length": "3" },
  });
  assert.equal(announced.status, 200);
  assert.equal(await Deno.readTextFile(`${site.root}/d/new file`), "bye");
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.equal(share.accessCount, 2);
  assert.deepEqual(
    share.uses.map(({ via, bytes, complete }: Record<string, unknown>) => [via, bytes, complete]),
    [["HTTP-upload", 3, true], ["HTTP-upload", 5, true]],
  );
});

Deno.test("upload() to a shared file needs no path", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt", { access: "WRITE" });
  assert.equal((await site.ask("anonymous", "PUT", `access/HPC/${id}`, { body: "x" })).status, 200);
  assert.equal(await Deno.readTextFile(`${site.root}/d/ten.txt`), "x");
});

Deno.test("upload() that ends early is an error, and counts as a use with its bytes", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE" });
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("half"));
    },
    pull() {
      throw new TypeError("client gone");
    },
  });
  await assert.rejects(site.ask("anonymous", "PUT", `access/HPC/${id}/f`, { body }), /client gone/);
  await site.site.allClosed();
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.deepEqual([share.uses[0].bytes, share.uses[0].complete], [4, false]);
});

Deno.test("upload() returns the use of a one-time share if nothing could be written", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE", onetime: true });
  site.site.daemon.sessionFaults.queue.push({ kind: "reply", to: "STOR", reply: "500 Permission denied" });
  assert.equal((await site.ask("anonymous", "PUT", `access/HPC/${id}/f`, { body: "x" })).status, 502);
  assert.equal((await site.ask("anonymous", "PUT", `access/HPC/${id}/f`, { body: "x" })).status, 201);
  assert.equal((await site.ask("anonymous", "PUT", `access/HPC/${id}/f`, { body: "x" })).status, 404);
});

Deno.test("upload() takes a use once it empties a file, even if no new byte arrives", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE", onetime: true });
  const body = new ReadableStream<Uint8Array>({
    pull() {
      throw new TypeError("client gone");
    },
  }, { highWaterMark: 0 });
  await assert.rejects(site.ask("anonymous", "PUT", `access/HPC/${id}/ten.txt`, { body }), /client gone/);
  await site.site.allClosed();
  assert.equal((await Deno.stat(`${site.root}/d/ten.txt`)).size, 0);
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  const [{ path, bytes, complete }, ...others] = share.uses;
  assert.deepEqual([path, bytes, complete, others.length], [`${site.root}/d/ten.txt`, 0, false, 0]);
  assert.equal((await site.ask("anonymous", "PUT", `access/HPC/${id}/sub/x.dat`, { body: "x" })).status, 404);
});

Deno.test("upload() takes a use if its client leaves while the daemon may be emptying the file", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE", onetime: true });
  site.site.daemon.sessionFaults.queue.push({ kind: "hang", on: "STOR" });
  const leaving = new AbortController();
  const path = `access/HPC/${id}/ten.txt`;
  const put = site.ask("anonymous", "PUT", path, { body: "x", signal: leaving.signal });
  const isStoring = () =>
    site.site.daemon.sessions.some(({ commands }) => /^STOR /.test(commands.at(-1) ?? ""));
  await until(isStoring, { everyMs: 1 });
  leaving.abort(new Error("client gone"));
  await assert.rejects(put, /client gone/);
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.deepEqual([share.uses[0]?.bytes, share.uses[0]?.complete], [0, false]);
  assert.equal((await site.ask("anonymous", "PUT", path, { body: "x" })).status, 404);
});

const REFUSALS: [string, string, string, Record<string, string>, number, string][] = [
  ["a share for reading", "READ", "/f", {}, 403, "ERR_NOT_PERMITTED"],
  ["the shared directory itself", "WRITE", "", {}, 400, "ERR_INVALID_REQUEST"],
  ["a path that ends in a slash", "WRITE", "/f/", {}, 400, "ERR_INVALID_REQUEST"],
  ["a part of a file", "WRITE", "/f", { "Content-Range": "bytes 0-1/5" }, 400, "ERR_INVALID_REQUEST"],
  ["an existing directory", "MODIFY", "/sub", {}, 409, "ERR_NOT_A_FILE"],
  ["a file in a missing directory", "WRITE", "/none/f", {}, 404, "ERR_NOT_FOUND"],
  ["a way out", "WRITE", "/..%2fd2%2fcanary", {}, 404, "ERR_NOT_FOUND"],
];

for (const [what, access, path, headers, status, code] of REFUSALS) {
  Deno.test(`upload() refuses ${what}`, async () => {
    await using site = await SharingSite.open();
    const id = await site.share("d/", { access });
    const response = await site.ask("anonymous", "PUT", `access/HPC/${id}${path}`, { body: "x", headers });
    assert.deepEqual([response.status, (await response.json()).code], [status, code]);
  });
}

Deno.test("upload() refuses existing shares too when the operator forbids write access", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "MODIFY" });
  site.parts = { ...site.parts, allowWriteAccess: false };
  assert.equal((await site.ask("anonymous", "PUT", `access/HPC/${id}/f`, { body: "x" })).status, 403);
  assert.equal((await site.ask("anonymous", "GET", `access/HPC/${id}/ten.txt`)).status, 200);
  await site.site.daemon.stop();
});

Deno.test("upload() obeys the conditions of a request, and reads and writes nothing if they fail", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE", onetime: true });
  const path = `access/HPC/${id}/ten.txt`;
  const etag = (await site.ask("anonymous", "HEAD", path)).headers.get("ETag") ?? "";
  let asked = false;
  const conditions: [string, Record<string, string>][] = [
    [path, { "If-None-Match": "*" }],
    [path, { "If-Match": '"other"' }],
    [path, { "If-Unmodified-Since": "Wed, 04 Mar 2026 05:06:06 GMT" }],
    [`access/HPC/${id}/new`, { "If-Match": "*" }],
  ];
  for (const [at, headers] of conditions) {
    const body = new ReadableStream<Uint8Array>({ pull: () => void (asked = true) }, { highWaterMark: 0 });
    const response = await site.ask("anonymous", "PUT", at, { body, headers });
    assert.deepEqual([response.status, (await response.json()).code], [412, "ERR_PRECONDITION_FAILED"]);
  }
  assert.equal(asked, false);
  assert.equal(await Deno.readTextFile(`${site.root}/d/ten.txt`), "0123456789");
  const headers = { "If-Match": etag };
  assert.equal((await site.ask("anonymous", "PUT", path, { body: "x", headers })).status, 200);
  assert.equal(await Deno.readTextFile(`${site.root}/d/ten.txt`), "x");
});

Deno.test("upload() lets exactly one of many requests create a file that must not exist", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE" });
  const statuses = await Promise.all(Array.from({ length: 8 }, async (_, i) => {
    const options = { body: `body ${i}`, headers: { "If-None-Match": "*" } };
    const { status } = await site.ask("anonymous", "PUT", `access/HPC/${id}/new`, options);
    return status;
  }));
  assert.deepEqual(statuses.toSorted(), [201, 412, 412, 412, 412, 412, 412, 412]);
  const winner = statuses.indexOf(201);
  assert.equal(await Deno.readTextFile(`${site.root}/d/new`), `body ${winner}`);
});

Deno.test("upload() whose client leaves stops waiting for a path, and the next request gets it", async () => {
  await using site = await SharingSite.open();
  const { locks } = site.parts.uploads;
  const lost = () => assert.fail("lost");
  const { signal } = new AbortController();
  const end = await locks.take("HPC", "/f", signal, lost);
  const leaving = new AbortController();
  const left = locks.take("HPC", "/f", leaving.signal, lost);
  const next = locks.take("HPC", "/f", signal, lost);
  (await locks.take("HPC", "/g", signal, lost))();
  leaving.abort(new Error("gone"));
  await assert.rejects(left, /gone/);
  end();
  (await next)();
});

/** Access levels permit what the pages say (`accessLevels` in the texts). */
for (
  const [access, expected] of [
    ["READ", { read: 200, add: 403, replace: 403, form: 403, remove: 405 }],
    ["WRITE", { read: 200, add: 201, replace: 200, form: 403, remove: 405 }],
    ["MODIFY", { read: 200, add: 201, replace: 200, form: 201, remove: 405 }],
    ["DROP", { read: 403, add: 201, replace: 201, form: 403, remove: 405 }], // saved under another name
  ] as const
) {
  Deno.test(`a share with ${access} lets others read, add and replace as its level says, and delete nothing`, async () => {
    await using site = await SharingSite.open();
    const id = await site.share("d/", { access });
    const status = async (method: string, name: string, body?: string) => {
      const headers: Record<string, string> = body === undefined
        ? {}
        : { "Content-Length": `${body.length}` };
      const response = await site.ask("anonymous", method, `access/HPC/${id}/${name}`, { body, headers });
      await response.body?.cancel();
      return response.status;
    };
    const form = new FormData();
    form.append("files", new Blob(["x"]), "ten.txt");
    const byForm = () => site.uploadForm("anonymous", id, form, "replace");
    assert.deepEqual({
      read: await status("GET", "ten.txt"),
      add: await status("PUT", "new", "x"),
      replace: await status("PUT", "ten.txt", "x"),
      form: await byForm().then(() => 201, ({ status }) => status),
      remove: await status("DELETE", "ten.txt"),
    }, expected);
  });
}

Deno.test("upload() refuses an unwritable file before it reads the body, with a key or without", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE" });
  const entry = "size=10;modify=20260304050607;type=file;perm=r;UNIX.mode=100444; ten.txt";
  site.site.daemon.sessionFaults.always = {
    kind: "reply",
    to: "MLST",
    reply: `250- Listing\n ${entry}\n250 End`,
  };
  for (const query of ["", "?upload=0123456789abcdefghij"]) {
    const put = (headers: Record<string, string>) =>
      site.ask("anonymous", "PUT", `access/HPC/${id}/ten.txt${query}`, { body: "x", headers });
    const refused = await put({ "Content-Length": "1" });
    assert.deepEqual([refused.status, (await refused.json()).code], [403, "ERR_ACCESS_REFUSED"], query);
    const taken = await put({ "Content-Length": "1", "If-None-Match": "*" });
    assert.deepEqual([taken.status, (await taken.json()).code], [412, "ERR_PRECONDITION_FAILED"], query);
  }
  assert.deepEqual(Array.from(Deno.readDirSync(`${site.root}/d`), ({ name }) => name).sort(), [
    "sub",
    "ten.txt",
  ]);
});
