/** Uploads by pages: by visitors without script, and by signed-in users into shares for them; and attacks. */
import assert from "node:assert/strict";
import type { Reply } from "../ask.ts";
import { ALICE, ALICE_DN, MAP, passwordLine } from "../running_service.ts";
import { OWN_PAGE, Visitor } from "../visitor.ts";
import { SharingSystem } from "./sharing_system.ts";

const CAROL = ["carol", "carol-4711"] as const;
const CAROL_DN = "CN=carol,O=Demo,C=EU";
const sharing = await SharingSystem.open({
  groups: ["proj"],
  passwords: passwordLine(CAROL, CAROL_DN),
  map: {
    [ALICE_DN]: { ...MAP[ALICE_DN], "uftpd.HPC.excludes": "*.key" },
    [CAROL_DN]: { role: "user", xlogin: "carol", group: "proj" },
  },
});
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

async function signedIn(user: readonly [string, string]): Promise<Visitor> {
  const visitor = new Visitor(system);
  assert.equal((await visitor.signIn(user)).status, 303);
  return visitor;
}
const carol = await signedIn(CAROL);
const alice = await signedIn(ALICE);

const text = (path: string) => Deno.readTextFile(`${data}/${path}`);
const names = (path: string) =>
  Array.from(Deno.readDirSync(`${data}/${path}`), ({ name }) => name).toSorted();

/** Returns fields of a page: upload addresses for script and form, and their token. */
function fieldsOf({ text }: Reply, page: string) {
  const [, to = "", token = ""] = /data-to="([^"]*)"[^>]*data-token="([^"]*)"/.exec(text) ?? [];
  const [, form = ""] = /enctype="multipart\/form-data" action="([^"]*)"/.exec(text) ?? [];
  const path = (relative: string) => new URL(relative, `https://x${page}`).pathname;
  return { to: path(to), form: path(form), token };
}

const put = (visitor: Visitor, path: string, headers: Readonly<Record<string, string>>, body = "new") =>
  visitor.get(path, { method: "PUT", body, headers: { Accept: "application/json", ...headers } });

const part = (name: string, text: string, file?: string) =>
  `--x1\r\nContent-Disposition: form-data; name="${name}"${
    file === undefined ? "" : `; filename="${file}"`
  }\r\n\r\n${text}\r\n`;

const send = (
  visitor: Visitor,
  path: string,
  parts: readonly string[],
  headers: Readonly<Record<string, string>> = OWN_PAGE,
) =>
  visitor.get(path, {
    method: "POST",
    headers: { ...headers, "Content-Type": "multipart/form-data; boundary=x1" },
    body: `${parts.join("")}--x1--\r\n`,
  });

const visitor = new Visitor(system);

/** Sends files by a form for visitors who are not signed in. */
async function sendByForm(
  to: string,
  files: readonly (readonly [string, string])[],
  headers: Readonly<Record<string, string>> = OWN_PAGE,
) {
  return await send(visitor, to, files.map(([name, text]) => part("files", text, name)), headers);
}

/** Each of these tests has its own directory. */
for (const name of ["form", "no script"]) {
  await Deno.mkdir(`${data}/${name}/sub`, { recursive: true });
  await Deno.writeTextFile(`${data}/${name}/ten.txt`, "0123456789");
  await Deno.writeTextFile(`${data}/${name}/sub/x.dat`, "x");
}

Deno.test("a form adds files to a shared directory, and replaces files only with access MODIFY", async () => {
  const id = await sharing.share("form/", { access: "WRITE" });
  const uploaded = await sendByForm(`/drop/HPC/${id}/sub/`, [["x.dat", "two"], ["new/y", "three"]]);
  assert.equal(uploaded.status, 201, uploaded.text);
  assert.match(uploaded.text, /2 files were uploaded[^]*<bdi>sub\/x \(2\)\.dat<[^]*<bdi>sub\/new\/y</);
  assert.match(uploaded.text, new RegExp(`href="[./]+rest/access/HPC/${id}/sub/"`));
  assert.deepEqual([await text("form/sub/x.dat"), await text("form/sub/x (2).dat")], ["x", "two"]);
  assert.equal((await sendByForm(`/drop/HPC/${id}/sub/?replace`, [["x.dat", "four"]])).status, 403);
  assert.equal(await text("form/sub/x.dat"), "x");

  await sharing.share("form/", { access: "MODIFY" });
  const replaced = await sendByForm(`/drop/HPC/${id}/sub/?replace`, [["x.dat", "four"]]);
  assert.equal(replaced.status, 201, replaced.text);
  assert.equal(await text("form/sub/x.dat"), "four");
  assert.equal((await sendByForm(`/drop/HPC/${id}?replace`, [["sub", "no file"]])).status, 409);
});

Deno.test("a form cannot upload without permission, outside the share, or from another site", async () => {
  const id = await sharing.share("form/", { access: "MODIFY" });
  const before = [names("form"), names("form/sub")];
  for (
    const [to, name, status] of [
      [`${id}/`, "my.key", 404],
      [`${id}/sub/`, "my.key", 404],
      [`${id}/sub/`, "../up", 400],
      [`${id}/%2e%2e/`, "up", 404],
      [`${id}/sub/`, ".bashrc", 400],
      [`${id}/ten.txt/`, "x", 400],
      [await sharing.share("form/sub/"), "x", 403],
      [await sharing.share("form/ten.txt", { access: "MODIFY" }), "x", 400],
    ] as const
  ) {
    const reply = await sendByForm(`/drop/HPC/${to}`, [[name, "x"]]);
    assert.equal(reply.status, status, `${to} ${name}: ${reply.text}`);
  }
  for (const site of ["cross-site", "same-site", "none"]) {
    assert.equal(
      (await sendByForm(`/drop/HPC/${id}/sub/?replace`, [["x.dat", "x"]], { "Sec-Fetch-Site": site })).status,
      403,
    );
  }
  assert.deepEqual([names("form"), names("form/sub")], before);
});

Deno.test("a form that fails midway reports the files that arrived before, and why it failed", async () => {
  const id = await sharing.share("form/", { access: "WRITE" });
  const page = await sendByForm(`/drop/HPC/${id}/sub/`, [["early", "1"], ["my.key", "2"], ["late", "3"]]);
  assert.equal(page.status, 404, page.text);
  assert.match(
    page.text,
    /1 file was uploaded[^]*<bdi>sub\/early<[^]*role="alert">The others failed: The file or directory was not found</,
  );
  assert.deepEqual(names("form/sub").filter((name) => /early|late|key/.test(name)), ["early"]);
});

Deno.test("a browser without JavaScript uploads by form, only from our own page, without replacing files, within the quota", async () => {
  const id = await sharing.share("no script/", { access: "DROP", maxBytes: 2000 });
  const page = await visitor.get(`/rest/access/HPC/${id}`);
  const [, action = ""] =
    /<noscript><form class="fields" method="post" enctype="multipart\/form-data" action="([^"]+)"/.exec(
      page.text,
    ) ?? [];
  const to = new URL(action, `https://x/rest/access/HPC/${id}`).pathname;
  const send = (files: readonly (readonly [string, string])[], headers = OWN_PAGE) =>
    sendByForm(to, files, headers);
  const uploaded = await send([["a.txt", "one"], ["ten.txt", "two"], ["<i>.txt", "x".repeat(300)]]);
  assert.equal(uploaded.status, 201, uploaded.text);
  assert.match(uploaded.text, /3 files were uploaded[^]*<bdi>ten \(2\)\.txt<[^]*<bdi>&#60;i&#62;\.txt</);
  assert.equal(await Deno.readTextFile(`${data}/no script/ten (2).txt`), "two");
  assert.equal(await Deno.readTextFile(`${data}/no script/ten.txt`), "0123456789");
  // The service reserves quota for the whole form, and returns the part that was no file.
  const share = JSON.parse((await system.ask(`/rest/share/HPC/${id}`, { as: ALICE })).text).share;
  assert.deepEqual(share.received, { files: 3, bytes: 306 });
  assert.equal((await send([["b.txt", "x".repeat(1900)]])).status, 507);
  assert.equal((await send([["", ""]])).status, 400);
  assert.equal((await send([["../b.txt", "x"]])).status, 400);
  for (const site of ["cross-site", "same-site", "none"]) {
    assert.equal((await send([["c.txt", "x"]], { "Sec-Fetch-Site": site })).status, 403, site);
  }
  assert.equal((await send([["c.txt", "x"]], {})).status, 403);
  const names = Array.from(Deno.readDirSync(`${data}/no script`), ({ name }) => name).toSorted();
  assert.deepEqual(names, ["<i>.txt", "a.txt", "sub", "ten (2).txt", "ten.txt"]);
  const readable = await sharing.share("no script/sub/");
  assert.equal(
    (await visitor.get(`/drop/HPC/${readable}`, {
      method: "POST",
      headers: { ...OWN_PAGE, "Content-Type": "multipart/form-data; boundary=x1" },
      body: "--x1--",
    })).status,
    403,
  );
});

Deno.test("signed-in users upload files to a share for them, by script and by form, and the page shows no files", async () => {
  const id = await sharing.share("d/sub/", { user: CAROL_DN, access: "DROP" });
  const home = (await carol.get("/")).text;
  const [, listed = ""] = new RegExp(`href="([^"]*shared/HPC/${id}/)"`).exec(home) ?? [];
  const page = new URL(listed, "https://x/").pathname;
  const shown = await carol.get(page);
  assert.equal(shown.status, 200, shown.text);
  assert.doesNotMatch(shown.text, /x\.dat/);
  assert.equal(shown.headers["cache-control"], "private, no-store");
  const { to, form, token } = fieldsOf(shown, page);
  assert.deepEqual([to, form], [page, `/shared/HPC/${id}`]);

  const shows = { ...OWN_PAGE, "X-Form-Token": token };
  const first = await put(carol, `${to}x.dat?upload=${"k".repeat(24)}`, {
    ...shows,
    "Content-Range": "bytes 0-2/6",
  });
  assert.equal(first.status, 202, first.text);
  const rest = await put(carol, `${to}x.dat?upload=${"k".repeat(24)}`, {
    ...shows,
    "Content-Range": "bytes 3-5/6",
  });
  assert.equal(rest.status, 201, rest.text);
  assert.deepEqual([await text("d/sub/x.dat"), await text("d/sub/x (2).dat")], ["x", "newnew"]);

  const uploaded = await send(carol, form, [part("token", token), part("files", "form", "x.dat")]);
  assert.equal(uploaded.status, 201, uploaded.text);
  assert.match(uploaded.text, new RegExp(`<bdi>x \\(3\\)\\.dat<[^]*href="[./]+shared/HPC/${id}"`));
  assert.equal(await text("d/sub/x (3).dat"), "form");
  assert.match(
    (await alice.get(`/shares/HPC/${id}`)).text,
    /<bdi>carol<\/bdi>, [^<]*, uploaded <bdi>x\.dat</,
    "the owner sees who it was",
  );
  for (const name of ["x (2).dat", "x (3).dat"]) await Deno.remove(`${data}/d/sub/${name}`);
});

Deno.test("signed-in users add and replace files in a shared directory, as its access permits", async () => {
  const id = await sharing.share("d/", { user: "group:proj", access: "WRITE" });
  const page = `/shared/HPC/${id}/sub/`;
  const listing = await carol.get(page);
  assert.equal(listing.headers["cache-control"], "private, no-store");
  const { to, form, token } = fieldsOf(listing, page);
  assert.deepEqual([to, form], [page, page]);
  const shows = { ...OWN_PAGE, "X-Form-Token": token };
  const key = `?upload=${"m".repeat(24)}`;
  assert.equal((await put(carol, `${to}x.dat${key}`, { ...shows, "If-None-Match": "*" })).status, 412);
  assert.equal((await put(carol, `${to}y.dat${key}`, { ...shows, "If-None-Match": "*" })).status, 201);
  assert.equal(
    (await send(carol, `${form}?replace`, [part("token", token), part("files", "z", "x.dat")])).status,
    403,
  );
  await sharing.share("d/", { user: "group:proj", access: "MODIFY" });
  const replaced = await send(carol, `${form}?replace`, [part("token", token), part("files", "z", "y.dat")]);
  assert.equal(replaced.status, 201, replaced.text);
  assert.deepEqual([await text("d/sub/x.dat"), await text("d/sub/y.dat")], ["x", "z"]);

  const read = await sharing.share("d/sub/", { user: CAROL_DN });
  const only = await carol.get(`/shared/HPC/${read}/`);
  assert.doesNotMatch(only.text, /type="file"|data-token/);
  assert.equal(only.headers["cache-control"], "private, no-store");
});

Deno.test("nobody else uploads anything in the name of the signed-in user", async () => {
  const id = await sharing.share("d/", { user: CAROL_DN, access: "MODIFY" });
  const page = `/shared/HPC/${id}/sub/`;
  const { token } = fieldsOf(await carol.get(page), page);
  const { token: others } = fieldsOf(
    await alice.get(`/shared/HPC/${await sharing.share("d/sub/", { user: ALICE_DN, access: "WRITE" })}/`),
    page,
  );
  const before = [names("d"), names("d/sub"), await text("d/sub/x.dat")];
  const form = [part("token", token), part("files", "evil", "x.dat")];
  const replies: [string, Promise<Reply>, number][] = [];
  const tried = (what: string, reply: Promise<Reply>, status = 403) => replies.push([what, reply, status]);

  for (const site of ["cross-site", "same-site", "none"]) {
    const headers = { "Sec-Fetch-Site": site, "X-Form-Token": token };
    tried(`PUT, ${site}`, put(carol, `${page}x.dat`, headers));
    tried(`form, ${site}`, send(carol, `${page}?replace`, form, headers));
  }
  const evil = { Origin: "https://evil.example", "X-Form-Token": token };
  tried("PUT, another origin", put(carol, `${page}x.dat`, evil));
  tried("PUT, no origin", put(carol, `${page}x.dat`, { "X-Form-Token": token }));
  tried("form, another origin", send(carol, `${page}?replace`, form, evil));
  for (const [what, shown] of [["no", ""], ["another's", others], ["a made-up", "x".repeat(43)]] as const) {
    tried(`PUT, ${what} token`, put(carol, `${page}x.dat`, { ...OWN_PAGE, "X-Form-Token": shown }));
    const withToken = [part("token", shown), part("files", "evil", "x.dat")];
    tried(`form, ${what} token`, send(carol, `${page}?replace`, withToken));
  }
  tried("form, no field", send(carol, `${page}?replace`, form.slice(1)));
  tried("form, token behind the file", send(carol, `${page}?replace`, form.toReversed()));
  tried(
    "form, token as a file",
    send(carol, `${page}?replace`, [part("token", token, ""), ...form.slice(1)]),
  );
  tried("token too long", put(carol, `${page}x.dat`, { ...OWN_PAGE, "X-Form-Token": "x".repeat(100) }), 431);
  const shows = { ...OWN_PAGE, "X-Form-Token": token };
  const program = { ...shows, Authorization: `Basic ${btoa(CAROL.join(":"))}` };
  tried("PUT, credentials of a program", put(carol, `${page}x.dat`, program));
  tried("form, credentials of a program", send(carol, `${page}?replace`, form, program));
  tried("PUT, not signed in", put(new Visitor(system), `${page}x.dat`, shows), 401);
  tried("form, not signed in", send(new Visitor(system), `${page}?replace`, form), 303);
  tried("PUT, another's share", put(alice, `${page}x.dat`, { ...OWN_PAGE, "X-Form-Token": others }));
  tried("PUT below /rest/", put(carol, `/rest/access/HPC/${id}/sub/x.dat`, shows), 401);
  tried("form below /drop/", send(carol, `/drop/HPC/${id}/sub/?replace`, form), 401);
  tried("PUT, excluded", put(carol, `${page}my.key`, shows), 404);
  tried("PUT, upwards", put(carol, `${page}%2e%2e%2f%2e%2e%2fup`, shows), 404);
  for (const [what, reply, status] of replies) {
    const { status: found, text } = await reply;
    assert.equal(found, status, `${what}: ${text}`);
  }
  assert.deepEqual([names("d"), names("d/sub"), await text("d/sub/x.dat")], before);
});

Deno.test("a page asks signed-in users for the password of a share, and leads back", async () => {
  const id = await sharing.locked("d/", "s&cret", { user: CAROL_DN });
  const page = `/shared/HPC/${id}/`;
  const asks = await carol.get(page);
  assert.equal(asks.status, 403);
  const [, action = ""] = /<form method="post" action="([^"]*link\/[^"]*)"/.exec(asks.text) ?? [];
  const { pathname, search } = new URL(action, `https://x${page}`);
  const wrong = await carol.post(`${pathname}${search}`, { password: "x" });
  assert.equal(wrong.status, 403);
  assert.match(wrong.text, new RegExp(`action="[^"]*link/HPC/${id}\\?signed-in"`));
  const opened = await carol.post(`${pathname}${search}`, { password: "s&cret" });
  assert.equal(opened.status, 303, opened.text);
  const back = new URL(opened.headers.location ?? "", `https://x${pathname}`).pathname;
  assert.equal(back, page);
  assert.match((await carol.get(back)).text, /ten\.txt/);
  const elsewhere = new Visitor(system);
  await elsewhere.signIn(CAROL);
  assert.equal((await elsewhere.get(back)).status, 403, "another browser did not give the password");
  assert.equal((await alice.get(back)).status, 200, "the owner looks without it");
});

Deno.test("the page shows a command for the user who sees it", async () => {
  const id = await sharing.share("d/sub/", { user: CAROL_DN, access: "DROP" });
  const { text } = await carol.get(`/shared/HPC/${id}/`);
  assert.match(text, new RegExp(`curl -T &#60;file&#62; -u carol https://[^<]*/rest/access/HPC/${id}/<`));
});
