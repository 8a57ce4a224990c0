/** Uploads of own files by pages, in pieces, with clients that disconnect and processes that die. */
import assert from "node:assert/strict";
import { SILENT } from "../../src/logging/logger.ts";
import { type Body, HeaderList } from "../../src/model/http_message.ts";
import { HttpError } from "../../src/model/http_error.ts";
import { deleteDue } from "../../src/resource/access/drop/delete_part.ts";
import { UnfinishedUploads } from "../../src/resource/access/drop/unfinished_uploads.ts";
import type { Call } from "../../src/resource/call.ts";
import { ownFiles } from "../../src/resource/own_files.ts";
import { uploadOwn } from "../../src/resource/own_upload.ts";
import { until } from "../fixtures/deadline.ts";
import { DavSite } from "./dav/dav_site.ts";
import { call, USER } from "./sample_call.ts";

const KEY = "k".repeat(20);

/** Sends a piece of a file below the folder. @returns Status, then offset or code. */
async function put(
  dav: DavSite,
  name: string,
  range: string | null,
  body: string | ReadableStream<Uint8Array<ArrayBuffer>> | null = null,
  { key = KEY, headers = {}, parts = dav.parts }: {
    readonly key?: string | null;
    readonly headers?: Readonly<Record<string, string>>;
    readonly parts?: DavSite["parts"];
  } = {},
): Promise<string> {
  const path = `${dav.root}/${name}`;
  const bytes: Body = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const asked: Call = {
    ...call("HPC", parts.servers),
    request: {
      method: "PUT",
      path: "/files/HPC",
      query: "",
      headers: HeaderList.of({ ...(range !== null && { "Content-Range": `bytes ${range}` }), ...headers }),
      client: { address: "127.0.0.1" },
      body: bytes,
    },
    query: new URLSearchParams(key === null ? {} : { upload: key }),
    caller: {
      kind: "authenticated",
      identity: { dn: "CN=alice", method: "PASSWORD_FILE", via: "PASSWORD" },
    },
    user: { ...USER, uid: "alice", group: "hpc" },
    clientAddress: "127.0.0.1",
  };
  try {
    const files = await ownFiles(asked, parts);
    const user = { owner: "cn=alice", server: "HPC", uid: "alice" };
    const { status, headers } = await uploadOwn(asked, { files, path, user }, parts);
    return `${status} ${headers.get("Upload-Offset") ?? ""}`.trim();
  } catch (error) {
    return error instanceof HttpError ? `${error.status} ${error.code}` : String(error);
  }
}

/** Returns a body that stalls after some bytes until the test cuts it. */
function stalled(text: string) {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  void writer.write(new TextEncoder().encode(text)).catch(() => {});
  return { body: readable, cut: () => writer.abort(new Error("the client is gone")) };
}

Deno.test("an interrupted upload of an own file resumes within a day, and is deleted after it", async () => {
  await using dav = await DavSite.open();
  dav.renewNothing();
  assert.equal(await put(dav, "d/a", "0-3/10", "0123"), "202 4");
  const [part = ""] = dav.names("d");
  assert.match(part, /^a\.[0-9a-f]{32}\.part$/);
  assert.doesNotMatch(part, /kkk/, "who reads the directory cannot go on with it");
  dav.time.ahead = 23 * 3_600_000;
  await deleteDue(dav.parts, SILENT);
  assert.equal(await put(dav, "d/a", "*/10"), "202 4");
  assert.equal(await put(dav, "d/a", "4-6/10", "456"), "202 7");
  dav.time.ahead = 46 * 3_600_000;
  await deleteDue(dav.parts, SILENT);
  assert.deepEqual(dav.names("d"), [part, "sub", "ten.txt"], "a day counts from the last piece");
  dav.time.ahead = 48 * 3_600_000;
  await deleteDue(dav.parts, SILENT);
  assert.deepEqual(dav.names("d"), ["sub", "ten.txt"]);
  assert.equal(await put(dav, "d/a", "*/10"), "202 0", "it begins anew");
  assert.equal(await put(dav, "d/a", "0-9/10", "0123456789"), "201");
  assert.deepEqual(dav.names("d"), ["a", "sub", "ten.txt"]);
});

Deno.test("an upload whose client disconnects resumes where it ended, at another instance too", async () => {
  await using dav = await DavSite.open();
  const { store } = dav.parts.uploads.unfinished;
  const other = {
    ...dav.parts,
    uploads: { ...dav.parts.uploads, unfinished: new UnfinishedUploads(store) },
  };
  const { body, cut } = stalled("01234");
  const first = put(dav, "d/a", "0-9/10", body);
  await until(() =>
    dav.names("d")[0] !== "sub" && Deno.statSync(`${dav.root}/d/${dav.names("d")[0]}`).size === 5
  );
  await cut();
  assert.match(await first, /the client is gone/);
  assert.equal(await put(dav, "d/a", "*/10", null, { parts: other }), "202 5");
  assert.equal(await put(dav, "d/a", "5-9/10", "56789", { parts: other }), "201");
  assert.equal(await put(dav, "d/a", "*/10"), "201", "its answer was lost");
  assert.equal(await Deno.readTextFile(`${dav.root}/d/a`), "0123456789");
  assert.deepEqual(dav.names("d"), ["a", "sub", "ten.txt"]);
});

Deno.test("a request that resumes an own upload stops the earlier one, whose connection may be lost", async () => {
  await using dav = await DavSite.open();
  const { body } = stalled("01234");
  const first = put(dav, "d/a", "0-9/10", body);
  await until(() =>
    dav.names("d")[0] !== "sub" && Deno.statSync(`${dav.root}/d/${dav.names("d")[0]}`).size === 5
  );
  assert.equal(await put(dav, "d/a", "*/10"), "202 5");
  assert.equal(await first, "502 ERR_UPLOAD_INCOMPLETE");
  assert.equal(await put(dav, "d/a", "5-9/10", "56789"), "201");
});

Deno.test("a file that another client locked during the last piece of an upload is not replaced", async () => {
  await using dav = await DavSite.open();
  assert.equal(await put(dav, "d/ten.txt", "0-3/10", "abcd"), "202 4");
  const { readable: body, writable } = new TransformStream<
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>
  >();
  const writer = writable.getWriter();
  const last = put(dav, "d/ten.txt", "4-9/10", body);
  await writer.write(new TextEncoder().encode("efg"));
  const wanted = { path: `${dav.root}/d/ten.txt`, directory: false, deep: false, shared: false, note: "" };
  const lock = await dav.parts.locks.make({ owner: "cn=bob", server: "HPC", uid: "bob" }, wanted, null);
  await writer.write(new TextEncoder().encode("hij"));
  await writer.close();
  assert.equal(await last, "423 ERR_LOCKED");
  assert.equal(await Deno.readTextFile(wanted.path), "0123456789");
  await dav.parts.locks.remove(lock);
  assert.equal(await put(dav, "d/ten.txt", "*/10"), "200");
  assert.equal(await Deno.readTextFile(wanted.path), "abcdefghij");
});

Deno.test("an own upload needs a key, and its pieces a range", async () => {
  await using dav = await DavSite.open();
  assert.equal(await put(dav, "d/a", "0-0/1", "x", { key: null }), "400 ERR_INVALID_REQUEST");
  assert.equal(await put(dav, "d/a", null, "x"), "400 ERR_INVALID_REQUEST");
  assert.deepEqual(dav.names("d"), ["sub", "ten.txt"]);
});

Deno.test("a request for the offset of an own upload starts no upload", async () => {
  await using dav = await DavSite.open();
  assert.equal(await put(dav, "d/a", "*/10"), "202 0");
  assert.equal(await put(dav, "d/a", "0-4/5", "01234"), "201", "it may have another length");
});

Deno.test("an upload of an own file belongs to its path, even if another upload has the same key", async () => {
  await using dav = await DavSite.open();
  assert.equal(await put(dav, "d/a", "0-3/10", "0123"), "202 4");
  assert.equal(await put(dav, "d2/b", "*/10"), "202 0");
  assert.equal(await put(dav, "d2/b", "0-9/10", "abcdefghij"), "201");
  assert.equal(await put(dav, "d/a", "4-9/10", "456789"), "201");
  assert.deepEqual(
    [await Deno.readTextFile(`${dav.root}/d/a`), await Deno.readTextFile(`${dav.root}/d2/b`)],
    ["0123456789", "abcdefghij"],
  );
});

Deno.test("own uploads create directories, accept names of 255 bytes, and obey conditions", async () => {
  await using dav = await DavSite.open();
  const long = "ü".repeat(127) + "x";
  assert.equal(await put(dav, `d/new/deep/${long}`, "0-0/1", "x"), "201");
  assert.deepEqual(dav.names("d/new/deep"), [long]);
  const conditions = { "If-None-Match": "*" };
  assert.equal(
    await put(dav, "d/ten.txt", "0-0/1", "x", { headers: conditions }),
    "412 ERR_PRECONDITION_FAILED",
  );
  assert.equal(
    await put(dav, "d/ten.txt/x", "0-0/1", "x", { headers: conditions }),
    "400 ERR_INVALID_REQUEST",
  );
  assert.equal(await put(dav, "d/ten.txt", "0-0/1", "x"), "200");
  assert.deepEqual(dav.names("d"), ["new", "sub", "ten.txt"]);
});
