import { until } from "../../../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { deleteDue } from "../../../../src/resource/access/drop/delete_part.ts";
import { SILENT } from "../../../../src/logging/logger.ts";
import { rows } from "../../../../src/store/database.ts";
import { Secret } from "../../../../src/model/secret.ts";
import { SharingSite } from "../../sharing_site.ts";

const KEY = "0123456789abcdefghij";

interface Sent {
  readonly body?: string | ReadableStream<Uint8Array>;
  readonly range?: string;
  readonly length?: number;
  readonly key?: string;
}

/** Opens a share of Alice's directory `d/` for uploads. */
async function drop(fields: Record<string, unknown> = {}) {
  const site = await SharingSite.open();
  const id = await site.share("d/", { access: "DROP", ...fields });
  const put = async (name: string, { body, range, length, key }: Sent) => {
    const known = length ?? (typeof body === "string" ? new TextEncoder().encode(body).length : undefined);
    const response = await site.ask(
      "anonymous",
      "PUT",
      `access/HPC/${id}/${name}${key ? `?upload=${key}` : ""}`,
      {
        ...(body !== undefined && { body }),
        headers: {
          ...(known !== undefined && { "Content-Length": String(known) }),
          ...(range !== undefined && { "Content-Range": `bytes ${range}` }),
        },
      },
    );
    const text = await response.text();
    const kept = response.headers.get("Upload-Name");
    const received = response.headers.get("Upload-Offset");
    const facts: { readonly name?: string; readonly received?: number; readonly code?: string } = text !== ""
      ? { code: JSON.parse(text).code }
      : kept !== null
      ? { name: decodeURIComponent(kept) }
      : { received: Number(received) };
    return [response.status, facts] as const;
  };
  const shared = async () => (await (await site.ask("alice", "GET", `share/HPC/${id}`)).json()).share;
  const names = () => Array.from(Deno.readDirSync(`${site.root}/d`), ({ name }) => name).toSorted();
  /** Returns the name of an incomplete file with {@link KEY}, which does not show the key. */
  const part = (name: string) =>
    `${name}.${createHash("sha256").update(`HPC/${id}/${KEY}`).digest("hex").slice(0, 32)}.part`;
  return { site, id, put, shared, names, part, [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() };
}

Deno.test("a share for uploads receives files, and none replaces another", async () => {
  await using at = await drop();
  assert.deepEqual(await at.put("a.txt", { body: "one" }), [201, { name: "a.txt" }]);
  assert.deepEqual(await at.put("a.txt", { body: "two" }), [201, { name: "a (2).txt" }]);
  assert.deepEqual(await at.put("ten.txt", { body: "" }), [201, { name: "ten (2).txt" }]);
  assert.deepEqual(await at.put("sub", { body: "x" }), [201, { name: "sub (2)" }]);
  assert.deepEqual(at.names(), ["a (2).txt", "a.txt", "sub", "sub (2)", "ten (2).txt", "ten.txt"]);
  assert.equal(await Deno.readTextFile(`${at.site.root}/d/a (2).txt`), "two");
  assert.equal(await Deno.readTextFile(`${at.site.root}/d/ten.txt`), "0123456789");
  const { received, uses, access } = await at.shared();
  assert.deepEqual([received, uses.length, access], [{ files: 4, bytes: 7 }, 4, "DROP"]);
  assert.deepEqual([uses[0].via, uses[0].bytes, uses[0].complete], ["HTTP-upload", 1, true]);
});

Deno.test("one client's unfinished uploads leave room for others, and for signed-in users there", async () => {
  await using at = await drop();
  const { store } = at.site.parts.uploads.unfinished;
  const clients = async () =>
    (await store.database.read(() => rows("SELECT holder, held_until FROM share_upload ORDER BY key", {})))
      .map(({ holder, held_until }) => `${String(holder).length} ${held_until} ${holder}`);
  for (const key of [KEY, KEY.toUpperCase()]) {
    assert.deepEqual(await at.put("a", { body: "one", range: "0-2/9", key }), [202, { received: 3 }]);
  }
  const [first, second, ...others] = await clients();
  assert.match(first ?? "", /^32 0 [0-9a-f]{32}$/);
  assert.deepEqual([second, others], [first, []], "the address is one client");
  const query = `?upload=${KEY.replace("0", "x")}`;
  const headers = { "Content-Length": "3", "Content-Range": "bytes 0-2/9" };
  await (await at.site.ask("bob", "PUT", `access/HPC/${at.id}/b${query}`, { body: "one", headers })).text();
  assert.deepEqual([(await clients()).length, new Set(await clients()).size], [3, 2]);
});

Deno.test("simultaneous uploads of one name are all kept", async () => {
  await using at = await drop();
  const all = await Promise.all(Array.from({ length: 8 }, (_, i) => at.put("a", { body: `${i}` })));
  const kept = all.map(([status, { name }]) => `${status} ${name}`).toSorted();
  assert.deepEqual(kept, ["201 a", ...Array.from({ length: 7 }, (_, i) => `201 a (${i + 2})`)].toSorted());
  const texts = await Promise.all(
    at.names().filter((name) => /^a\b/.test(name)).map((name) =>
      Deno.readTextFile(`${at.site.root}/d/${name}`)
    ),
  );
  assert.deepEqual(texts.toSorted(), ["0", "1", "2", "3", "4", "5", "6", "7"]);
});

Deno.test("nothing can be seen, read or replaced through a share for uploads", async () => {
  await using at = await drop();
  for (const path of ["", "/", "/ten.txt", "/sub/", "?view=zip", "/ten.txt?view=preview"]) {
    const response = await at.site.ask("anonymous", "GET", `access/HPC/${at.id}${path}`);
    assert.equal(response.status, 403, path);
    assert.match(await response.text(), /This share is for uploading only/);
  }
  for (const send of [true, false]) {
    const session = await at.site.ask("bob", "POST", `access/HPC/${at.id}`, {
      body: { serverPath: `${at.site.root}/d/ten.txt`, send },
      headers: { "Content-Type": "application/json" },
    });
    assert.equal(session.status, 403, "no UFTP session");
    await session.text();
  }
});

const NAMES: readonly (readonly [string, number])[] = [
  [".bashrc", 400],
  [".ssh", 400],
  ["sub/.x", 400],
  [".sub/x", 400],
  ["sub/..%2fx", 404],
  ["sub/", 400],
  ["ten.txt/x", 400],
  ["d/".repeat(17) + "x", 400],
  ["..", 404],
  ["%2e%2e%2fx", 404],
  ["a%2fb", 404],
  ["a%00b", 400],
  ["%0aX", 400],
  ["n".repeat(201), 400],
  ["", 400],
];
for (const [name, expected] of NAMES) {
  Deno.test(`a share for uploads refuses the name "${name.slice(0, 20)}"`, async () => {
    await using at = await drop();
    const before = at.names();
    assert.equal((await at.put(name, { body: "x" }))[0], expected);
    assert.deepEqual(at.names(), before);
  });
}

Deno.test("all other names are kept unchanged", async () => {
  await using at = await drop();
  for (const name of ["ä 日本.txt", "a:b*c?[d]", "-rf", "<script>", "tail ", "x.part", "a..b", "\\"]) {
    assert.deepEqual(await at.put(encodeURIComponent(name), { body: name }), [201, { name }]);
    assert.equal(await Deno.readTextFile(`${at.site.root}/d/${name}`), name);
  }
});

Deno.test("a folder is uploaded file by file, with its directories, and replaces nothing", async () => {
  await using at = await drop({ maxFiles: 7 });
  const root = `${at.site.root}/d`;
  assert.deepEqual(await at.put("run%207/v1.2/readme", { body: "a" }), [201, { name: "run 7/v1.2/readme" }]);
  assert.deepEqual(await at.put("run%207/v1.2/readme", { body: "b" }), [201, {
    name: "run 7/v1.2/readme (2)",
  }]);
  assert.deepEqual(await at.put("sub/x.dat", { body: "c" }), [201, { name: "sub/x (2).dat" }]);
  assert.equal(await Deno.readTextFile(`${root}/sub/x.dat`), "x");
  assert.equal(await Deno.readTextFile(`${root}/run 7/v1.2/readme (2)`), "b");
  // New directories use the quota like files.
  assert.deepEqual((await at.shared()).received, { files: 5, bytes: 3 });
  const begun = await at.put("new/f", { body: "01", range: "0-1/4", key: KEY });
  assert.deepEqual(begun, [202, { received: 2 }]);
  assert.equal((await at.put("other/f", { body: "x" }))[0], 507);
  assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name).toSorted(), [
    at.part("f"),
    "run 7",
    "sub",
    "ten.txt",
  ]);
  assert.deepEqual(await at.put("new/f", { body: "23", range: "2-3/4", key: KEY }), [201, { name: "new/f" }]);
  assert.equal(await Deno.readTextFile(`${root}/new/f`), "0123");
});

Deno.test("simultaneous uploads into one new directory are all kept, and create it once", async () => {
  await using at = await drop({ maxFiles: 10 });
  const all = await Promise.all(
    Array.from({ length: 8 }, (_, i) => at.put(`a/b/${i % 4}`, { body: `${i}` })),
  );
  assert(all.every(([status]) => status === 201));
  assert.equal([...Deno.readDirSync(`${at.site.root}/d/a/b`)].length, 8);
  assert.deepEqual((await at.shared()).received, { files: 10, bytes: 8 });
});

Deno.test("a file is uploaded in pieces, and resumes where it was interrupted", async () => {
  await using at = await drop();
  const ask = { range: "*/10", key: KEY, length: 0 };
  assert.deepEqual(await at.put("f", ask), [202, { received: 0 }]);
  assert.deepEqual(await at.put("f", { body: "0123", range: "0-3/10", key: KEY }), [202, { received: 4 }]);
  const cut = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode("45"));
    },
    pull(controller) {
      controller.error(new Error("connection lost"));
    },
  });
  await assert.rejects(at.put("f", { body: cut, length: 6, range: "4-9/10", key: KEY }), /connection lost/);
  await at.site.site.allClosed();
  assert.deepEqual(await at.put("f", ask), [202, { received: 6 }]);
  assert.deepEqual(at.names(), [at.part("f"), "sub", "ten.txt"]);
  const wrong = await at.put("f", { body: "89", range: "8-9/10", key: KEY });
  assert.deepEqual([wrong[0], wrong[1].code], [409, "ERR_UPLOAD_OFFSET"]);
  assert.equal((await at.shared()).uses.length, 0, "it is a use once it is whole");
  assert.deepEqual(await at.put("f", { body: "6789", range: "6-9/10", key: KEY }), [201, { name: "f" }]);
  assert.deepEqual(await at.put("f", ask), [201, { name: "f" }], "for whoever has not heard of it");
  assert.equal(await Deno.readTextFile(`${at.site.root}/d/f`), "0123456789");
  const { received, uses } = await at.shared();
  assert.deepEqual([received, uses.length], [{ files: 1, bytes: 10 }, 1], "to ask again is no further use");
});

Deno.test("a one-time share answers its upload again if the client repeats it, and refuses other uploads", async () => {
  await using at = await drop({ onetime: true });
  assert.deepEqual(await at.put("f", { body: "0123", range: "0-3/4", key: KEY }), [201, { name: "f" }]);
  for (const sent of [{ range: "*/4", length: 0 }, { range: "0-3/4", body: "0123" }]) {
    assert.deepEqual(await at.put("f", { ...sent, key: KEY }), [201, { name: "f" }]);
    const other = await at.put("f", { ...sent, key: KEY.replace("0", "x") });
    assert.deepEqual([other[0], other[1].code], [404, "ERR_SHARE_NOT_FOUND"]);
  }
  assert.equal((await at.put("g", { body: "x" }))[0], 404);
  assert.deepEqual(at.names(), ["f", "sub", "ten.txt"]);
});

Deno.test("incomplete files have the suffix that the owner's limits require", async () => {
  await using at = await drop();
  for (const limits of [{ includes: "*.dat:*/" }, { excludes: "*.part" }]) {
    at.site.limits = limits;
    const name = `${Object.keys(limits)}.dat`;
    const key = `${KEY}${Object.keys(limits)}`;
    assert.deepEqual(await at.put(name, { body: "01", range: "0-1/4", key }), [202, { received: 2 }]);
    assert.match(at.names().join(), new RegExp(`part-[0-9a-f]{32}-${name}`));
    assert.deepEqual(await at.put(name, { body: "23", range: "2-3/4", key }), [201, { name }]);
    assert.equal(await Deno.readTextFile(`${at.site.root}/d/${name}`), "0123");
    assert.deepEqual(await at.put(name, { body: "x" }), [201, { name: name.replace(".", " (2).") }]);
  }
});

Deno.test("an upload keeps the length it began with, and needs a key that is too long to guess", async () => {
  await using at = await drop();
  assert.deepEqual(await at.put("f", { body: "0123", range: "0-3/10", key: KEY }), [202, { received: 4 }]);
  const refused = [400, { code: "ERR_INVALID_REQUEST" }];
  assert.deepEqual(await at.put("f", { body: "abc", key: KEY }), refused);
  for (const key of ["short", `${KEY}-`, "k".repeat(33)]) {
    assert.deepEqual(await at.put("g", { body: "x", key }), refused, key);
  }
  assert.deepEqual(at.names(), [at.part("f"), "sub", "ten.txt"]);
});

Deno.test("a request that resumes an upload stops the earlier request", async () => {
  await using at = await drop();
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  const silent = new ReadableStream<Uint8Array>({
    pull(controller) {
      resolve();
      controller.enqueue(new TextEncoder().encode("01"));
      return new Promise(() => {});
    },
  }, { highWaterMark: 0 });
  const first = at.put("f", { body: silent, length: 4, range: "0-3/4", key: KEY });
  await begun;
  await until(() => at.names().includes(at.part("f")), { everyMs: 1 });
  const goOn = async () => {
    const [, { received = 0 }] = await at.put("f", { range: "*/4", key: KEY, length: 0 });
    return await at.put("f", { body: "0123".slice(received), range: `${received}-3/4`, key: KEY });
  };
  let went = await goOn();
  assert.notEqual((await first)[0], 201);
  // The daemon may still write received bytes after the first request has ended: then the client asks again.
  await until(async () => {
    if (went[1].code === "ERR_UPLOAD_OFFSET") went = await goOn();
    return went[1].code !== "ERR_UPLOAD_OFFSET";
  });
  assert.deepEqual(went, [201, { name: "f" }]);
  assert.equal(await Deno.readTextFile(`${at.site.root}/d/f`), "0123");
});

Deno.test("simultaneous uploads never exceed the quota of files and bytes of a share", async () => {
  await using at = await drop({ maxFiles: 3, maxBytes: 25 });
  const tries = await Promise.all(
    Array.from({ length: 8 }, (_, i) => at.put(`${i}`, { body: "0123456789" })),
  );
  assert.equal(tries.filter(([status]) => status === 201).length, 2);
  assert(
    tries.every(([status, { code }]) => status === 201 || (status === 507 && code === "ERR_QUOTA_USED")),
  );
  assert.equal((await at.put("small", { body: "12345" }))[0], 201);
  assert.equal((await at.put("none", { body: "" }))[0], 507, "three files");
  assert.deepEqual((await at.shared()).received, { files: 3, bytes: 25 });
});

Deno.test("a share that becomes one for uploads counts what arrives afterwards", async () => {
  await using at = await drop({ access: "WRITE" });
  assert.equal((await at.put("a", { body: "0123456789", key: KEY }))[0], 201);
  assert.equal(await at.site.share("d/", { access: "DROP", maxFiles: 1 }), at.id);
  assert.equal((await at.put("b", { body: "123" }))[0], 201);
  assert.deepEqual((await at.shared()).received, { files: 1, bytes: 3 });
  assert.equal(await at.site.share("d/", { access: "DROP", maxFiles: 1 }), at.id);
  assert.equal((await at.put("c", { body: "" }))[0], 507, "new terms of the same access take nothing away");
});

Deno.test("uploads in progress when a share becomes one for uploads count, and free only what they took", async () => {
  await using at = await drop({ access: "WRITE", lifetime: 100 * 24 * 3600 });
  const [other, third] = [`${KEY}a`, `${KEY}b`];
  assert.equal((await at.put("whole", { body: "0123456789", key: other }))[0], 201);
  assert.equal((await at.put("a", { body: "01", range: "0-1/10", key: KEY }))[0], 202);
  assert.equal((await at.put("b", { body: "01", range: "0-1/10", key: third }))[0], 202);
  assert.equal(
    await at.site.share("d/", { access: "DROP", maxFiles: 3, maxBytes: 25, lifetime: 100 * 24 * 3600 }),
    at.id,
  );
  assert.deepEqual((await at.shared()).received, { files: 2, bytes: 20 });
  assert.equal((await at.put("c", { body: "0123456789" }))[0], 507);
  assert.equal((await at.put("a", { body: "23456789", range: "2-9/10", key: KEY }))[0], 201);
  assert.equal((await at.put("c", { body: "01234" }))[0], 201);
  assert.deepEqual((await at.shared()).received, { files: 3, bytes: 25 });
  at.site.time.ahead = 25 * 3_600_000;
  await deleteDue(at.site.parts, SILENT);
  const { files, bytes } = (await at.site.parts.store.get("HPC", at.id))?.received ?? {};
  assert.deepEqual([files, bytes], [2, 15]);
});

Deno.test("an upload reserves its bytes in advance: one of unknown length is refused", async () => {
  await using at = await drop({ maxBytes: 25 });
  const body = new Blob(["0123456789"]).stream();
  const [status, { code }] = await at.put("a", { body });
  assert.deepEqual([status, code], [411, "ERR_LENGTH_REQUIRED"]);
  const lying = await at.put("b", { body: "0123456789", range: "0-9/99", key: KEY });
  assert.equal(lying[0], 507);
});

Deno.test("an excessive length is refused for uploads of every kind", async () => {
  for (const access of ["DROP", "WRITE"]) {
    await using at = await drop({ access });
    const refused = [400, { code: "ERR_INVALID_REQUEST" }];
    for (const length of [2 ** 50 + 1, 2 ** 53, 1e18]) {
      assert.deepEqual(await at.put("a", { body: "x", length }), refused, access);
      assert.deepEqual(await at.put("a", { body: "x", length, key: KEY }), refused, access);
      const form = '--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nx\r\n--x--';
      await assert.rejects(
        at.site.uploadFormText("anonymous", at.id, form, "multipart/form-data; boundary=x", length),
        { code: "ERR_INVALID_REQUEST" },
      );
    }
    assert.deepEqual(at.names(), ["sub", "ten.txt"]);
    assert.deepEqual((await at.shared()).received ?? { files: 0, bytes: 0 }, { files: 0, bytes: 0 });
  }
});

Deno.test("without a quota of bytes, a file of unknown length is accepted and counted", async () => {
  await using at = await drop();
  assert.equal((await at.put("a", { body: new Blob(["0123456789"]).stream() }))[0], 201);
  assert.deepEqual((await at.shared()).received, { files: 1, bytes: 10 });
});

Deno.test("an upload in pieces stays counted after its record is deleted", async () => {
  await using at = await drop({ lifetime: 100 * 24 * 3600 });
  assert.equal((await at.put("f", { body: "01", range: "0-1/4", key: KEY }))[0], 202);
  assert.equal((await at.put("f", { body: "23", range: "2-3/4", key: KEY }))[0], 201);
  at.site.time.ahead = 25 * 3_600_000;
  await deleteDue(at.site.parts, SILENT);
  assert.deepEqual(at.names(), ["f", "sub", "ten.txt"]);
  assert.deepEqual((await at.shared()).received, { files: 1, bytes: 4 });
});

Deno.test("an upload that fails and cannot resume leaves nothing behind, and frees its quota", async () => {
  await using at = await drop({ maxFiles: 1 });
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.error(new Error("connection lost"));
    },
  });
  await assert.rejects(at.put("a", { body, length: 10 }), /connection lost/);
  assert.deepEqual(at.names(), ["sub", "ten.txt"]);
  assert.equal((await at.put("a", { body: "x" }))[0], 201);
});

Deno.test("directories that an upload created stay counted when it fails", async () => {
  await using at = await drop({ maxFiles: 3 });
  const { sessionFaults } = at.site.site.daemon;
  sessionFaults.always = { kind: "reply", to: "RNTO", reply: "500 Error processing command 'RNTO': no" };
  for (const name of ["new/sub/f", "new/sub/f", "g"]) {
    assert.equal((await at.put(name, { body: "x" }))[0], 502);
  }
  assert.deepEqual(at.names(), ["new", "sub", "ten.txt"]);
  assert.deepEqual((await at.shared()).received, { files: 2, bytes: 0 });
  assert.equal((await at.put("other/f", { body: "x" }))[0], 507);
});

Deno.test("an interrupted upload is kept for a day and then deleted, which frees its quota", async () => {
  await using at = await drop({ maxFiles: 1, lifetime: 100 * 24 * 3600 });
  assert.equal((await at.put("f", { body: "01", range: "0-1/4", key: KEY }))[0], 202);
  at.site.time.ahead = 23.9 * 3_600_000;
  await deleteDue(at.site.parts, SILENT);
  assert.deepEqual(at.names(), [at.part("f"), "sub", "ten.txt"]);
  assert.equal((await at.put("g", { body: "x" }))[0], 507);
  at.site.time.ahead = 24.1 * 3_600_000;
  await deleteDue(at.site.parts, SILENT);
  await deleteDue(at.site.parts, SILENT);
  assert.deepEqual(at.names(), ["sub", "ten.txt"]);
  assert.deepEqual((await at.shared()).received, { files: 0, bytes: 0 });
  assert.equal((await at.put("sub/f", { body: "01", range: "0-1/4", key: KEY }))[0], 202);
  await Deno.remove(`${at.site.root}/d/sub`, { recursive: true });
  at.site.time.ahead = 48.3 * 3_600_000;
  await deleteDue(at.site.parts, SILENT);
  assert.deepEqual((await at.shared()).received, { files: 0, bytes: 0 });
  assert.equal((await at.put("g", { body: "x" }))[0], 201);
});

Deno.test("an interrupted upload is deleted even if its account has left the group since", async () => {
  await using at = await drop({ maxFiles: 1, lifetime: 100 * 24 * 3600 });
  const { users } = at.site.site.daemon;
  const alice = users.get("alice");
  assert.ok(alice);
  assert.equal((await at.site.parts.store.get("HPC", at.id))?.gid, "users");
  assert.equal((await at.put("f", { body: "01", range: "0-1/4", key: KEY }))[0], 202);
  users.set("alice", { ...alice, groups: ["hpc"] });
  at.site.time.ahead = 25 * 3_600_000;
  await deleteDue(at.site.parts, SILENT);
  assert.deepEqual(at.names(), ["sub", "ten.txt"]);
  assert.deepEqual((await at.shared()).received, { files: 0, bytes: 0 });
});

Deno.test("uploads that cannot be deleted do not block the deletion of others", async () => {
  await using at = await drop({ maxFiles: 200, lifetime: 100 * 24 * 3600 });
  const { store } = at.site.parts.uploads.unfinished;
  for (let n = 0; n < 120; n++) {
    const upload = { server: "HPC", share: at.id, key: `k${n}`, uid: "unknown", name: `x${n}` };
    const begun = { ...upload, part: `${at.site.root}/d/x${n}.part`, files: 1, bytes: 0, finished: false };
    await store.begin(begun, "holder");
    await store.release(upload, "holder");
  }
  at.site.time.ahead = 10_000;
  assert.equal((await at.put("f", { body: "01", range: "0-1/4", key: KEY }))[0], 202);
  at.site.time.ahead = 25 * 3_600_000;
  await deleteDue(at.site.parts, SILENT);
  assert.deepEqual(at.names(), ["sub", "ten.txt"]);
  assert.equal((await at.shared()).received.files, 120);
});

Deno.test("a piece of a file is refused without a key, and leaves nothing behind", async () => {
  for (const access of ["DROP", "WRITE"]) {
    await using at = await drop({ access });
    for (const [range, body] of [["0-1/4", "01"], ["0-3/4", "0123"], ["*/4", ""]] as const) {
      const [status, { code }] = await at.put("f", { body, range });
      assert.deepEqual([status, code], [400, "ERR_INVALID_REQUEST"], `${access} ${range}`);
    }
    assert.deepEqual(at.names(), ["sub", "ten.txt"]);
  }
});

Deno.test("a share for uploads must be a directory with writing allowed, and only it has quotas", async () => {
  await using at = await drop();
  const make = async (fields: Record<string, unknown>) => {
    const body = { path: `${at.site.root}/d/`, user: "CN=bob,O=Example", access: "DROP", ...fields };
    const response = await at.site.ask("alice", "POST", "share/HPC", { body });
    await response.text();
    return response.status;
  };
  assert.equal(await make({ path: `${at.site.root}/d/ten.txt` }), 400);
  assert.equal(await make({ access: "READ", maxBytes: 5 }), 400);
  assert.equal(await make({ maxFiles: 0 }), 400);
  assert.equal(await make({ note: "a\nb" }), 400);
  assert.equal(await make({ note: "n".repeat(501) }), 400);
  const moved = await at.site.ask("alice", "PUT", `share/HPC/${at.id}`, {
    body: { path: `${at.site.root}/d/ten.txt` },
  });
  assert.equal(moved.status, 400);
  await moved.text();
  at.site.parts = { ...at.site.parts, allowWriteAccess: false };
  assert.equal(await make({}), 403);
  assert.equal((await at.put("a", { body: "x" }))[0], 403);
});

Deno.test("the page of a share for uploads shows the free quota, and nothing of its contents", async () => {
  await using at = await drop({ maxFiles: 2, maxBytes: 2048, note: "<b>x</b>" });
  await at.put("secret.txt", { body: "x".repeat(1024) });
  const headers = { Accept: "text/html" };
  const response = await at.site.ask("anonymous", "GET", `access/HPC/${at.id}`, { headers });
  const page = await response.text();
  for (
    const expected of [
      /upload 1 more file\./,
      /upload up to 1 KiB/,
      /&#60;b&#62;x&#60;\/b&#62;/,
      /curl -T &#60;file&#62; https:/,
    ]
  ) {
    assert.match(page, expected);
  }
  assert.doesNotMatch(page, /secret|ten\.txt/);
  assert.match(
    response.headers.get("Content-Security-Policy") ?? "",
    /script-src 'sha256-[^']+'; connect-src 'self'/,
  );
  const below = await at.site.ask("anonymous", "GET", `access/HPC/${at.id}/ten.txt`, { headers });
  assert.equal(below.status, 404);
  await below.text();
  const script = await Deno.readTextFile(new URL("../../../../src/pages/upload.js", import.meta.url));
  assert(script.length < 30 * 1024);
});

/** Returns a form with files of one byte each. */
function formOf(...names: readonly string[]): FormData {
  const form = new FormData();
  for (const name of names) form.append("files", new Blob(["x"]), name);
  return form;
}

Deno.test("files of a form are uploaded one after the other, under free names", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/sub/", { access: "DROP" });
  assert.deepEqual(await site.uploadForm("anonymous", id, formOf("a", "b", "a")), ["a", "b", "a (2)"]);
  assert.equal(await Deno.readTextFile(`${site.root}/d/sub/a (2)`), "x");
});

Deno.test("a file of a form uses the quota for its own size, not that of the whole form", async () => {
  for (const end of ["", "\r\n"]) {
    await using at = await drop({ maxFiles: 5, maxBytes: 2000 });
    const send = async (...lengths: readonly number[]) => {
      const parts = lengths.map((length, i) =>
        `--x\r\nContent-Disposition: form-data; name="f"; filename="${i}"\r\n\r\n${"x".repeat(length)}\r\n`
      );
      const body = `${parts.join("")}--x--${end}`;
      return await at.site.uploadFormText("anonymous", at.id, body, "multipart/form-data; boundary=x");
    };
    assert.deepEqual(await send(600, 900), ["0", "1"]);
    await assert.rejects(send(501), { code: "ERR_QUOTA_USED" });
    assert.deepEqual(await send(500), ["0 (2)"]);
    assert.deepEqual((await at.shared()).received, { files: 3, bytes: 2000 });
  }
});

Deno.test("files of a form that the owner may not reach are refused; earlier ones are kept", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/sub/", { access: "DROP" });
  site.limits = { excludes: "*.key" };
  await assert.rejects(site.uploadForm("anonymous", id, formOf("a", "b.key", "c")), {
    code: "ERR_NOT_FOUND",
  });
  const there = (name: string) => Deno.stat(`${site.root}/d/sub/${name}`).then(() => true, () => false);
  assert.deepEqual(await Promise.all(["a", "b.key", "c"].map(there)), [true, false, false]);
});

type Change = (site: SharingSite, id: string) => Promise<unknown> | void;

const terms = (fields: Record<string, unknown>): Change => (site, id) =>
  site.ask("alice", "PUT", `share/HPC/${id}`, { body: fields }).then(({ status }) =>
    assert.equal(status, 200)
  );

/** Change of a share for replacing after the first file of a form, and the answer to the second. */
const CHANGES: readonly (readonly [what: string, change: Change, code: string])[] = [
  ["is removed", (site, id) => site.parts.store.remove("HPC", id), "ERR_SHARE_NOT_FOUND"],
  ["expires", (site) => void (site.time.ahead = 2 * 3_600_000), "ERR_SHARE_NOT_FOUND"],
  ["gets another password", terms({ password: "another" }), "ERR_LINK_PASSWORD"],
  ["is limited to other addresses", terms({ sources: ["192.0.2.0/24"] }), "ERR_NOT_PERMITTED"],
  ["no longer permits replacing", (site) => site.share("d/", { access: "WRITE" }), "ERR_NOT_PERMITTED"],
  ["becomes one for reading", (site) => site.share("d/"), "ERR_NOT_PERMITTED"],
  [
    "becomes one of a single file",
    (site, id) => terms({ path: `${site.root}/d/ten.txt` })(site, id),
    "ERR_INVALID_REQUEST",
  ],
  ["leaves its owner's reach", (site) => void (site.limits = { excludes: "*" }), "ERR_NOT_FOUND"],
  [
    "goes to another owner",
    (site, id) =>
      site.parts.store.amend("HPC", id, { owner: "x", target: "cn=bob", uid: "u", path: `${site.root}/d/` }),
    "ERR_UNAUTHENTICATED",
  ],
];
for (const [what, change, code] of CHANGES) {
  Deno.test(`a share refuses further files of a form after it ${what}`, async () => {
    await using site = await SharingSite.open();
    const id = await site.share("d/", { access: "MODIFY", lifetime: 3600 });
    const uploaded = site.uploading("anonymous", id, formOf("a", "ten.txt"), "replace");
    assert.equal((await uploaded.next()).value, "a");
    await change(site, id);
    await assert.rejects(uploaded.next(), { code });
    assert.equal(await Deno.readTextFile(`${site.root}/d/ten.txt`), "0123456789");
  });
}

Deno.test("the files of a form follow a change of the share's path, with one password check", async () => {
  await using site = await SharingSite.open();
  let checks = 0;
  site.parts = { ...site.parts, guess: (_who, look) => (checks++, look()) };
  const id = await site.share("d/", { access: "DROP", password: "secret" });
  site.linkPassword = new Secret("secret");
  const uploaded = site.uploading("anonymous", id, formOf("a", "b", "c"));
  assert.equal((await uploaded.next()).value, "a");
  await terms({ path: `${site.root}/d/sub/` })(site, id);
  assert.deepEqual(await Array.fromAsync(uploaded), ["b", "c"]);
  assert.equal(await Deno.readTextFile(`${site.root}/d/sub/b`), "x");
  assert.equal(checks, 1);
});

Deno.test("a piece of a file that the owner may not reach is refused", async () => {
  await using at = await drop();
  at.site.limits = { excludes: "*.key" };
  const refused = [404, { code: "ERR_NOT_FOUND" }];
  assert.deepEqual(await at.put("b.key", { body: "0123", range: "0-3/10", key: KEY }), refused);
  assert.deepEqual(at.names(), ["sub", "ten.txt"]);
});

Deno.test("files of a form replace others only with MODIFY, and need a directory", async () => {
  await using site = await SharingSite.open();
  const drops = await site.share("d/", { access: "DROP" });
  await assert.rejects(site.uploadForm("anonymous", drops, formOf("ten.txt"), "replace"), {
    code: "ERR_NOT_PERMITTED",
  });
  const file = await site.share("d/ten.txt", { access: "MODIFY" });
  await assert.rejects(site.uploadForm("anonymous", file, formOf("a")), { code: "ERR_INVALID_REQUEST" });
  assert.equal(await Deno.readTextFile(`${site.root}/d/ten.txt`), "0123456789");
  const all = await site.share("d/sub/", { access: "MODIFY" });
  assert.deepEqual(await site.uploadForm("anonymous", all, formOf("x.dat"), "replace"), ["x.dat"]);
});

Deno.test("a share for reading refuses files of a form", async () => {
  await using site = await SharingSite.open();
  await assert.rejects(site.uploadForm("anonymous", await site.share("d/sub/"), formOf("a")), {
    code: "ERR_NOT_PERMITTED",
  });
});

Deno.test("a name with control characters is an invalid path, and answers have the digest if wanted", async () => {
  await using at = await drop();
  assert.deepEqual(await at.put("a%09b", { body: "x" }), [400, { code: "ERR_INVALID_PATH" }]);
  const response = await at.site.ask("anonymous", "PUT", `access/HPC/${at.id}/a?upload=${KEY}`, {
    body: "hello",
    headers: {
      "Content-Length": "5",
      "Content-Range": "bytes 0-4/5",
      "Want-Repr-Digest": "sha-256=10",
    },
  });
  const digest = createHash("sha256").update("hello").digest("base64");
  assert.deepEqual([response.status, response.headers.get("Repr-Digest")], [201, `sha-256=:${digest}:`]);
  const again = await at.site.ask("anonymous", "PUT", `access/HPC/${at.id}/a?upload=${KEY}`, {
    headers: { "Content-Range": "bytes */5", "Want-Repr-Digest": "sha-256=10" },
  });
  assert.equal(again.headers.get("Repr-Digest"), `sha-256=:${digest}:`, "also of an answer that was lost");
});
