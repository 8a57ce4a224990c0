/** Pages on which people share their files: the forms in them, and attacks on these. */
import assert from "node:assert/strict";
import { auditLines } from "../../fixtures/audit_lines.ts";
import { withoutTimes, wordsOf } from "../../pages/words.ts";
import { formToken, OWN_PAGE, Visitor } from "../visitor.ts";
import { ALICE } from "../running_service.ts";
import { BOB, BOB_DN, SharingSystem } from "./sharing_system.ts";

const sharing = await SharingSystem.open({
  properties: {
    "share.maxLifetime": "2592000",
    "share.allowWriteAccess": "false",
    "share.suggestPeople": "true",
    "container.runtimeConfigurationUpdate": "false",
  },
});
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());
await Deno.writeTextFile(`${data}/d/<b>bold & "quoted".txt`, "x");

async function signedIn(user: readonly [string, string]): Promise<Visitor> {
  const visitor = new Visitor(system);
  assert.equal((await visitor.signIn(user)).status, 303);
  return visitor;
}

const alice = await signedIn(ALICE);
const bob = await signedIn(BOB);

/** Returns the path of the page to which an answer leads. */
const target = (location = "", from = "/shares/HPC") => new URL(location, `https://x${from}`).pathname;

/** Words at the top of each of these pages, and on each page of a share. */
const ABOVE = ["Servers", "Shares", "Tokens", "Help", "Signed in as alice", "Sign out"];
const CHANGE = [
  "Change",
  "Expires after",
  ...["no change", "1 day", "7 days", "30 days"],
  "Note for the recipient",
];
const END = (path: string, whom: string) => [
  "Change",
  "Delete this share …",
  `This deletes the share of ${data}/${path} for ${whom}, and its log of uses, but not the files. The link stops working at once. Downloads and uploads over HTTPS stop within seconds; UFTP sessions that are already open continue. not used yet`,
  "Delete the link and its log of uses",
  "Used",
  "Nobody has used this share yet.",
];

async function make(visitor: Visitor, fields: Readonly<Record<string, string>>) {
  const page = await visitor.get(`/shares/HPC/new?path=${encodeURIComponent(`${data}/d/`)}`);
  const usual = { token: formToken(page), path: `${data}/d/`, access: "READ", days: "7" };
  return await visitor.post("/shares/HPC", { ...usual, ...fields });
}

Deno.test("a user browses directories, shares one, gives the link away, sees its use, and changes and ends the share", async () => {
  const home = await alice.get("/");
  assert.match(home.text, /href="\.\/shares">Shares</);
  assert.match((await alice.get("/shares")).text, /You have no shares on this server/);
  const top = await alice.get("/shares/HPC/browse");
  assert.equal(top.status, 200, top.text);
  assert.match(top.text, new RegExp(`<h2><bdi>${data}/</bdi></h2>`));
  const [, down = ""] = /<a href="([^"]+)"><bdi>d\/</.exec(top.text) ?? [];
  const inside = await alice.get(
    new URL(down.replaceAll("&#38;", "&"), "https://x/shares/HPC/browse").href.slice(9),
  );
  assert.match(inside.text, /ten\.txt/);
  assert.match(inside.text, /<bdi>&#60;b&#62;bold &#38; &#34;quoted&#34;\.txt<\/bdi>/);

  const made = await make(alice, {});
  assert.equal(made.status, 303, made.text);
  const path = target(made.headers.location);
  const page = await alice.get(path);
  const [, link = ""] = /readonly value="([^"]+)"/.exec(page.text) ?? [];
  assert.match(page.text, /everyone with the link[^]*in 7 days/);
  assert.match(
    page.text,
    /<svg class="qr" role="img" aria-label="QR code of the link" viewBox="0 0 \d+ \d+"/,
  );
  assert.deepEqual(withoutTimes(wordsOf(page.text)), [
    ...ABOVE,
    "Share of d",
    "Link",
    "Anyone who has this link can use the share:",
    "Copy",
    "View as recipient",
    "File or directory",
    `${data}/d/`,
    "Recipient",
    "everyone with the link",
    "Access",
    "read",
    "Expires",
    "TIME (in 7 days)",
    ...CHANGE,
    "Password for the link",
    "Leave empty for no password. Send the password separately from the link.",
    ...END("d/", "everyone with the link"),
  ]);
  const { pathname } = new URL(link);
  assert.equal((await new Visitor(system).get(`${pathname}/ten.txt`)).text, "0123456789");
  const around = [...ABOVE, "Choose what to share on HPC"];
  const way = ["Share this directory", "Parent directory"];
  assert.deepEqual(wordsOf(top.text), [
    ...around,
    `${data}/`,
    ...way,
    "1 entry",
    "Name",
    "Size",
    "d/",
    "Share",
  ]);
  assert.deepEqual(wordsOf(inside.text), [
    ...around,
    `${data}/d/`,
    ...way,
    "3 entries",
    "Name",
    "Size",
    ...["sub/", "Share"],
    ...[`<b>bold & "quoted".txt`, "1 B", "Share"],
    ...["ten.txt", "10 B", "Share"],
  ]);
  // The service records the size once everything is sent.
  let used = "";
  for (let tries = 0; tries < 500 && !used.includes("10 B"); tries++) used = (await alice.get(path)).text;
  assert.match(
    used,
    /Someone with the link, 127\.0\.0\.1, downloaded <bdi>ten\.txt<[^]*\(this minute\) · 10 B</,
  );
  assert.match(
    (await alice.get("/shares")).text,
    new RegExp(
      `<bdi>${data}/d/</bdi></a>\\s*<p class="quiet">everyone with the link · read · expires in 7 days · used once<`,
    ),
  );

  const shown = `<bdi>${data}/d/</bdi>`;
  assert.ok((await alice.get("/")).text.includes(shown), "home lists what is shared");
  assert.ok(
    !(await new Visitor(system).get("/")).text.includes(shown),
    "and nothing to nobody in particular",
  );

  const token = formToken(await alice.get(path));
  const changed = await alice.post(path, { token, do: "change", days: "1" });
  assert.equal(changed.status, 303, changed.text);
  assert.equal(target(changed.headers.location, path), path);
  assert.match((await alice.get(path)).text, /\(tomorrow\)/);
  const ended = await alice.post(path, { token, do: "end" });
  assert.equal(ended.status, 303);
  assert.equal(target(ended.headers.location, path), "/shares");
  assert.equal((await new Visitor(system).get(`${pathname}/ten.txt`)).status, 404);
});

Deno.test("a share has the recipient and the number of uses in the form", async () => {
  const note = "<i>For you</i>";
  const made = await make(alice, {
    user: BOB_DN,
    uses: "2",
    path: `${data}/d/ten.txt`,
    note,
    password: "s&cret",
  });
  const path = target(made.headers.location);
  const page = await alice.get(path);
  assert.deepEqual(withoutTimes(wordsOf(page.text)), [
    ...ABOVE,
    "Share of ten.txt",
    "Link",
    "Link for the recipient, who must sign in:",
    "Copy",
    "View as recipient",
    "File or directory",
    `${data}/d/ten.txt`,
    "Recipient",
    "Bob",
    "Access",
    "read",
    "Expires",
    "TIME (in 7 days)",
    "Uses left",
    "2",
    "Password",
    "required",
    "Note for the recipient",
    note,
    ...CHANGE,
    "New password for the link",
    "Leave empty to keep the password. After a change, every browser asks for the new one.",
    "Remove the password",
    ...END("d/ten.txt", "Bob"),
  ]);
  assert.match(page.text, /<dd><bdi>bob<\/bdi><\/dd>/i);
  assert.match(page.text, /Uses left<\/dt><dd>2</);
  assert.match(page.text, /Password<\/dt><dd>required<[^]*<bdi>&#60;i&#62;For you/);
  assert.doesNotMatch(page.text, /s&(#38;)?cret/);
  const share = await system.ask(path.replace("/shares/", "/rest/share/"), { as: ALICE });
  assert.match(share.text, /"path":"[^"]+ten\.txt"/);
  for (
    const [fields, status] of [
      [{ path: "/nowhere" }, 404],
      [{ user: "no name" }, 400],
      [{ access: "WRITE" }, 403],
      [{ access: "NONE" }, 403],
      [{ days: "x" }, 400],
      [{ uses: "0" }, 400],
      [{ path: "" }, 400],
    ] as const
  ) assert.equal((await make(alice, fields)).status, status, JSON.stringify(fields));
});

Deno.test("errors of the form use its words, not those of the API", async () => {
  const expected: readonly (readonly [Record<string, string>, RegExp])[] = [
    [{ user: "Bob" }, /The recipient must be a distinguished name, such as CN=/],
    [{ group: "no such" }, /The recipient group must be an unprivileged Unix group/],
    [{ user: BOB_DN, group: "hpc" }, /Choose a recipient or a recipient group, not both/],
    [{ files: "2" }, /only shares with access DROP \(upload only\) have them/],
    [{ access: "DROP", mebibytes: "1.5" }, /The maximum size of all uploads must be a whole number of MiB/],
  ];
  for (const [fields, words] of expected) {
    const page = await make(alice, fields);
    assert.equal(page.status, 400, page.text);
    assert.match(page.text, words);
  }
});

Deno.test("the page changes and removes note and password, and keeps the end", async () => {
  const path = target((await make(alice, { path: `${data}/d/sub/`, days: "1" })).headers.location);
  const token = formToken(await alice.get(path));
  const change = async (fields: Readonly<Record<string, string>>) => {
    const changed = await alice.post(path, {
      token,
      do: "change",
      days: "",
      note: "",
      password: "",
      ...fields,
    });
    assert.equal(changed.status, 303, changed.text);
    return (await alice.get(path)).text;
  };
  const [, link = ""] = /readonly value="([^"]+)"/.exec((await alice.get(path)).text) ?? [];
  const opened = async () => (await new Visitor(system).get(`${new URL(link).pathname}/x.dat`)).status;
  assert.equal(await opened(), 200);
  const changed = await change({ note: "for <you>", password: "s&cret" });
  assert.match(
    changed,
    /\(tomorrow\)[^]*required[^]*<bdi>for &#60;you&#62;<[^]*value="for &#60;you&#62;"/,
  );
  assert.doesNotMatch(changed, /s&(#38;)?cret/);
  assert.equal(await opened(), 403);
  assert.match(await change({ note: "b" }), /required[^]*<bdi>b</);
  const without = await change({ open: "on" });
  assert.doesNotMatch(without, /required|<bdi>b</);
  assert.equal(await opened(), 200);
  assert.equal((await alice.post(path, { token, do: "change", note: "\u0007" })).status, 400);
});

Deno.test("the address to which the form of a new share is sent shows the shares on its server", async () => {
  assert.match((await alice.get("/shares/HPC")).text, /<h1>My shares<[^]*<bdi>HPC<\/bdi>/);
  const unknown = await alice.get("/shares/NOWHERE");
  assert.deepEqual([unknown.status, wordsOf(unknown.text).includes("ERR_UNKNOWN_SERVER")], [404, true]);
});

Deno.test("nobody can change, end or see another user's share, from any page or browser", async () => {
  const path = target((await make(alice, { path: `${data}/d/sub/` })).headers.location);
  const [own, others] = [formToken(await alice.get(path)), formToken(await bob.get("/shares"))];
  assert.equal((await bob.get(path)).status, 403);
  assert.equal((await bob.post(path, { token: formToken(await bob.get("/")), do: "end" })).status, 403);
  for (const token of [others, "", "x".repeat(43)]) {
    assert.equal((await alice.post(path, { token, do: "end" })).status, 403);
  }
  for (const site of ["cross-site", "same-site", "none"]) {
    const headers = { "Sec-Fetch-Site": site };
    assert.equal((await alice.post(path, { token: own, do: "end" }, { headers })).status, 403, site);
    assert.equal((await alice.post("/shares/HPC", { token: own }, { headers })).status, 403, site);
  }
  // Basic credentials of a browser or a program do not replace a page of ours.
  const program = await new Visitor(system).post(path, { token: own, do: "end" }, { as: ALICE });
  assert.equal(program.status, 403);
  assert.equal((await alice.get(path)).status, 200, "it is still there");
});

Deno.test("a visitor who is not signed in is redirected to the sign-in and back", async () => {
  const visitor = new Visitor(system);
  const away = await visitor.get("/shares/HPC/new?path=%2Fdata%2F");
  assert.equal(away.status, 303);
  const { pathname, search } = new URL(away.headers.location ?? "", "https://x/shares/HPC/new");
  assert.equal(pathname, "/login");
  const page = await visitor.get(pathname + search);
  const [user, password] = ALICE;
  const back = await visitor.post(pathname + search, { token: formToken(page), user, password });
  assert.equal(target(back.headers.location, pathname), "/shares/HPC/new");
  assert.match((await visitor.get("/shares/HPC/new?path=%2Fdata%2F")).text, /value="\/data\/"/);
});

Deno.test("after a form whose sign-in has ended, the sign-in says that nothing was done, and leads back to the form", async () => {
  const visitor = await signedIn(ALICE);
  const form = `https://localhost:${system.port}/shares/HPC/new?path=%2Fdata%2F`;
  const sent = {
    token: formToken(await visitor.get("/shares")),
    path: `${data}/d/`,
    access: "READ",
    days: "7",
  };
  visitor.cookies.clear();
  const late = await visitor.post("/shares/HPC", sent, { headers: { Referer: form } });
  assert.equal(late.status, 303);
  const { pathname, search } = new URL(
    late.headers.location ?? "",
    `https://localhost:${system.port}/shares/HPC`,
  );
  const page = await visitor.get(pathname + search);
  assert.match(
    page.text,
    /role="alert"[^>]*>You are not signed in, so the service did not do what you asked for/,
  );
  const [user, password] = ALICE;
  const back = await visitor.post(pathname + search, { token: formToken(page), user, password });
  assert.equal(new URL(back.headers.location ?? "", `https://localhost:${system.port}/login`).href, form);
  const elsewhere = await new Visitor(system).post("/shares/HPC", sent, {
    headers: { Referer: "https://localhost.example/shares/HPC/new" },
  });
  assert.equal(elsewhere.headers.location, "../login?to=shares&lost");
});

Deno.test("pages show paths from addresses and names in directories as text", async () => {
  const hostile = `"><script>alert(1)</script>`;
  for (const page of ["new", "browse"]) {
    const { text } = await alice.get(`/shares/HPC/${page}?path=${encodeURIComponent(hostile)}`);
    assert.doesNotMatch(text, /<script>alert/, page);
  }
  assert.equal((await alice.get("/shares/HPC/browse?path=/../../etc")).status, 400);
  assert.equal((await bob.get("/shares/HPC/browse")).status, 401, "who has no account has no directory");
  assert.equal((await alice.get("/shares/NONE/browse")).status, 404);
});

Deno.test("each look into an own directory to share is in the audit stream, also a refused one", async () => {
  await alice.get(`/shares/HPC/browse?path=${encodeURIComponent(`${data}/d/`)}`);
  await bob.get("/shares/HPC/browse");
  const lines = await auditLines(`${system.folder}/logs/audit.log`, {
    wanted: ({ action, path, dn }) =>
      action === "GET /shares/:server/browse" && (path === `${data}/d/` || dn === BOB_DN),
    count: 2,
  });
  const { decision, event, uid, server } = lines.find(({ dn }) => dn !== BOB_DN) ?? {};
  assert.deepEqual([decision, event, uid, server], ["granted", "session", "alice", "HPC"]);
  assert.equal(lines.find(({ dn }) => dn === BOB_DN)?.decision, "refused");
});

Deno.test("the owner can view a share as its recipient, which counts as no use and is recorded under the owner's name", async () => {
  const made = await make(alice, { user: BOB_DN, uses: "1", path: `${data}/d/ten.txt`, password: "s&cret" });
  const path = target(made.headers.location);
  const page = await alice.get(path);
  const [, look = ""] = /<a href="([^"]+)">View as recipient</.exec(page.text) ?? [];
  const seen = new URL(look, `https://x${path}`).pathname;
  assert.match(seen, /^\/shared\/HPC\//);
  for (let i = 0; i < 2; i++) {
    assert.match((await alice.get(seen)).text, /10 B\. Shared by/);
    assert.equal((await alice.get(`${seen}?download`)).text, "0123456789");
  }
  const after = await alice.get(path);
  assert.match(after.text, /Uses left<\/dt><dd>1</);
  assert.match(after.text, /<li>You, 127\.0\.0\.1, looked at <bdi>/);
  assert.doesNotMatch(after.text, /Someone with the link/);
  const stranger = new Visitor(system);
  const { status, headers } = await stranger.get(seen);
  assert.deepEqual([status, headers.location?.includes("login")], [303, true], "others are asked to sign in");
  assert.equal((await stranger.get(`${seen}?download`, { headers: { Accept: "*/*" } })).status, 401);
});

Deno.test("a browser that has signed in never gets a Basic challenge", async () => {
  for (const path of ["/rest/share/HPC", "/rest/access/HPC/nothing", "/rest/auth/HPC"]) {
    const reply = await alice.get(path);
    assert.doesNotMatch(String(reply.headers["www-authenticate"] ?? ""), /Basic/i, path);
  }
  const expired = new Visitor(system);
  for (const [name, value] of alice.cookies) expired.cookies.set(name, `x${value.slice(1)}`);
  const reply = await expired.get("/shared/HPC/x/y?upload=k", { method: "PUT", headers: OWN_PAGE });
  assert.doesNotMatch(String(reply.headers["www-authenticate"] ?? ""), /Basic/i);
  const program = await system.ask("/rest/share/HPC", { body: { path: "/x", user: BOB_DN } });
  assert.match(String(program.headers["www-authenticate"]), /Basic/, "programs are");
});

Deno.test("pages show names as users write them, and an error page links back", async () => {
  const made = await make(alice, { user: "CN=Ben Sample, O=Demo", path: `${data}/d/sub/` });
  const page = await alice.get(target(made.headers.location));
  assert.match(page.text, /Recipient<\/dt><dd><bdi>Ben Sample<\/bdi>/);
  const before = `https://localhost:${system.port}/shares/HPC/new?path=%2F`;
  const wrong = await alice.post("/shares/HPC", {
    token: formToken(page),
    path: "/nowhere",
    access: "READ",
    days: "7",
  }, {
    headers: { Referer: before },
  });
  assert.equal(wrong.status, 404);
  assert(wrong.text.includes(`data-back="" href="${before}"`), wrong.text);
  const foreign = await alice.get("/nothing", { headers: { Referer: "https://evil.example/" } });
  assert.doesNotMatch(foreign.text, /evil/);
});

/** Makes a share of Alice's for a user by page. */
async function sharedWith(user: string) {
  const page = await alice.get("/shares/HPC/new?path=%2F");
  const made = await alice.post("/shares/HPC", {
    token: formToken(page),
    path: `${data}/d/`,
    user,
    access: "READ",
    days: "1",
  });
  const where = new URL(made.headers.location ?? "", "https://x/shares/HPC").pathname;
  return { page: page.text, made, share: made.status === 303 ? (await alice.get(where)).text : "" };
}

Deno.test("share.suggestPeople suggests people who have signed in, by their distinguished names", async () => {
  const { page, made, share } = await sharedWith(BOB_DN);
  assert.match(
    page,
    /<datalist id="people"><option value="CN=Alice,O=Demo,C=EU">Alice<\/option><option value="CN=Bob,O=Demo,C=EU">Bob<\/option>/,
  );
  assert.equal(made.status, 303, made.text);
  assert.match(share, /Recipient<\/dt><dd><bdi>Bob<\/bdi>/);
});

Deno.test("a self-chosen name cannot name the recipient of a share", async () => {
  const { made } = await sharedWith("bob");
  assert.equal(made.status, 400, made.text);
});

Deno.test("without share.suggestPeople nobody learns who uses the service", async () => {
  await sharing.reloadWith({ "share.suggestPeople": "false" });
  const { page, made } = await sharedWith("bob");
  assert.match(page, /<datalist id="people"><\/datalist>/);
  assert.doesNotMatch(page, /Bob/);
  assert.equal(made.status, 400, "a name is no distinguished name");
});
