/** My files: pages on which people manage their own files, and attacks on them. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { wordsOf } from "../pages/words.ts";
import { request } from "node:https";
import { DaemonPool } from "../../src/daemon/daemon_pool.ts";
import { SessionClient } from "../../src/daemon/session/session_client.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { deleteDue } from "../../src/resource/access/drop/delete_part.ts";
import { UnfinishedUploads } from "../../src/resource/access/drop/unfinished_uploads.ts";
import { PathLocks } from "../../src/resource/share/path_locks.ts";
import { SHARE_DATABASE } from "../../src/sharing/store/schema.ts";
import { openShareStore } from "../../src/sharing/store/share_store.ts";
import { until } from "../fixtures/deadline.ts";
import { ALICE, ALICE_DN, runAt } from "./running_service.ts";
import { BOB, createSharingSite, SharingSystem } from "./sharing/sharing_system.ts";
import { formToken, OWN_PAGE, Visitor } from "./visitor.ts";

const ENABLED = { "container.feature.Files.enable": "true" };
const sharing = await SharingSystem.open({
  properties: { ...ENABLED, "container.runtimeConfigurationUpdate": "false" },
  map: {
    [ALICE_DN]: { role: "user", xlogin: "alice", "uftpd.HPC.excludes": "d/secret/*:d/*.key" },
  },
});
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());
await Deno.mkdir(`${data}/d/secret`);
await Deno.writeTextFile(`${data}/d/secret/x`, "x");
await Deno.writeTextFile(`${data}/d/a.key`, "x");

async function signedIn(user: readonly [string, string] = ALICE): Promise<Visitor> {
  const visitor = new Visitor(system);
  assert.equal((await visitor.signIn(user)).status, 303);
  return visitor;
}

const alice = await signedIn();
const at = (path: string) => `/files/HPC${data}/${path}`;
const token = formToken(await alice.get(at("d/")));

/** Sends a file, or a part of it, as the script of the page does. */
async function put(
  path: string,
  text: string,
  { key = "k".repeat(20), headers = {}, range, by = alice }: {
    readonly key?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly range?: string;
    readonly by?: Visitor;
  } = {},
) {
  return await by.get(`${at(path)}?upload=${key}`, {
    method: "PUT",
    headers: {
      ...OWN_PAGE,
      "X-Form-Token": token,
      "If-None-Match": "*",
      ...(text !== "" || range !== undefined
        ? { "Content-Range": range ?? `bytes 0-${text.length - 1}/${text.length}` }
        : {}),
      ...headers,
    },
    body: text,
  });
}

Deno.test("My files shows servers, directories, sizes and dates, and nothing beyond the limits of the map", async () => {
  const servers = await alice.get("/files");
  assert.match(servers.text, /<a href="\.\/files\/HPC\/~\/"><bdi>HPC<\/bdi><\/a>/);
  assert.match(servers.text, /<a href="\.\/files" aria-current="page">Files<\/a>/);
  const home = await alice.get("/files/HPC/~/");
  assert.equal(home.status, 303);
  assert.equal(new URL(home.headers.location ?? "", "https://x/files/HPC/~/").pathname, at(""));
  const page = await alice.get(at("d/"));
  assert.equal(page.headers["cache-control"], "private, no-store");
  const words = wordsOf(page.text);
  for (const expected of ["3 entries", "sub/", "ten.txt Preview ten.txt", "10 B", "New directory"]) {
    assert(words.includes(expected) || expected === "3 entries", `${expected}: ${words}`);
  }
  assert.doesNotMatch(page.text, /secret|a\.key/);
  assert.match(page.text, /<time datetime="\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z">/);
  for (const hidden of ["d/secret/", "d/secret/x", "d/a.key"]) {
    assert.equal((await alice.get(at(hidden))).status, 404, hidden);
  }
  assert.equal((await alice.get(at("d"))).status, 303, "a directory has a slash");
});

Deno.test("the address of the home directory keeps its query", async () => {
  const { status, headers } = await alice.get("/files/HPC/~/d/?find=ten");
  assert.equal(status, 303);
  assert.equal(
    new URL(headers.location ?? "", "https://x/files/HPC/~/d/").href,
    `https://x${at("d/")}?find=ten`,
  );
});

Deno.test("My files serves files with ranges, previews, and directories as archives", async () => {
  const whole = await alice.get(at("d/ten.txt"));
  assert.equal(whole.text, "0123456789");
  assert.match(whole.headers["content-disposition"] ?? "", /^attachment; filename="ten\.txt"/);
  assert.match(String(whole.headers["content-security-policy"]), /sandbox/);
  const part = await alice.get(at("d/ten.txt"), { headers: { Range: "bytes=2-4" } });
  assert.deepEqual([part.status, part.text], [206, "234"]);
  assert.match((await alice.get(`${at("d/ten.txt")}?view=preview`)).text, /<code>0123456789<\/code>/);
  const archive = await alice.get(`${at("d/")}?view=zip`);
  assert.equal(archive.headers["content-type"], "application/zip");
  assert.match(archive.text, /d\/sub\/x\.dat/);
  assert.doesNotMatch(archive.text, /secret|a\.key/);
});

Deno.test("My files accepts a file whole or in parts, resumes it, and returns its digest", async () => {
  const digest = createHash("sha256").update("whole").digest("base64");
  const made = await put("new/deep/whole.txt", "whole", { headers: { "Want-Repr-Digest": "sha-256=10" } });
  assert.deepEqual([made.status, made.headers["repr-digest"]], [201, `sha-256=:${digest}:`]);
  assert.equal(await Deno.readTextFile(`${data}/new/deep/whole.txt`), "whole");
  const key = "p".repeat(20);
  assert.equal((await put("parts.txt", "", { key, range: "bytes */10" })).headers["upload-offset"], "0");
  const first = await put("parts.txt", "01234", { key, range: "bytes 0-4/10" });
  assert.deepEqual([first.status, first.headers["upload-offset"]], [202, "5"]);
  assert.equal((await put("parts.txt", "01234", { key, range: "bytes 0-4/10" })).status, 409);
  assert.equal((await put("parts.txt", "", { key, range: "bytes */10" })).headers["upload-offset"], "5");
  assert.equal((await put("parts.txt", "56789", { key, range: "bytes 5-9/10" })).status, 201);
  assert.equal(await Deno.readTextFile(`${data}/parts.txt`), "0123456789");
  assert.equal((await put("parts.txt", "", { key, range: "bytes */10" })).status, 201, "its answer was lost");
  assert.equal((await put("empty", "")).status, 201);
  assert.deepEqual(
    [...Deno.readDirSync(data)].map(({ name }) => name).filter((name) => name.endsWith(".part")),
    [],
  );
  assert.equal((await put("parts.txt", "other", { key: "q".repeat(20) })).status, 412, "nothing is replaced");
  const { etag } = (await alice.get(at("d/ten.txt"), { method: "HEAD" })).headers;
  const replace = { key: "r".repeat(20), headers: { "If-None-Match": "", "If-Match": String(etag) } };
  const modeOf = async (name: string) => ((await Deno.stat(`${data}/${name}`)).mode ?? 0) & 0o777;
  await Deno.chmod(`${data}/d/ten.txt`, 0o640);
  assert.equal((await put("d/ten.txt", "abcdefghij", replace)).status, 200);
  assert.equal(await Deno.readTextFile(`${data}/d/ten.txt`), "abcdefghij");
  assert.equal(await modeOf("d/ten.txt"), 0o640);
  await put("with blanks.txt", "secret");
  await Deno.chmod(`${data}/with blanks.txt`, 0o600);
  const blanks = { key: "s".repeat(20), headers: { "If-None-Match": "" } };
  assert.equal((await put("with blanks.txt", "012", { ...blanks, range: "bytes 0-2/6" })).status, 202);
  const [part = ""] = [...Deno.readDirSync(data)].map(({ name }) => name).filter((name) =>
    name.endsWith(".part")
  );
  assert.equal(await modeOf(part), 0o600, "also before it is complete");
  assert.equal((await put("with blanks.txt", "345", { ...blanks, range: "bytes 3-5/6" })).status, 200);
  assert.equal(await modeOf("with blanks.txt"), 0o600);
  for (const hidden of ["d/secret/y", "d/secret/new/y", "d/b.key"]) {
    assert.equal((await put(hidden, "x")).status, 404, hidden);
  }
});

const post = (path: string, fields: Readonly<Record<string, string>>, by = alice) =>
  by.post(at(path), { token, ...fields });

Deno.test("My files creates, renames, moves and deletes only what its page showed", async () => {
  assert.equal((await post("", { do: "make", name: "folder <b>" })).status, 303);
  assert.equal((await post("", { do: "make", name: "folder <b>" })).status, 405, "it is there");
  for (const name of ["", "a/b", "..", ".", "a\nb"]) {
    assert(((await post("", { do: "make", name })).status) >= 400, JSON.stringify(name));
  }
  await put("folder <b>/a", "one");
  await put("folder <b>/b", "two");
  const folder = "folder%20%3Cb%3E";
  assert.equal((await post(`${folder}/a`, { do: "move", to: `${data}/folder <b>/b` })).status, 405);
  assert.equal(await Deno.readTextFile(`${data}/folder <b>/b`), "two");
  assert.equal((await post(`${folder}/a`, { do: "move", to: `${data}/folder <b>/c` })).status, 303);
  assert.equal((await post(`${folder}/c`, { do: "move", to: `${data}/d/secret/c` })).status, 404);
  assert.equal((await post(`${folder}/c`, { do: "move", to: "relative" })).status, 400);
  const actions = await alice.get(`${at(`${folder}/`)}?view=actions`);
  assert.match(actions.text, /with 2 files and 0 directories in it, 6 B together/);
  assert.match(actions.text, /<a class="button" href="[./]+shares\/HPC\/new\?path=/);
  const [, version = ""] = /name="version" value="([^"]+)"/.exec(actions.text) ?? [];
  await put("folder <b>/d", "more");
  const changed = await post(`${folder}/`, { do: "delete", version });
  assert.equal(changed.status, 409);
  assert.match(changed.text, /The content has changed\. Check it again before you delete it/);
  assert.equal((await post(`${folder}/`, { do: "delete" })).status, 409, "nobody has seen what it deletes");
  const again = await alice.get(`${at(`${folder}/`)}?view=actions`);
  const [, current = ""] = /name="version" value="([^"]+)"/.exec(again.text) ?? [];
  assert.equal((await post(`${folder}/`, { do: "delete", version: current })).status, 303);
  await assert.rejects(Deno.stat(`${data}/folder <b>`));
  assert((await post("d/", { do: "delete", version: "0 0 0 " })).status >= 400);
  assert.equal(await Deno.readTextFile(`${data}/d/secret/x`), "x");
});

Deno.test("My files can move a file if the daemon allows an account only one session", async () => {
  await using small = await SharingSystem.open({ daemon: { maxSessions: 1 }, properties: ENABLED });
  const visitor = new Visitor(small.system);
  await visitor.signIn(ALICE);
  const href = `/files/HPC${small.data}/d/ten.txt`;
  const token = formToken(await visitor.get(`${href}?view=actions`));
  const moved = await visitor.post(href, { do: "move", to: `${small.data}/d/moved`, token });
  assert.equal(moved.status, 303, moved.text);
  assert.equal(await Deno.readTextFile(`${small.data}/d/moved`), "0123456789");
});

Deno.test("pages of other sites cannot change My files, whatever cookies the browser sends", async () => {
  const before = [...Deno.readDirSync(data)].map(({ name }) => name).sort();
  for (const site of ["cross-site", "same-site", "none"]) {
    const headers = { "Sec-Fetch-Site": site };
    assert.equal((await put("evil", "x", { headers })).status, 403, site);
    const fields = { token, do: "make", name: "evil" };
    assert.equal((await alice.post(at(""), fields, { headers })).status, 403, site);
  }
  for (const wrong of ["", "x".repeat(43)]) {
    assert.equal((await put("evil", "x", { headers: { "X-Form-Token": wrong } })).status, 403);
    assert.equal((await post("", { token: wrong, do: "make", name: "evil" })).status, 403);
  }
  const upload = (fields: string, headers: Readonly<Record<string, string>> = OWN_PAGE) =>
    alice.get(`/files-upload/HPC${data}/`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "multipart/form-data; boundary=x1" },
      body: `--x1\r\nContent-Disposition: form-data; name="token"\r\n\r\n${fields}\r\n` +
        `--x1\r\nContent-Disposition: form-data; name="files"; filename="evil"\r\n\r\nx\r\n--x1--\r\n`,
    });
  assert.equal((await upload("wrong")).status, 403);
  assert.equal((await upload(token, { "Sec-Fetch-Site": "cross-site" })).status, 403);
  assert.equal((await alice.get(at(""), { as: ALICE, method: "PUT", headers: OWN_PAGE })).status, 403);
  assert.deepEqual([...Deno.readDirSync(data)].map(({ name }) => name).sort(), before);
  assert.equal((await upload(token)).status, 201);
  assert.equal((await upload(token)).status, 405, "nothing is replaced unasked");
  assert.equal(await Deno.readTextFile(`${data}/evil`), "x");
});

Deno.test("My files shows hostile names as text, in each language, and no name can add a header", async () => {
  const hostile = [
    "<script>alert(1)</script>",
    `"><img src=x onerror=alert(1)>`,
    "a\r\nX-Evil: 1",
    "x\u202egnp",
  ];
  await Deno.mkdir(`${data}/names`);
  for (const name of hostile) await Deno.writeTextFile(`${data}/names/${name.replaceAll("/", "")}`, "x");
  for (const language of ["en", "de", "fr"]) {
    const headers = { "Accept-Language": language };
    const page = await alice.get(at("names/"), { headers });
    assert.match(page.text, new RegExp(`<html lang="${language}"`));
    for (const name of [hostile[0]?.replace("/", ""), hostile[1]]) {
      const actions = await alice.get(`${at(`names/${encodeURIComponent(name ?? "")}`)}?view=actions`, {
        headers,
      });
      for (const { text } of [page, actions]) {
        assert.equal(text.match(/<script>/g)?.length, 1, "its own");
        assert.doesNotMatch(text, /<img|onerror=alert\(1\)>/);
      }
    }
    assert.match(page.text, /x\\u\{202e\}gnp/);
  }
  for (const name of ["a%0d%0aX-Evil:%201", "a%0aX-Evil:%201"]) {
    const reply = await alice.get(at(`names/${name}`));
    assert.equal(reply.status, 404);
    assert.equal(reply.headers["x-evil"], undefined);
  }
  for (const path of ["..%2f..%2fetc/passwd", "d%2fsecret%2fx"]) {
    assert((await alice.get(at(path))).status >= 400, path);
  }
});

Deno.test("Files shows why a server is not usable", async () => {
  await using other = await SharingSystem.open({
    properties: ENABLED,
    map: { [ALICE_DN]: { role: "user", xlogin: "alice", "uftpd.HPC.rateLimit": "fast" } },
  });
  const visitor = new Visitor(other.system);
  await visitor.signIn(ALICE);
  const { text } = await visitor.get("/files");
  assert.match(text, /HPC<\/bdi>: Your settings for this server are invalid\. Please contact its operators/);
  assert.doesNotMatch(text, /You have no account/);
});

Deno.test("My files is only for signed-in users with an account, and only if the site enables it", async () => {
  const away = await new Visitor(system).get(at("d/"));
  assert.equal(away.status, 303);
  assert.match(away.headers.location ?? "", /login\?to=files%2FHPC/);
  // Directories of users may have the names of pages.
  const deep = await new Visitor(system).get("/files/HPC/~/files-2026/files/a.txt?view=actions");
  const { searchParams } = new URL(deep.headers.location ?? "", "https://x/files/HPC/");
  assert.equal(searchParams.get("to"), "files/HPC/~/files-2026/files/a.txt?view=actions");
  const bob = await signedIn(BOB);
  assert.match((await bob.get("/files")).text, /You have no account/);
  const refused = await bob.get(at("d/"));
  assert.equal(refused.status, 401);
  assert.doesNotMatch(refused.text, /href="[^"]*login/, "who is signed in needs no sign-in");
  await sharing.reloadWith({ "container.feature.Files.enable": "false" });
  const visitor = await signedIn();
  for (const path of ["/files", "/files/HPC/~/"]) assert.equal((await visitor.get(path)).status, 404, path);
  assert.doesNotMatch((await visitor.get("/")).text, />Files</);
});

const DAEMON_HANGS = [
  { on: "RNTO", after: 1, left: "restores the directory that was to be replaced", content: "old" },
  { on: "DELE", after: 0, left: "deletes the replaced directory", content: "new" },
];

Deno.test("after a kill, the service knows what uploads and replacements of directories left behind, and completes or reverts the replacements", async (test) => {
  await using site = await createSharingSite({ properties: ENABLED });
  const one = await runAt({ ...site, [Symbol.asyncDispose]: () => Promise.resolve() });
  const browser = new Visitor(one);
  await browser.signIn(ALICE);
  const page = await browser.get(`/files/HPC${site.data}/d/`);
  /** Sends only four of ten bytes. */
  const begin = (path: string, headers: Readonly<Record<string, string>>) => {
    const sent = request(`https://localhost:${one.port}${path}`, {
      method: "PUT",
      headers: { ...headers, "Content-Length": "10" },
      ca: site.authority.certificate,
    });
    sent.on("error", () => {}); // the service dies
    sent.write("0123");
  };
  begin(`/files/HPC${site.data}/d/own?upload=${"k".repeat(20)}`, {
    ...OWN_PAGE,
    Cookie: [...browser.cookies].map((pair) => pair.join("=")).join("; "),
    "X-Form-Token": formToken(page),
    "Content-Range": "bytes 0-9/10",
  });
  begin(`/dav/HPC${site.data}/d/dav`, {
    Authorization: `Basic ${btoa(ALICE.join(":"))}`,
  });
  const left = () =>
    [...Deno.readDirSync(`${site.data}/d`)].map(({ name }) => name).filter((name) => name.includes("part"));
  await until(() => left().length === 2);
  const names = (folder: string) =>
    Array.from(Deno.readDirSync(`${site.data}/${folder}`), ({ name }) => name);
  const isThere = (folder: string, name: string) => names(folder).includes(name);
  for (const { on, after } of DAEMON_HANGS) {
    for (const name of ["old", "new"]) {
      await Deno.mkdir(`${site.data}/${on}/${name}`, { recursive: true });
      await Deno.writeTextFile(`${site.data}/${on}/${name}/file`, name);
    }
    site.daemon().sessionFaults.always = { kind: "hang", on, after };
    const sent = request(`https://localhost:${one.port}/dav/HPC${site.data}/${on}/new`, {
      method: "MOVE",
      headers: {
        Authorization: `Basic ${btoa(ALICE.join(":"))}`,
        Destination: `/dav/HPC${site.data}/${on}/old`,
      },
      ca: site.authority.certificate,
    });
    sent.on("error", () => {}); // the service dies
    sent.end();
    await until(() =>
      names(on).some((name) => name.startsWith(".part-")) && isThere(on, "old") === (on === "DELE")
    );
  }
  Deno.kill(one.service.pid, "SIGKILL");
  await assert.rejects(one.service.stopped);
  site.daemon().sessionFaults.always = undefined;

  await test.step("it knows the temporary files that uploads to My files and WebDAV left behind", async () => {
    assert.deepEqual(left().map((name) => name.replace(/[0-9a-f]{32}/, "*")).sort(), [
      ".part-*-dav",
      "own.*.part",
    ]);
    const aDayLater = () => Date.now() + 25 * 3_600_000;
    const store = openShareStore(`${site.folder}/data/${SHARE_DATABASE}`, aDayLater);
    const due = await store.uploads.due();
    store.close();
    const ofUploads = due.map(({ part }) => part).filter((part) => part.startsWith(`${site.data}/d/`));
    assert.deepEqual(ofUploads.sort(), left().map((name) => `${site.data}/d/${name}`).sort());
  });

  const [certificate = "", key = ""] = ["auth-cert", "auth-key"].map((name) =>
    Deno.readTextFileSync(`${site.folder}/conf/${name}.pem`)
  );
  const { host, listenPort: port, commandPort } = site.daemon();
  const group = new DaemonPool({
    name: "HPC",
    description: "",
    instances: [{ host, port, commandHost: host, commandPort, ssl: true }],
  }, {
    tls: () => ({ certificate, key, anchors: [site.authority.certificate] }),
    clock: Date.now,
    log: SILENT,
  });
  const sessions = new SessionClient(group, {});
  // The lease of the dead service lasts for 15 s.
  const store = openShareStore(`${site.folder}/data/${SHARE_DATABASE}`, () => Date.now() + 16_000);
  const uploads = { locks: new PathLocks(), unfinished: new UnfinishedUploads(store.uploads) };
  await until(() => !group.status().unchecked);
  await deleteDue({ sessions: new Map([["HPC", sessions]]), uploads }, SILENT);
  assert.deepEqual(await store.uploads.due(), []);
  store.close();
  sessions.close();
  await group.close();
  for (const { on, left, content } of DAEMON_HANGS) {
    await test.step(`it ${left}`, async () => {
      assert.deepEqual(names(on).filter((name) => name.startsWith(".part-")), []);
      assert.equal(await Deno.readTextFile(`${site.data}/${on}/old/file`), content);
      assert.equal(isThere(on, "new"), content === "old");
    });
  }
});
