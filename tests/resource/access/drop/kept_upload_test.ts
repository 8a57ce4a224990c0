/** Uploads with a key into writable shares: they can resume, and replace files as their conditions allow. */
import assert from "node:assert/strict";
import { LONG_AGO } from "../../../sharing/site.ts";
import { SharingSite } from "../../sharing_site.ts";

const [KEY, OTHER] = ["0123456789abcdefghij", "abcdefghij0123456789"];

async function writable(fields: Record<string, unknown> = {}) {
  const site = await SharingSite.open();
  const id = await site.share("d/", { access: "WRITE", ...fields });
  const put = async (
    name: string,
    body: string,
    headers: Record<string, string> = {},
    key = KEY,
  ) => {
    const response = await site.ask("anonymous", "PUT", `access/HPC/${id}/${name}?upload=${key}`, {
      ...(body !== "" && { body }),
      headers: { "Content-Length": String(body.length), ...headers },
    });
    await response.text();
    return [response.status, response.headers.get("Upload-Offset")] as const;
  };
  const etag = async (name: string) => {
    const response = await site.ask("anonymous", "HEAD", `access/HPC/${id}/${name}`);
    return response.headers.get("ETag") ?? "";
  };
  const text = (name: string) => Deno.readTextFile(`${site.root}/d/${name}`);
  const names = () => Array.from(Deno.readDirSync(`${site.root}/d`), ({ name }) => name).toSorted();
  return { site, id, put, etag, text, names, [Symbol.asyncDispose]: () => site[Symbol.asyncDispose]() };
}

const ALL = ["sub", "ten.txt"];

Deno.test("a file is uploaded in pieces to a writable share, with its directories, under its own name", async () => {
  await using at = await writable();
  const name = "run/7/a.txt";
  assert.deepEqual(await at.put(name, "", { "Content-Range": "bytes */6" }), [202, "0"]);
  assert.deepEqual(await at.put(name, "abc", { "Content-Range": "bytes 0-2/6" }), [202, "3"]);
  assert.deepEqual(await at.put(name, "", { "Content-Range": "bytes */6" }), [202, "3"]);
  assert.deepEqual(await at.put(name, "x", { "Content-Range": "bytes 1-1/6" }), [409, "3"]);
  assert.deepEqual(await at.put(name, "def", { "Content-Range": "bytes 3-5/6" }), [201, null]);
  assert.equal(await at.text(name), "abcdef");
  assert.deepEqual(at.names(), ["run", ...ALL]);
  assert.deepEqual([...Deno.readDirSync(`${at.site.root}/d/run/7`)].map((entry) => entry.name), ["a.txt"]);
  assert.deepEqual((await at.put("empty", "", {}, OTHER))[0], 201);
});

Deno.test("an upload that may not replace a file fails before the first byte, and leaves nothing", async () => {
  await using at = await writable();
  const none = { "If-None-Match": "*" };
  assert.equal((await at.put("ten.txt", "", { ...none, "Content-Range": "bytes */6" }))[0], 412);
  assert.equal((await at.put("ten.txt", "abcdef", none))[0], 412);
  assert.equal((await at.put("ten.txt", "abcdef", { "If-Match": '"other"' }))[0], 412);
  assert.equal((await at.put("new", "abcdef", { "If-Match": "*" }))[0], 412);
  assert.equal((await at.put("sub", "abcdef"))[0], 409, "a directory is replaced by nothing");
  assert.deepEqual(at.names(), ALL);
  assert.equal(await at.text("ten.txt"), "0123456789");
});

Deno.test("an upload does not replace a file that appeared meanwhile, except with If-Match of that version", async () => {
  await using at = await writable();
  const none = { "If-None-Match": "*" };
  assert.deepEqual(await at.put("new", "abc", { ...none, "Content-Range": "bytes 0-2/6" }), [202, "3"]);
  await Deno.writeTextFile(`${at.site.root}/d/new`, "somebody else's");
  await Deno.utime(`${at.site.root}/d/new`, LONG_AGO, LONG_AGO);
  assert.equal((await at.put("new", "def", { ...none, "Content-Range": "bytes 3-5/6" }))[0], 412);
  assert.equal(await at.text("new"), "somebody else's");
  const tag = await at.etag("new");
  assert.match(tag, /^"/);
  const question = { "Content-Range": "bytes */6" };
  assert.equal((await at.put("new", "", { ...question, "If-Match": '"x"' }))[0], 412);
  assert.equal((await at.put("new", "", { ...question, "If-Match": tag }))[0], 200);
  assert.equal(await at.text("new"), "abcdef");
  assert.deepEqual(at.names(), ["new", ...ALL]);
});

Deno.test("an upload without conditions replaces a file only once it is complete", async () => {
  await using at = await writable();
  assert.deepEqual(await at.put("ten.txt", "abc", { "Content-Range": "bytes 0-2/6" }), [202, "3"]);
  assert.equal(await at.text("ten.txt"), "0123456789");
  assert.equal((await at.put("ten.txt", "def", { "Content-Range": "bytes 3-5/6" }))[0], 200);
  assert.equal(await at.text("ten.txt"), "abcdef");
});

Deno.test("an upload with a key also needs permission to write, and to write that path", async () => {
  await using at = await writable({ access: "READ" });
  assert.equal((await at.put("new", "abc"))[0], 403);
  await using writes = await writable();
  for (const name of [".bashrc", "sub/..%2fx", "a%2fb", "n".repeat(201)]) {
    assert.ok((await writes.put(name, "abc"))[0] >= 400, name);
  }
  writes.site.limits = { excludes: "*.key" };
  assert.equal((await writes.put("my.key", "abc"))[0], 404);
  assert.deepEqual(writes.names(), ALL);
});

Deno.test("an upload begins anew in the directory or account that its share has got since, and names no other", async () => {
  for (const isComplete of [false, true]) {
    await using at = await writable();
    const { store } = at.site.parts;
    const share = await store.get("HPC", at.id);
    assert.ok(share);
    await Deno.mkdir(`${at.site.root}/e`);
    const whole = async (path: string) => {
      const asked = await at.put("new", "", { "Content-Range": "bytes */6" });
      assert.deepEqual(asked, [202, "0"], `${path}: nothing of it is there`);
      const body = { body: "abcdef", headers: { "Content-Length": "6", "Content-Range": "bytes 0-5/6" } };
      const answer = await at.site.ask("anonymous", "PUT", `access/HPC/${at.id}/new?upload=${KEY}`, body);
      await answer.body?.cancel();
      assert.deepEqual([answer.status, answer.headers.get("Upload-Name")], [201, "new"], path);
    };
    const first = isComplete ? "abcdef" : "abc";
    await at.put("new", first, { "Content-Range": `bytes 0-${first.length - 1}/6` });
    await store.change("HPC", at.id, { path: `${at.site.root}/e/` });
    await whole("e/");
    assert.equal(await Deno.readTextFile(`${at.site.root}/e/new`), "abcdef");
    assert.deepEqual(at.names(), [...isComplete ? ["new"] : [], ...ALL], "no part of it is left");
    const carols = { uid: "carol", gid: undefined, path: `${at.site.root}/e/` };
    await store.amend("HPC", at.id, { ...share, ...carols });
    await Deno.remove(`${at.site.root}/e/new`);
    await whole("e/ of carol");
  }
});

Deno.test("the page of a directory offers uploads only to users who may write there", async () => {
  await using site = await SharingSite.open();
  const page = async (id: string, path = "/") => {
    const headers = { Accept: "text/html" };
    const response = await site.ask("anonymous", "GET", `access/HPC/${id}${path}`, { headers });
    assert.equal(response.status, 200);
    return { text: await response.text(), policy: response.headers.get("Content-Security-Policy") ?? "" };
  };
  const taken = ({ text }: { text: string }) => /data-taken="(\w+)"/.exec(text)?.[1];
  const read = await page(await site.share("d/"));
  assert.equal(taken(read), undefined);
  assert.doesNotMatch(read.policy, /connect-src/);
  const id = await site.share("d/", { access: "WRITE" });
  const write = await page(id, "/sub/");
  assert.equal(taken(write), "leave");
  assert.match(write.policy, /script-src 'sha256-/);
  assert.match(write.text, new RegExp(`data-to="[./]+rest/access/HPC/${id}/sub/"`));
  assert.match(write.text, new RegExp(`action="[./]+drop/HPC/${id}/sub/"`));
  assert.doesNotMatch(write.text, /formaction/);
  await site.share("d/", { access: "MODIFY" });
  const modify = await page(id);
  assert.equal(taken(modify), "ask");
  assert.match(modify.text, /formaction="[^"]+\?replace"/);
  site.parts = { ...site.parts, allowWriteAccess: false };
  assert.equal(taken(await page(id)), undefined, "the operator has writing forbidden since");
  site.parts = { ...site.parts, allowWriteAccess: true };
  await Deno.chmod(`${site.root}/d/sub`, 0o555);
  assert.equal(taken(await page(id, "/sub/")), undefined, "the owner's account cannot write there");
  await site.share("d/", { access: "WRITE", maxUses: 1 });
  for (const _ of [1, 2]) assert.equal(taken(await page(id)), "leave", "a look takes no use");
});
