import assert from "node:assert/strict";
import { SILENT } from "../../../src/logging/logger.ts";
import { deleteDue } from "../../../src/resource/access/drop/delete_part.ts";
import { until } from "../../fixtures/deadline.ts";
import { LONG } from "../../long/results.ts";
import { DavSite, lockinfo } from "./dav_site.ts";

const WRONG_BODIES: [method: string, body: string][] = [
  ["PROPFIND", lockinfo()],
  ["PROPFIND", '<propfind xmlns="DAV:"><include/></propfind>'],
  ["PROPFIND", '<propfind><prop xmlns="DAV:"><getetag/></prop></propfind>'],
  ["PROPPATCH", lockinfo()],
];

Deno.test("WebDAV refuses a body that the method does not expect", async () => {
  await using dav = await DavSite.open();
  for (const [method, body] of WRONG_BODIES) {
    const told = await dav.told(method, "d/ten.txt", { headers: { Depth: "0" }, body });
    assert.equal(told, "400 ERR_INVALID_REQUEST", `${method} ${body}`);
  }
});

const WRONG_REQUESTS: [method: string, path: string, headers: Record<string, string>, told: string][] = [
  ["PROPFIND", "d", { Depth: "2" }, "400 ERR_INVALID_REQUEST"],
  ["COPY", "d", { Depth: "1" }, "400 ERR_INVALID_REQUEST"],
  ["MOVE", "d", { Depth: "0" }, "400 ERR_INVALID_REQUEST"],
  ["DELETE", "d", { Depth: "0" }, "400 ERR_INVALID_REQUEST"],
  ["COPY", "d/ten.txt", { Overwrite: "X" }, "400 ERR_INVALID_REQUEST"],
  ["PUT", "d/new/", {}, "405 ERR_METHOD_NOT_ALLOWED"],
  ["GET", "d/ten.txt/", {}, "404 ERR_NOT_FOUND"],
  ["PROPFIND", "d/ten.txt/", { Depth: "0" }, "404 ERR_NOT_FOUND"],
  ["MKCOL", "/dav/HPC/", {}, "405 ERR_EXISTS"],
];

Deno.test("WebDAV refuses requests whose headers or paths contradict the method", async () => {
  await using dav = await DavSite.open();
  const Destination = `/dav/HPC${dav.root}/d/new`;
  for (const [method, path, headers, expected] of WRONG_REQUESTS) {
    const told = await dav.told(method, path, { headers: { Destination, ...headers } });
    assert.equal(told, expected, `${method} ${path} ${JSON.stringify(headers)}`);
  }
  assert.deepEqual(dav.names("d"), ["sub", "ten.txt"]);
});

Deno.test("WebDAV does not show part of a directory as the whole", async () => {
  await using dav = await DavSite.open();
  const lines = Array.from({ length: 100_001 }, () => "x");
  dav.site.daemon.sessionFaults.queue.push({ kind: "injected-directory", lines });
  assert.match(await dav.told("PROPFIND", "d", { headers: { Depth: "1" } }), /^[45]\d\d ERR_TREE_TOO_LARGE/);
});

Deno.test("WebDAV shows servers, a directory with its entries, a file, and only wanted properties", async () => {
  await using dav = await DavSite.open();
  const servers = await dav.told("PROPFIND", "/dav/", { headers: { Depth: "1" } });
  assert.match(servers, /^207 .*<D:href>\/dav\/<\/D:href>.*<D:href>\/dav\/HPC\/<\/D:href>/s);
  const shown = await dav.told("PROPFIND", "/dav/HPC/~/d", { headers: { Depth: "1" } });
  const hrefs = [...shown.matchAll(/<D:href>([^<]*)<\/D:href>/g)].map(([, href]) => href).sort();
  assert.deepEqual(hrefs, ["/dav/HPC/~/d/", "/dav/HPC/~/d/sub/", "/dav/HPC/~/d/ten.txt"]);
  assert.match(shown, /<D:getcontentlength>10<\/D:getcontentlength>.*Wed, 04 Mar 2026 05:06:07 GMT/s);
  const body = '<a:propfind xmlns:a="DAV:"><a:prop><a:resourcetype/><x xmlns="urn:y"/></a:prop></a:propfind>';
  const one = await dav.told("PROPFIND", "d/ten.txt", { headers: { Depth: "0" }, body });
  assert.match(one, /<D:resourcetype><\/D:resourcetype><\/D:prop><D:status>HTTP\/1.1 200 OK/);
  assert.match(one, /<x xmlns="urn:y"\/><\/D:prop><D:status>HTTP\/1.1 404 Not Found/);
  const names = '<propfind xmlns="DAV:"><propname/></propfind>';
  const named = await dav.told("PROPFIND", "d/ten.txt", { headers: { Depth: "0" }, body: names });
  assert.match(named, /<D:getcontentlength\/>/);
  assert.doesNotMatch(named, />10</);
  for (const question of [{}, { headers: { Depth: "infinity" } }]) {
    for (const path of ["d", "/dav/"]) {
      assert.match(await dav.told("PROPFIND", path, question), /^403 .*propfind-finite-depth/s, path);
    }
    // Clients ask so whether a file exists (RFC 4918, 9.1: without the header, the depth is infinite).
    assert.match(await dav.told("PROPFIND", "d/ten.txt", question), /^207 .*<D:getcontentlength>10</s);
    assert.equal(await dav.told("PROPFIND", "d/none", question), "404 ERR_NOT_FOUND");
  }
  // Some clients know the named entities only: they read &#34; as text.
  const etag = /<D:getetag>(.*?)<\/D:getetag>/.exec(shown)?.[1]?.replaceAll("&quot;", '"');
  assert.equal((await dav.ask("HEAD", "d/ten.txt")).headers.get("ETag"), etag);
});

Deno.test("WebDAV reads ranges and digests, writes with conditions and digests", async () => {
  await using dav = await DavSite.open();
  const part = await dav.ask("GET", "d/ten.txt", {
    headers: { Range: "bytes=2-4", "Want-Repr-Digest": "sha-256=1" },
  });
  assert.deepEqual([part.status, await part.text(), part.headers.get("Content-Range")], [
    206,
    "234",
    "bytes 2-4/10",
  ]);
  const digest = "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:";
  assert.match(part.headers.get("Repr-Digest") ?? "", /^sha-256=:[A-Za-z0-9+/]{43}=:$/);
  const etag = (await dav.ask("HEAD", "d/ten.txt")).headers.get("ETag") ?? "";
  const put = (headers: Record<string, string>, body = "new") =>
    dav.told("PUT", "d/ten.txt", { headers, body });
  assert.equal(await put({ "If-None-Match": "*" }), "412 ERR_PRECONDITION_FAILED");
  assert.equal(await put({ "If-Match": '"other"' }), "412 ERR_PRECONDITION_FAILED");
  assert.equal(await put({ "Repr-Digest": digest }), "400 ERR_DIGEST_MISMATCH");
  for (
    const [name, value] of [
      ["Repr-Digest", "sha-256=AAAA"],
      ["Repr-Digest", "sha-256=:A A:"],
      ["Repr-Digest", "unixsum=1, sha-256"],
      ["OC-Checksum", "SHA1"],
      ["OC-Checksum", "sha256:xyz"],
      ["Content-Range", "bytes 0-2/3"],
    ] as const
  ) assert.equal(await put({ [name]: value }), "400 ERR_INVALID_REQUEST", `${name}: ${value}`);
  assert.equal(await Deno.readTextFile(`${dav.root}/d/ten.txt`), "0123456789");
  const sha1 = "c2a6b03f190dfb2b4aa91f8af8d477a9bc3401dc"; // of `new`
  assert.equal(
    await put({ "If-Match": etag, "OC-Checksum": `SHA1:${sha1}`, "Repr-Digest": "unixsum=:AA==:" }),
    "204",
  );
  assert.equal(await Deno.readTextFile(`${dav.root}/d/ten.txt`), "new");
  assert.equal(await dav.told("PUT", "d/made", { body: "" }), "201");
  assert.deepEqual([...Deno.readDirSync(`${dav.root}/d`)].map(({ name }) => name).sort(), [
    "made",
    "sub",
    "ten.txt",
  ]);
});

Deno.test("WebDAV creates, copies, moves and deletes, and reports conflicts", async () => {
  await using dav = await DavSite.open();
  const { root } = dav;
  const to = (path: string, more = {}) => ({
    headers: { Destination: `https://h/dav/HPC${root}/${path}`, ...more },
  });
  assert.equal(await dav.told("MKCOL", "new"), "201");
  assert.equal(await dav.told("MKCOL", "new"), "405 ERR_EXISTS");
  assert.equal(await dav.told("MKCOL", "none/new"), "409 ERR_NO_DIRECTORY");
  assert.equal(await dav.told("MKCOL", "x", { body: "<x/>" }), "415 ERR_UNSUPPORTED_MEDIA_TYPE");
  assert.equal(await dav.told("COPY", "d", to("new/d")), "201");
  assert.equal(await dav.told("COPY", "d", to("shallow", { Depth: "0" })), "201");
  assert.equal(await dav.told("MOVE", "d", to("new/d", { Overwrite: "F" })), "412 ERR_PRECONDITION_FAILED");
  assert.equal(await dav.told("MOVE", "d", to("new/d")), "204");
  assert.equal(await dav.told("MOVE", "none", to("x")), "404 ERR_NOT_FOUND");
  assert.equal(await Deno.readTextFile(`${root}/new/d/sub/x.dat`), "x");
  assert.equal(await dav.told("DELETE", "new", { headers: { Depth: "1" } }), "400 ERR_INVALID_REQUEST");
  assert.equal(await dav.told("DELETE", "new"), "204");
  assert.deepEqual([...Deno.readDirSync(root)].map(({ name }) => name).sort(), ["d2", "shallow"]);
  assert.equal(await dav.told("GET", "d2"), "405 ERR_METHOD_NOT_ALLOWED");
});

/** Begins a PUT, and waits until nine bytes of ten have arrived. */
async function begunPut(dav: DavSite, path: string) {
  const { readable, writable } = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>();
  const writer = writable.getWriter();
  const told = dav.told("PUT", path, { body: readable, headers: { "Content-Length": "10" } })
    .catch((error: Error) => error.message);
  await writer.write(new TextEncoder().encode("123456789"));
  await until(() => dav.names("d").some((name) => name.startsWith(".part-")), { everyMs: 1 });
  return { told, writer };
}

Deno.test("WebDAV leaves nothing of a PUT whose client disconnects, and keeps the earlier file", async () => {
  await using dav = await DavSite.open();
  for (const path of ["d/new", "d/ten.txt"]) {
    const { told, writer } = await begunPut(dav, path);
    await writer.abort(new Error("the client is gone"));
    assert.equal(await told, "the client is gone");
    assert.deepEqual(dav.names("d"), ["sub", "ten.txt"]);
  }
  assert.equal(await Deno.readTextFile(`${dav.root}/d/ten.txt`), "0123456789");
  assert.deepEqual(await dav.parts.uploads.unfinished.store.due(), []);
  dav.time.ahead = 25 * 3_600_000;
  assert.deepEqual(await dav.parts.uploads.unfinished.store.due(), [], "nothing is left to delete");
});

Deno.test("a PUT or copy whose process dies leaves a temporary file for a day, and deletes no other file", async () => {
  await using dav = await DavSite.open();
  dav.renewNothing();
  const { told, writer } = await begunPut(dav, "d/ten.txt");
  await Deno.writeTextFile(`${dav.root}/d/.part-mine`, "not the service's");
  await deleteDue(dav.parts, SILENT);
  assert.equal(dav.names("d").length, 4);
  dav.time.ahead = 25 * 3_600_000;
  await deleteDue(dav.parts, SILENT);
  assert.deepEqual(dav.names("d"), [".part-mine", "sub", "ten.txt"]);
  await writer.abort(new Error("gone"));
  await told;
  assert.equal(await Deno.readTextFile(`${dav.root}/d/ten.txt`), "0123456789");
});

Deno.test("a PUT continues while its instance cannot renew its lease", async () => {
  await using dav = await DavSite.open();
  dav.renewNothing();
  const { told, writer } = await begunPut(dav, "d/new");
  dav.time.ahead = 23 * 3_600_000;
  await deleteDue(dav.parts, SILENT);
  await writer.write(new TextEncoder().encode("0"));
  await writer.close();
  assert.equal(await told, "201");
  assert.equal(await Deno.readTextFile(`${dav.root}/d/new`), "1234567890");
});

Deno.test("a temporary file that cannot be deleted at once is deleted after a day", async () => {
  await using dav = await DavSite.open();
  dav.renewNothing();
  const { sessions } = dav.parts;
  const { told, writer } = await begunPut(dav, "d/new");
  dav.site.sessions.open = () => Promise.reject(new Error("the daemon is away"));
  await writer.abort(new Error("the client is gone"));
  assert.equal(await told, "the client is gone");
  assert.match(`${dav.names("d")}`, /^\.part-[0-9a-f]{32}-new,sub,ten.txt$/);
  Reflect.deleteProperty(dav.site.sessions, "open");
  dav.time.ahead = 25 * 3_600_000;
  await deleteDue({ ...dav.parts, sessions }, SILENT);
  assert.deepEqual(dav.names("d"), ["sub", "ten.txt"]);
});

Deno.test("WebDAV lists thousands of entries", async () => {
  const entries = LONG ? 10_000 : 2000;
  await using dav = await DavSite.open();
  await Deno.mkdir(`${dav.root}/many`);
  for (let i = 0; i < entries; i++) Deno.writeFileSync(`${dav.root}/many/${i}`, new Uint8Array());
  const shown = await dav.told("PROPFIND", "many", { headers: { Depth: "1" } });
  assert.equal(shown.match(/<D:response>/g)?.length, entries + 1);
});

Deno.test("WebDAV watches for bans until a request or its content ends", async () => {
  await using dav = await DavSite.open();
  for (
    const [method, path, more] of [
      ["GET", "d/ten.txt"],
      ["GET", "d/ten.txt", { headers: { Range: "bytes=2-4" } }],
      ["GET", "d/ten.txt", { headers: { Range: "bytes=20-" } }],
      ["GET", "d/nothing"],
      ["GET", "d"],
      ["HEAD", "d/ten.txt"],
      ["PROPFIND", "d", { headers: { Depth: "1" } }],
      ["PUT", "d/new", { body: "new" }],
      ["DELETE", "d/new"],
    ] as const
  ) {
    await (await dav.ask(method, path, more)).body?.cancel();
    assert.equal(dav.watched, 0, `${method} ${path}`);
  }
  const content = await dav.ask("GET", "d/ten.txt");
  assert.equal(dav.watched, 1, "the content is still to come");
  assert.equal(await content.text(), "0123456789");
  assert.equal(dav.watched, 0);
});

Deno.test("WebDAV deletes, moves and copies the version that the request names", async () => {
  await using dav = await DavSite.open();
  const etag = (await dav.ask("HEAD", "d/ten.txt")).headers.get("ETag") ?? "";
  const Destination = `/dav/HPC${dav.root}/d/moved.txt`;
  for (const method of ["DELETE", "MOVE", "COPY"]) {
    for (const [name, value] of [["If-Match", '"other"'], ["If-None-Match", "*"]] as const) {
      const headers = { Destination, [name]: value };
      assert.equal(await dav.told(method, "d/ten.txt", { headers }), "412 ERR_PRECONDITION_FAILED", method);
    }
  }
  assert.equal(await dav.told("COPY", "d/ten.txt", { headers: { Destination, "If-Match": etag } }), "201");
  assert.equal(await dav.told("DELETE", "d/ten.txt", { headers: { "If-Match": etag } }), "204");
});

Deno.test("WebDAV deletes, moves and copies a directory if it may exist, and nothing that may not", async () => {
  await using dav = await DavSite.open();
  const Destination = `/dav/HPC${dav.root}/d/moved`;
  for (const [method, status] of [["COPY", "201"], ["DELETE", "204"]] as const) {
    for (const [name, value] of [["If-Match", '"other"'], ["If-None-Match", "*"]] as const) {
      const headers = { Destination, [name]: value };
      assert.equal(await dav.told(method, "d/sub", { headers }), "412 ERR_PRECONDITION_FAILED", method);
    }
    assert.equal(await dav.told(method, "d/sub", { headers: { Destination, "If-Match": "*" } }), status);
  }
  const headers = { Destination, "If-Match": "*" };
  assert.equal(await dav.told("DELETE", "d/sub", { headers }), "412 ERR_PRECONDITION_FAILED");
});

Deno.test("WebDAV finds no file under the address of a directory, nor deletes, moves or copies it", async () => {
  await using dav = await DavSite.open();
  const headers = { Destination: `/dav/HPC${dav.root}/d/moved` };
  for (const method of ["GET", "DELETE", "MOVE", "COPY"]) {
    assert.equal(await dav.told(method, "d/ten.txt/", { headers }), "404 ERR_NOT_FOUND", method);
  }
  assert.equal(await Deno.readTextFile(`${dav.root}/d/ten.txt`), "0123456789");
  assert.equal(await dav.told("DELETE", "d/sub/"), "204");
});
