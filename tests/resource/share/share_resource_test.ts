import assert from "node:assert/strict";
import { canonicalDn } from "../../../src/model/distinguished_name.ts";
import { ANONYMOUS_DN } from "../../../src/model/identity.ts";
import { EVERYBODY } from "../../../src/sharing/share.ts";
import { BASE, SharingSite } from "../sharing_site.ts";

const ALICE = "cn=alice,o=example";

async function own(site: SharingSite): Promise<Record<string, unknown>[]> {
  return (await (await site.ask("alice", "GET", "share/HPC")).json()).shares;
}

Deno.test("EVERYBODY is the canonical DN of the anonymous name", () => {
  assert.equal(canonicalDn(ANONYMOUS_DN), EVERYBODY);
});

Deno.test("listSharedServers() names servers with sharing, and the caller", async () => {
  await using site = await SharingSite.open();
  const { servers, sessions } = site.parts;
  const hpc = servers.get("HPC");
  assert.ok(hpc !== undefined);
  site.parts = {
    ...site.parts,
    servers: new Map([
      ...servers,
      ["FILES", { ...hpc, name: "FILES", sharing: false }],
      ["OTHER", { ...hpc, name: "OTHER" }],
    ]),
    sessions: new Map([...sessions, ["FILES", site.site.sessions]]),
  };
  const body = await (await site.ask("alice", "GET", "share")).json();
  assert.deepEqual(Object.keys(body), ["HPC", "userInfo"]);
  assert.equal(body.HPC.href, `${BASE}/rest/share/HPC`);
  assert.equal(body.HPC.description, "Main cluster");
  assert.match(body.HPC.status, /^OK/);
  assert.deepEqual(body.userInfo, { uid: "alice", gid: "users", groups: ["users", "hpc"], dn: ALICE });
  site.attributes = { xlogin: "alice2" };
  const there = await (await site.ask("alice", "GET", "share")).json();
  assert.equal(there.userInfo.uid, "alice2", "the server's own account, as the Java service says");
  const anonymous = await (await site.ask("anonymous", "GET", "share")).json();
  assert.deepEqual(anonymous.userInfo, { dn: EVERYBODY });
});

Deno.test("createShare() makes a share that stock clients can read", async () => {
  await using site = await SharingSite.open();
  const response = await site.ask("alice", "POST", "share/HPC", {
    body: {
      path: `${site.root}/d/ten.txt`,
      user: "CN=bob,  O=Example",
      access: "READ",
      onetime: "True",
      lifetime: "3600",
    },
  });
  assert.equal(response.status, 201);
  assert.equal(await response.text(), "");
  const location = response.headers.get("Location") ?? "";
  assert.match(location, /^https:\/\/auth\.example\.org:9000\/rest\/share\/HPC\/[0-9A-Za-z]{22}$/);
  const id = location.slice(-22);
  const body = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.ok(body.share.lifetime >= 3598 && body.share.lifetime <= 3600);
  assert.deepEqual({ ...body.share, lifetime: 3600 }, {
    id,
    user: "cn=bob,o=example",
    directory: false,
    path: `${site.root}/d/ten.txt`,
    access: "READ",
    lifetime: 3600,
    onetime: true,
    accessCount: 0,
    http: `${BASE}/rest/access/HPC/${id}`,
    uftp: `${BASE}/rest/access/HPC/${id}:${site.root}/d/ten.txt`,
    uses: [],
  });
  assert.equal(body.owner, ALICE);
  assert.match(body.status, /^OK/);
  assert.equal(body.userInfo.uid, "alice");
});

Deno.test("listShares() shows owner and target their view, and anonymous callers nothing (D12)", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d", { user: "CN=bob,O=Example", maxUses: 3, sources: ["10.0.0.0/8"] });
  await site.share("d/ten.txt");
  const { shares, accessible } = await (await site.ask("alice", "GET", "share/HPC")).json();
  assert.equal(shares.length, 2);
  assert.deepEqual(accessible, []);
  assert.deepEqual(shares[0], {
    id,
    user: "cn=bob,o=example",
    directory: true,
    sources: ["10.0.0.0/8"],
    path: `${site.root}/d/`,
    access: "READ",
    onetime: false,
    accessCount: 0,
    usesLeft: 3,
    http: `${BASE}/rest/access/HPC/${id}`,
    uftp: `${BASE}/rest/access/HPC:${site.root}/d/`,
  });
  const bob = await (await site.ask("bob", "GET", "share/HPC")).json();
  assert.deepEqual(bob.shares, []);
  assert.deepEqual(bob.accessible.map(({ owner, path, id }: Record<string, unknown>) => [owner, path, id]), [
    [ALICE, `${site.root}/d/`, undefined],
  ]);
  const anonymous = await (await site.ask("anonymous", "GET", "share/HPC")).json();
  assert.deepEqual([anonymous.shares, anonymous.accessible], [[], []]);
});

Deno.test("listShares() returns long lists in parts, the caller's own shares first", async () => {
  await using site = await SharingSite.open();
  const { store } = site.parts;
  const draft = {
    owner: ALICE,
    target: "cn=bob,o=example",
    uid: "alice",
    access: "READ",
    expires: 0,
  } as const;
  const others = { ...draft, owner: "cn=bob,o=example", target: ALICE };
  await store.addAll(
    Array.from({ length: 5100 }, (_, i) => {
      // Several shares have the same time of creation.
      const rest = { server: "HPC", accessCount: 0, created: Math.floor(i / 3), oneTime: false, sources: [] };
      const own = { ...draft, ...rest, id: `own${i}`, path: `/data/${i}` };
      return i < 250 ? [own, { ...others, ...rest, id: `others${i}`, path: `/other/${i}` }] : [own];
    }).flat(),
  );
  const found = { shares: new Set<string>(), accessible: new Set<string>() };
  const lengths: number[][] = [];
  let next: string | undefined = "share/HPC";
  while (next !== undefined) {
    const body: Record<"shares" | "accessible", { path: string }[]> & { next?: string; status: string } =
      await (await site.ask("alice", "GET", next)).json();
    lengths.push([body.shares.length, body.accessible.length]);
    assert.ok(lengths.length <= 2, "the list has an end");
    for (const list of ["shares", "accessible"] as const) {
      body[list].forEach(({ path }) => found[list].add(path));
    }
    assert.match(body.status, /^OK/);
    next = body.next?.replace(`${BASE}/rest/`, "");
  }
  assert.deepEqual(lengths, [[5000, 0], [100, 250]]);
  assert.deepEqual([found.shares.size, found.accessible.size], [5100, 250]);
  assert.equal((await (await site.ask("bob", "GET", "share/HPC?after=accessible")).json()).shares.length, 0);
  for (const after of ["x", "shares.", "shares.1", "shares.1.a-b", "shares.1.a.b", "accessible.x.a"]) {
    assert.equal((await site.ask("alice", "GET", `share/HPC?after=${after}`)).status, 400, after);
  }
});

Deno.test("createShare() updates the share of exactly the same target only (D3)", async () => {
  await using site = await SharingSite.open();
  const anonymous = await site.share("d/");
  const named = await site.share("d/", { user: "CN=bob,O=Example", access: "WRITE" });
  assert.notEqual(named, anonymous);
  assert.equal(await site.share("d", { lifetime: 100 }), anonymous);
  const shares = await own(site);
  assert.deepEqual(shares.map(({ id, access }) => [id, access]), [[anonymous, "READ"], [named, "WRITE"]]);
});

Deno.test("createShare() renews no share of another account, which only its owner can remove", async () => {
  const user = { home: "/home", groups: ["users"] };
  await using site = await SharingSite.open({
    users: { alice: { uid: 1001, ...user }, carol: { uid: 1003, ...user } },
  });
  const id = await site.share("d/");
  site.attributes = { xlogin: "carol" };
  const body = { path: `${site.root}/d/`, user: ANONYMOUS_DN };
  for (const access of ["READ", "MODIFY"]) {
    const response = await site.ask("alice", "POST", "share/HPC", { body: { ...body, access } });
    assert.deepEqual([response.status, (await response.json()).code], [403, "ERR_NOT_PERMITTED"]);
  }
  assert.deepEqual((await own(site)).map((share) => [share.id, share.access]), [[id, "READ"]]);
  assert.equal(
    (await site.ask("alice", "POST", "share/HPC", { body: { ...body, access: "NONE" } })).status,
    200,
  );
  assert.notEqual(await site.share("d/", { access: "MODIFY" }), id);
});

const CREATE_REFUSALS: [string, Record<string, unknown>, number, string][] = [
  ["no path", { path: undefined }, 400, "ERR_INVALID_REQUEST"],
  ["no user", { user: undefined }, 400, "ERR_INVALID_REQUEST"],
  ["an invalid user name", { user: "bob" }, 400, "ERR_INVALID_REQUEST"],
  ["an unknown access level", { access: "read" }, 400, "ERR_INVALID_REQUEST"],
  ["an invalid lifetime", { lifetime: "soon" }, 400, "ERR_INVALID_REQUEST"],
  ["no uses at all", { maxUses: 0 }, 400, "ERR_INVALID_REQUEST"],
  ["invalid sources", { sources: ["example.org"] }, 400, "ERR_INVALID_REQUEST"],
  ["a path with a line break", { path: "/a\nuser=root" }, 400, "ERR_INVALID_PATH"],
  ["a path beyond the root", { path: "/../etc" }, 400, "ERR_INVALID_PATH"],
  ["a slash after a file", { path: "ROOT/d/ten.txt/" }, 400, "ERR_INVALID_PATH"],
  ["a missing path", { path: "ROOT/none" }, 404, "ERR_NOT_FOUND"],
  ["a pipe", { path: "ROOT/pipe" }, 400, "ERR_INVALID_PATH"],
  ["uploads to a file", { path: "ROOT/d/ten.txt", access: "DROP" }, 400, "ERR_INVALID_PATH"],
  ["a quota without uploads", { maxFiles: 3 }, 400, "ERR_INVALID_REQUEST"],
  ["a long note", { note: "x".repeat(501) }, 400, "ERR_INVALID_REQUEST"],
  ["a note of two lines", { note: "a\nb" }, 400, "ERR_INVALID_REQUEST"],
  ["a long password", { password: "x".repeat(201) }, 400, "ERR_INVALID_REQUEST"],
  ["a password with a control character", { password: "a\tb" }, 400, "ERR_INVALID_REQUEST"],
  ["mail for a share without uploads", { notify: true }, 400, "ERR_INVALID_REQUEST"],
];

for (const [what, fields, status, code] of CREATE_REFUSALS) {
  Deno.test(`createShare() refuses ${what}`, async () => {
    await using site = await SharingSite.open();
    await new Deno.Command("mkfifo", { args: [`${site.root}/pipe`] }).output();
    const body = { path: `${site.root}/d/`, user: ANONYMOUS_DN, ...fields };
    const text = JSON.stringify(body).replaceAll("ROOT", site.root);
    const response = await site.ask("alice", "POST", "share/HPC", { body: text });
    assert.deepEqual([response.status, (await response.json()).code], [status, code]);
    assert.deepEqual(await own(site), []);
  });
}

Deno.test("createShare() refuses anonymous callers, the account nobody, and forbidden write access (D4)", async () => {
  await using site = await SharingSite.open();
  const body = { path: `${site.root}/d/`, user: ANONYMOUS_DN };
  for (const asked of [body, "no json"]) {
    assert.equal((await site.ask("anonymous", "POST", "share/HPC", { body: asked })).status, 401);
  }
  assert.equal((await site.ask("alice", "POST", "share/HPC", { body: "no json" })).status, 400);
  assert.equal((await site.ask("alice", "POST", "share/NONE", { body })).status, 404);
  site.attributes = { xlogin: "Nobody" };
  assert.equal((await site.ask("alice", "POST", "share/HPC", { body })).status, 403);
  site.attributes = {};
  site.parts = { ...site.parts, allowWriteAccess: false };
  for (const access of ["WRITE", "MODIFY"]) {
    assert.equal((await site.ask("alice", "POST", "share/HPC", { body: { ...body, access } })).status, 403);
  }
  assert.equal((await site.ask("alice", "POST", "share/HPC", { body })).status, 201);
});

Deno.test("createShare() refuses write access that the owner does not have", async () => {
  await using site = await SharingSite.open();
  const body = { path: `${site.root}/d/`, user: ANONYMOUS_DN, access: "WRITE" };
  for (const perm of ["le", "lw", "w"]) {
    const reply = `250- Listing\n size=0;type=dir;perm=${perm};UNIX.mode=40555; d\n250 End`;
    site.site.daemon.sessionFaults.queue.push({ kind: "reply", to: "MLST", reply });
    const response = await site.ask("alice", "POST", "share/HPC", { body });
    assert.deepEqual([response.status, (await response.json()).code], [403, "ERR_NOT_PERMITTED"]);
  }
  assert.deepEqual(await own(site), []);
});

Deno.test("createShare() refuses files and directories that the owner cannot read", async () => {
  await using site = await SharingSite.open();
  const cases: [string, string, number][] = [
    ["ten.txt", "type=file;perm=w;UNIX.mode=100222", 403],
    ["ten.txt", "type=file;perm=;UNIX.mode=100000", 403],
    ["ten.txt", "type=file;perm=rw;UNIX.mode=100666", 201],
    ["", "type=dir;perm=l;UNIX.mode=40444", 403],
    ["", "type=dir;perm=e;UNIX.mode=40111", 201],
  ];
  for (const [name, facts, status] of cases) {
    const reply = `250- Listing\n size=0;${facts}; ${name || "d"}\n250 End`;
    site.site.daemon.sessionFaults.queue.push({ kind: "reply", to: "MLST", reply });
    const body = { path: `${site.root}/d/${name}`, user: ANONYMOUS_DN };
    assert.equal((await site.ask("alice", "POST", "share/HPC", { body })).status, status, facts);
  }
});

Deno.test("createShare() respects the owner's includes and excludes", async () => {
  await using site = await SharingSite.open();
  const ask = async (path: string) => {
    const body = { path: `${site.root}/${path}`, user: ANONYMOUS_DN };
    return (await site.ask("alice", "POST", "share/HPC", { body })).status;
  };
  site.attributes = { includes: `${site.root}/d/*`, excludes: `${site.root}/d/sub/*` };
  assert.equal(await ask("d/ten.txt"), 201);
  assert.equal(await ask("d/sub/x.dat"), 403);
  assert.equal(await ask("d/sub"), 403);
  assert.equal(await ask("d2/canary"), 403);
  // Neither tells what exists outside of the limits.
  for (const name of ["d/sub/missing", "d/sub/x.dat/", "d2/missing", "missing"]) {
    assert.equal(await ask(name), 403, name);
  }
  assert.equal(await ask("d/missing"), 404);
});

Deno.test("createShare() resolves a relative path in the home directory", async () => {
  await using site = await SharingSite.open();
  const response = await site.ask("alice", "POST", "share/HPC", {
    body: { path: "d/ten.txt", user: ANONYMOUS_DN },
  });
  assert.equal(response.status, 201);
  assert.equal((await own(site))[0]?.path, `${site.root}/d/ten.txt`);
});

Deno.test("createShare() makes no more shares for a user than the operator permits", async () => {
  await using site = await SharingSite.open();
  site.parts = { ...site.parts, maxPerUser: 1 };
  const id = await site.share("d/");
  const body = { path: `${site.root}/d/ten.txt`, user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN" };
  const refused = await site.ask("alice", "POST", "share/HPC", { body });
  assert.deepEqual([refused.status, (await refused.json()).code], [403, "ERR_TOO_MANY_SHARES"]);
  assert.equal(await site.share("d/", { lifetime: 60 }), id, "terms of one that is there can be changed");
  assert.equal((await site.ask("alice", "DELETE", `share/HPC/${id}`)).status, 200);
  await site.share("d/ten.txt");
});

Deno.test("createShare() limits the lifetime as configured", async () => {
  await using site = await SharingSite.open();
  site.parts = { ...site.parts, maxLifetimeSeconds: 100 };
  await site.share("d/");
  await site.share("d/ten.txt", { lifetime: 1e9 });
  await site.share("d/sub", { lifetime: 50 });
  for (const share of await own(site)) {
    assert.ok(Number(share.lifetime) > 40 && Number(share.lifetime) <= 100, JSON.stringify(share));
  }
});

Deno.test("createShare() with NONE removes the share of that path and target, without a daemon (D36)", async () => {
  await using site = await SharingSite.open();
  await site.share("d/");
  await site.share("d/", { user: "CN=bob,O=Example" });
  await site.site.daemon.stop();
  const remove = async (path: string, user: string) =>
    (await site.ask("alice", "POST", "share/HPC", { body: { path, user, access: "NONE" } })).status;
  assert.equal(await remove(`${site.root}/d`, ANONYMOUS_DN), 200);
  assert.deepEqual(site.audited, { server: "HPC", owner: ALICE, target: EVERYBODY, path: `${site.root}/d` });
  assert.deepEqual((await own(site)).map(({ user }) => user), ["cn=bob,o=example"]);
  assert.equal(await remove("/never/shared", ANONYMOUS_DN), 200);
  assert.deepEqual(site.audited, {}, "nothing was removed");
  assert.equal(await remove(`${site.root}/d/`, "CN=bob,O=Example"), 200);
  assert.deepEqual(await own(site), []);
});

Deno.test("readShare() serves only the owner", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { user: "CN=bob,O=Example" });
  assert.equal((await site.ask("bob", "GET", `share/HPC/${id}`)).status, 403);
  assert.equal((await site.ask("anonymous", "GET", `share/HPC/${id}`)).status, 401);
  assert.equal((await site.ask("alice", "GET", "share/HPC/unknown")).status, 404);
  assert.equal((await site.ask("alice", "GET", `share/HPC-1/${id}`)).status, 200);
});

Deno.test("readShare() still shows who used a one-time share that lists no longer show", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt", { onetime: true });
  await (await site.ask("anonymous", "GET", `access/HPC/${id}`, { clientAddress: "192.0.2.7" })).text();
  assert.deepEqual(await own(site), []);
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  assert.equal(share.usedUp, true);
  assert.equal(share.uses[0].client, "192.0.2.7");
});

Deno.test("updateShare() changes path and lifetime, and reports unknown properties", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { lifetime: 100 });
  const response = await site.ask("alice", "PUT", `share/HPC/${id}`, {
    body: { path: `${site.root}/d/sub`, lifetime: 0, user: "CN=eve", access: "WRITE", sources: null },
  });
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), {
    path: "OK",
    lifetime: "OK",
    user: "Property not found!",
    access: "Property not found!",
    sources: "OK",
  });
  const [share] = await own(site);
  assert.equal(share?.path, `${site.root}/d/sub/`);
  assert.equal(share?.directory, true);
  assert.equal(share?.lifetime, undefined);
  assert.equal(share?.user, EVERYBODY);
  assert.equal(share?.access, "READ");
});

Deno.test("updateShare() does not take an empty path for the home directory", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/sub/");
  const response = await site.ask("alice", "PUT", `share/HPC/${id}`, { body: { path: "", lifetime: 60 } });
  assert.deepEqual(await response.json(), { path: "OK", lifetime: "OK" });
  const [share] = await own(site);
  assert.equal(share?.path, `${site.root}/d/sub/`);
  assert.ok(Number(share?.lifetime) > 40 && Number(share?.lifetime) <= 60, JSON.stringify(share));
});

Deno.test("updateShare() checks a new path as creation does, and changes nothing if anything is wrong (D9)", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/");
  site.attributes = { excludes: `${site.root}/d2/*` };
  const update = async (body: Record<string, unknown>, who: "alice" | "bob" = "alice") =>
    (await site.ask(who, "PUT", `share/HPC/${id}`, { body })).status;
  assert.equal(await update({ lifetime: 100, path: `${site.root}/none` }), 404);
  assert.equal(await update({ lifetime: 100, path: `${site.root}/d2` }), 403);
  assert.equal(await update({ lifetime: 100, path: "/../x" }), 400);
  assert.equal(await update({ path: `${site.root}/d/sub`, lifetime: "x" }), 400);
  assert.equal(await update({ path: 7 }), 400);
  assert.equal(await update({ path: `${site.root}/d/sub` }, "bob"), 403);
  const [share] = await own(site);
  assert.deepEqual([share?.path, share?.lifetime], [`${site.root}/d/`, undefined]);
  assert.equal((await site.ask("alice", "PUT", "share/HPC/none", { body: {} })).status, 404);
});

Deno.test("updateShare() refuses a login with another account than the share's", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/");
  const update = async (body: Record<string, unknown>) =>
    (await site.ask("alice", "PUT", `share/HPC/${id}`, { body })).status;
  const changes = [{ lifetime: 60 }, { path: `${site.root}/d/sub/` }];
  for (const body of changes) assert.equal(await update(body), 200);
  site.attributes = { xlogin: "alice2" };
  for (const body of changes) assert.equal(await update(body), 403);
});

Deno.test("updateShare() reports that the share has ended meanwhile", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/");
  site.parts.store.change = () => Promise.resolve(undefined);
  const response = await site.ask("alice", "PUT", `share/HPC/${id}`, { body: { lifetime: 60 } });
  assert.deepEqual([response.status, (await response.json()).code], [404, "ERR_SHARE_NOT_FOUND"]);
});

Deno.test("deleteShare() serves only the owner, and ignores unknown ids (D16)", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/");
  assert.equal((await site.ask("bob", "DELETE", `share/HPC/${id}`)).status, 403);
  assert.equal((await site.ask("anonymous", "DELETE", `share/HPC/${id}`)).status, 401);
  assert.equal((await site.ask("alice", "DELETE", "share/HPC/unknown")).status, 200);
  assert.equal((await site.ask("alice", "DELETE", "share/HPC/'%20OR%20'1'='1")).status, 200);
  assert.equal((await own(site)).length, 1);
  assert.equal((await site.ask("alice", "DELETE", `share/HPC-1/${id}`)).status, 200);
  assert.deepEqual(await own(site), []);
});
