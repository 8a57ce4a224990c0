import assert from "node:assert/strict";
import { server, serversOf } from "../sample_call.ts";
import { SharingSite } from "../sharing_site.ts";

/** Returns the values of the last session request to the daemon. */
function announced(site: SharingSite): ReadonlyMap<string, string> {
  return site.site.daemon.sessionRequests.at(-1) ?? new Map();
}

Deno.test("sharedUftpSession() confines the session to the shared directory (D8)", async () => {
  await using site = await SharingSite.open();
  await site.share("d/");
  for (const serverPath of [`${site.root}/d/`, `${site.root}/d`, `${site.root}//d/./`]) {
    const response = await site.ask("anonymous", "POST", "access/HPC", {
      body: { serverPath, persistent: "true", streamCount: 2, send: true },
      clientAddress: "192.0.2.7",
    });
    assert.equal(response.status, 200);
    const { secret, ...rest } = await response.json();
    assert.deepEqual(rest, {
      success: true,
      reason: "",
      serverHost: "127.0.0.1",
      serverPort: site.site.daemon.listenPort,
    });
    assert.match(secret, /^[A-Za-z0-9]{22,}$/);
    const values = announced(site);
    assert.equal(values.get("file"), `${site.root}/d/`);
    assert.equal(values.get("includes"), `${site.root}/d/*`);
    assert.equal(values.get("access-permissions"), "READ");
    assert.equal(values.get("user"), "alice");
    assert.equal(values.get("group"), "users");
    assert.equal(values.get("persistent"), "true");
    assert.equal(values.get("streams"), "2");
    assert.equal(values.get("rateLimit"), "1000");
    const { instance, daemon, via, uid } = site.audited;
    assert.deepEqual([instance, daemon, via, uid], [
      1,
      `127.0.0.1:${site.site.daemon.listenPort}`,
      "UFTP",
      "alice",
    ]);
    assert.match(values.get("client-ip") ?? "", /^192\.0\.2\.7\b/);
  }
});

Deno.test("sharedUftpSession() confines the session to one file", async () => {
  await using site = await SharingSite.open();
  await site.share("d/ten.txt", { access: "WRITE" });
  const body = { serverPath: `${site.root}/d/ten.txt`, send: "false" };
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 200);
  const values = announced(site);
  assert.equal(values.get("file"), `${site.root}/d/`);
  assert.equal(values.get("includes"), `${site.root}/d/ten.txt`);
  assert.equal(values.get("access-permissions"), "WRITE");
});

Deno.test("sharedUftpSession() opens the directory for wildcards, with which the Java client asks for files", async () => {
  await using site = await SharingSite.open();
  await site.share("d/");
  for (const [asked, directory] of [["d/*", "d/"], ["d/t?n.txt", "d/"], ["d/sub/*.dat", "d/sub/"]]) {
    const body = { serverPath: `${site.root}/${asked}` };
    assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 200);
    assert.equal(announced(site).get("file"), `${site.root}/${directory}`);
    assert.equal(announced(site).get("includes"), `${site.root}/${directory}*`);
  }
  await Deno.writeTextFile(`${site.root}/a*b`, "");
  await site.share("a*b");
  const body = { serverPath: `${site.root}/a*b` };
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 200);
  assert.equal(announced(site).get("includes"), `${site.root}/a[*]b`);
});

Deno.test("sharedUftpSession() looks up no shares for a path with a thousand directories", async () => {
  await using site = await SharingSite.open();
  const { store } = site.parts;
  let asked = 0;
  store.withPaths = () => {
    asked++;
    return Promise.resolve([]);
  };
  const body = { serverPath: "/a".repeat(1000) };
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 400);
  assert.equal(asked, 0);
});

Deno.test("sharedUftpSession() accepts the folder of a shared file, at the address that the share shows", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt");
  const { share } = await (await site.ask("alice", "GET", `share/HPC/${id}`)).json();
  const shown: string = share.uftp.slice("https://".length);
  const [address, path] = [
    shown.slice(0, shown.indexOf(id) + id.length),
    shown.slice(shown.indexOf(id) + id.length + 1),
  ];
  assert.equal(`${address}:${path}`, shown);
  const at = address.slice(address.indexOf("access/"));
  for (const serverPath of [path, path.slice(0, path.lastIndexOf("/") + 1)]) {
    assert.equal((await site.ask("anonymous", "POST", at, { body: { serverPath } })).status, 200);
    const values = announced(site);
    assert.equal(values.get("file"), `${site.root}/d/`);
    assert.equal(values.get("includes"), `${site.root}/d/ten.txt`);
  }
  for (const serverPath of [`${site.root}/`, `${site.root}/d/sub/`, `${site.root}/d2/`]) {
    assert.equal((await site.ask("anonymous", "POST", at, { body: { serverPath } })).status, 404);
  }
  const folder = { serverPath: `${site.root}/d/` };
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body: folder })).status, 404);
});

Deno.test("sharedUftpSession() lets the most specific share decide", async () => {
  await using site = await SharingSite.open();
  await site.share("", { access: "WRITE" });
  await site.share("d/", { user: "CN=bob,O=Example" });
  const ask = (path: string, who: "bob" | "anonymous", send = true) =>
    site.ask(who, "POST", "access/HPC", { body: { serverPath: `${site.root}/${path}`, send } });
  assert.equal((await ask("d/ten.txt", "bob")).status, 200);
  assert.equal(announced(site).get("access-permissions"), "READ");
  assert.equal((await ask("d/ten.txt", "bob", false)).status, 403);
  assert.equal((await ask("d/ten.txt", "anonymous")).status, 200);
  assert.equal(announced(site).get("access-permissions"), "WRITE");
  assert.equal((await ask("d2/", "bob")).status, 200);
});

Deno.test("sharedUftpSession() of a one-time share works once, and not persistently", async () => {
  await using site = await SharingSite.open();
  await site.share("d/", { onetime: true });
  const body = { serverPath: `${site.root}/d/`, persistent: true };
  site.site.daemon.commandFaults.queue.push({ kind: "close-without-reply" });
  const failed = await site.ask("anonymous", "POST", "access/HPC", { body });
  assert.ok(failed.status >= 500);
  await failed.text();
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 200);
  assert.equal(announced(site).get("persistent"), "false");
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 404);
});

Deno.test("sharedUftpSession() does not ask a server that is down, and takes no use", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { onetime: true });
  const { servers } = site.parts;
  const hpc = servers.get("HPC");
  assert.ok(hpc !== undefined);
  const down = { ...hpc, daemons: server("HPC", { up: false }).daemons };
  site.parts = { ...site.parts, servers: serversOf(down) };
  const body = { serverPath: `${site.root}/d/` };
  const refused = await site.ask("anonymous", "POST", `access/HPC/${id}`, { body });
  assert.deepEqual([refused.status, (await refused.json()).code], [503, "ERR_SERVER_DOWN"]);
  site.parts = { ...site.parts, servers };
  assert.equal((await site.ask("anonymous", "POST", `access/HPC/${id}`, { body })).status, 200);
});

Deno.test("sharedUftpSession() applies the owner's current limits (D20)", async () => {
  await using site = await SharingSite.open();
  await site.share("d/");
  const body = { serverPath: `${site.root}/d/` };
  site.limits = { excludes: `${site.root}/d/sub/*` };
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 200);
  assert.equal(announced(site).get("excludes"), `${site.root}/d/sub/*`);
  site.limits = { excludes: "*.key" };
  const crossing = await site.ask("anonymous", "POST", "access/HPC", { body });
  assert.deepEqual([crossing.status, (await crossing.json()).code], [403, "ERR_SCOPE_NOT_EXPRESSIBLE"]);
  site.limits = { includes: "/elsewhere/*" };
  assert.equal((await site.ask("anonymous", "POST", "access/HPC", { body })).status, 404);
});

/** Requests a session as bob, and returns its account, or the code of the error. */
async function sessionOf(
  site: SharingSite,
  path: string,
  more: Record<string, unknown> = {},
  at = "access/HPC",
) {
  const body = { serverPath: `${site.root}/${path}`, ...more };
  const response = await site.ask("bob", "POST", at, { body });
  const { code } = await response.json();
  return response.status === 200 ? announced(site).get("user") : code;
}

Deno.test("sharedUftpSession() runs as the first owner, whoever shares the path later", async () => {
  await using site = await SharingSite.open();
  const bob = { user: "CN=bob,O=Example", access: "WRITE" };
  await site.share("d/", bob, "carol");
  for (const path of ["d/", "d/ten.txt", "d/sub/", ""]) {
    const body = { path: `${site.root}/${path}`, ...bob };
    const refused = await site.ask("dave", "POST", "share/HPC", { body });
    assert.deepEqual([refused.status, (await refused.json()).code], [409, "ERR_SHARED_BY_ANOTHER"], path);
  }
  // Later shares that are already in the store, say by an import, do not take precedence either.
  const { store } = site.parts;
  const [carols] = await store.ownedBy("HPC", "cn=carol,o=example");
  assert.ok(carols);
  const daves = { ...carols, owner: "cn=dave,o=example", uid: "dave", created: carols.created + 1 };
  await store.addAll([{ ...daves, id: "later" }, { ...daves, id: "deeper", path: `${site.root}/d/ten.txt` }]);
  assert.equal(await sessionOf(site, "d/ten.txt", { send: false }), "carol");
  assert.equal(await sessionOf(site, "d/"), "carol");
  assert.equal(await sessionOf(site, "d/ten.txt", { owner: "CN=Dave, O=Example" }), "dave");
  assert.equal(await sessionOf(site, "d/ten.txt", { owner: "CN=Alice, O=Example" }), "ERR_SHARE_NOT_FOUND");
  assert.equal(await sessionOf(site, "d/ten.txt", { owner: "Dave" }), "ERR_INVALID_REQUEST");
});

Deno.test("sharedUftpSession() runs as the owner at home, even if another user shared everything before", async () => {
  await using site = await SharingSite.open();
  await site.share("", {}, "carol");
  await site.share("d/");
  assert.equal(await sessionOf(site, "d/ten.txt"), "alice");
  assert.equal(await sessionOf(site, "d2/"), "carol");
});

Deno.test("sharedUftpSession() uses the share that the request names, if it is for the caller and covers the path", async () => {
  await using site = await SharingSite.open();
  const carols = await site.share("d/", { user: "CN=bob,O=Example" }, "carol");
  const daves = await site.share("d/", { user: "CN=alice,O=Example" }, "dave");
  const alices = await site.share("d/");
  assert.equal(await sessionOf(site, "d/ten.txt"), "alice");
  assert.equal(await sessionOf(site, "d/ten.txt", { share: carols }), "carol");
  assert.equal(await sessionOf(site, "d/", {}, `access/HPC/${carols}`), "carol");
  assert.equal(await sessionOf(site, "d/ten.txt", { share: alices, owner: "CN=alice,O=Example" }), "alice");
  assert.equal(
    await sessionOf(site, "d/", { share: alices, owner: "CN=carol,O=Example" }),
    "ERR_SHARE_NOT_FOUND",
  );
  assert.equal(await sessionOf(site, "d2/", { share: carols }), "ERR_SHARE_NOT_FOUND");
  assert.equal(await sessionOf(site, "d/", { share: "no id" }), "ERR_SHARE_NOT_FOUND");
  assert.equal(await sessionOf(site, "d/", { share: daves }), "ERR_NOT_PERMITTED");
});

Deno.test("sharedUftpSession() applies the limits at the share's creation, and those of now", async () => {
  await using site = await SharingSite.open();
  const secret = `${site.root}/d/sub/*`;
  site.attributes = { excludes: secret };
  await site.share("d/");
  site.attributes = {};
  const excludes = async () => {
    assert.equal(await sessionOf(site, "d/"), "alice");
    return announced(site).get("excludes");
  };
  assert.equal(await sessionOf(site, "d/sub/x.dat"), "ERR_NOT_FOUND");
  assert.equal(await excludes(), secret);
  site.limits = { excludes: `${site.root}/d/ten.txt` };
  assert.equal(await excludes(), `${site.root}/d/ten.txt:${secret}`);
  // New terms count as a new share.
  await site.share("d/");
  site.limits = {};
  assert.equal(await excludes(), undefined);
});

const REFUSALS: [string, unknown, number, string][] = [
  ["a path that nobody shares", { serverPath: "/elsewhere" }, 404, "ERR_SHARE_NOT_FOUND"],
  ["a directory whose name begins like the share's", { serverPath: "ROOT/d2/" }, 404, "ERR_SHARE_NOT_FOUND"],
  ["a path that leads out of the share", { serverPath: "ROOT/d/../d2/canary" }, 404, "ERR_SHARE_NOT_FOUND"],
  ["writing to a share for reading", { serverPath: "ROOT/d/", send: false }, 403, "ERR_NOT_PERMITTED"],
  ["a path that is shared with another user", { serverPath: "ROOT/d/sub/x.dat" }, 401, "ERR_UNAUTHENTICATED"],
  ["a relative path", { serverPath: "d/" }, 400, "ERR_INVALID_PATH"],
  ["the home directory", { serverPath: "" }, 400, "ERR_INVALID_PATH"],
  ["a line break in the path (D2)", { serverPath: "ROOT/d/\nuser=root" }, 400, "ERR_INVALID_PATH"],
  ["a body without path", {}, 400, "ERR_INVALID_REQUEST"],
  ["a body that is not an object", [], 400, "ERR_INVALID_REQUEST"],
];

for (const [what, body, status, code] of REFUSALS) {
  Deno.test(`sharedUftpSession() refuses ${what}`, async () => {
    await using site = await SharingSite.open();
    if (code === "ERR_UNAUTHENTICATED") await site.share("d/sub/x.dat", { user: "CN=bob,O=Example" });
    else await site.share("d/");
    const text = JSON.stringify(body).replaceAll("ROOT", site.root);
    const response = await site.ask("anonymous", "POST", "access/HPC", { body: text });
    assert.deepEqual([response.status, (await response.json()).code], [status, code]);
  });
}
