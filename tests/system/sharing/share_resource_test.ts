import assert from "node:assert/strict";
import { ALICE } from "../running_service.ts";
import { BOB, BOB_DN, EVERYBODY, SharingSystem } from "./sharing_system.ts";

// Logs every line, to test that none contains the id of a share.
const sharing = await SharingSystem.open({
  properties: { "container.logging.level": "debug", "container.runtimeConfigurationUpdate": "false" },
});
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

Deno.test("stock clients can create, list, read, change and remove shares", async () => {
  const { system, data, origin } = sharing;
  const path = `${data}/d/ten.txt`;
  const as = ALICE;

  const made = await system.ask("/rest/share/HPC", {
    as,
    body: {
      path,
      user: "cn=anonymous,o=unknown,ou=unknown",
      access: "READ",
      onetime: "false",
      lifetime: "3600",
    },
  });
  assert.equal(made.status, 201);
  assert.equal(made.text, "");
  const location = made.headers.location ?? "";
  assert.match(location, new RegExp(`^${origin}/rest/share/HPC/[0-9A-Za-z]{22}$`));
  const own = new URL(location).pathname;
  const id = own.slice(own.lastIndexOf("/") + 1);

  const read = (await system.ask(own, { as })).json();
  const { lifetime, ...share } = read.share as Record<string, unknown>;
  assert.ok(typeof lifetime === "number" && lifetime > 3590 && lifetime <= 3600);
  assert.deepEqual(share, {
    id,
    user: "cn=anonymous,o=unknown,ou=unknown",
    directory: false,
    path,
    access: "READ",
    onetime: false,
    accessCount: 0,
    http: `${origin}/rest/access/HPC/${id}`,
    uftp: `${origin}/rest/access/HPC/${id}:${path}`,
    uses: [],
  });

  const again = await system.ask("/rest/share/HPC", {
    as,
    body: { path, user: EVERYBODY, access: "READ", onetime: true, lifetime: 60 },
  });
  assert.deepEqual([again.status, again.headers.location], [201, location], "the same share, new terms");

  const listed = (await system.ask("/rest/share/HPC", { as })).json();
  assert.deepEqual((listed.shares as { id: string; onetime: boolean }[]).map((s) => [s.id, s.onetime]), [
    [id, true],
  ]);
  assert.deepEqual(listed.accessible, []);
  const { uid, dn } = listed.userInfo as Record<string, unknown>;
  assert.deepEqual([uid, dn], ["alice", "cn=alice,o=demo,c=eu"]);

  const changed = await system.ask(own, {
    as,
    method: "PUT",
    body: { path: `${data}/d`, lifetime: "0", user: EVERYBODY, access: "READ", onetime: null },
  });
  assert.equal(changed.status, 200, changed.text);
  assert.deepEqual(changed.json(), {
    path: "OK",
    lifetime: "OK",
    user: "Property not found!",
    access: "Property not found!",
    onetime: "Property not found!",
  });
  const after = (await system.ask(own, { as })).json().share as Record<string, unknown>;
  assert.deepEqual([after.path, after.directory, "lifetime" in after], [`${data}/d/`, true, false]);

  const gone = await system.ask(own, { as, method: "DELETE" });
  assert.deepEqual([gone.status, gone.text], [200, ""]);
  assert.equal((await system.ask(own, { as })).status, 404);
  assert.equal((await system.ask(own, { as, method: "DELETE" })).status, 200);
});

Deno.test("access NONE removes the share of that path and target, without a daemon", async () => {
  const { system, data } = sharing;
  await Deno.mkdir(`${data}/none`);
  const forAll = await sharing.share("none");
  const forBob = await sharing.share("none", { user: BOB_DN });
  await system.daemon().stop();
  const body = { path: `${data}/none`, user: BOB_DN, access: "NONE" };
  assert.equal((await system.ask("/rest/share/HPC", { as: ALICE, body })).status, 200);
  const { shares } = (await system.ask("/rest/share/HPC", { as: ALICE })).json();
  const ofFolder = (shares as { id: string; path: string }[]).filter(({ path }) => path === `${data}/none/`);
  assert.deepEqual(ofFolder.map(({ id }) => id), [forAll]);
  assert.notEqual(forAll, forBob);
  const mine = await system.ask("/rest/share/HPC", { as: BOB, body: { ...body, user: EVERYBODY } });
  assert.equal(mine.status, 200, "what is not there is no error");
  assert.equal((await system.ask(`/rest/share/HPC/${forAll}`, { as: ALICE })).status, 200);
  await system.daemon().start();
});

Deno.test("a share for one user is only for that user", async () => {
  const id = await sharing.share("d/ten.txt", { user: BOB_DN });
  const { accessible } = (await sharing.system.ask("/rest/share/HPC", { as: BOB })).json();
  const [share] = accessible as Record<string, unknown>[];
  assert.deepEqual([share?.owner, "id" in (share ?? {})], ["cn=alice,o=demo,c=eu", false]);
  assert.equal((await sharing.fetch(id, { as: BOB })).text, "0123456789");
  assert.equal((await sharing.fetch(id, { as: ALICE })).status, 403);
  const nobody = await sharing.fetch(id);
  assert.equal(nobody.status, 401);
  assert.match(nobody.headers["www-authenticate"] ?? "", /^Basic /);
  assert.equal((await sharing.system.ask(`/rest/share/HPC/${id}`, { as: BOB })).status, 403);
});

Deno.test("share ids never appear in the log, whatever happens to the share", async () => {
  const { system, data } = sharing;
  const ids = [
    await sharing.share("d"),
    await sharing.share("d/ten.txt", { onetime: true, access: "WRITE" }),
  ];
  for (const id of ids) {
    for (
      const [method, path] of [["GET", id], ["HEAD", id], ["GET", `${id}/no`], ["POST", id], [
        "PUT",
        `${id}/../x`,
      ]]
    ) {
      await sharing.fetch(path ?? "", { method });
    }
    for (
      const [method, as] of [["GET", BOB], ["PUT", BOB], ["DELETE", BOB], ["PUT", ALICE], [
        "DELETE",
        ALICE,
      ]] as const
    ) {
      const body = method === "PUT" ? { path: `${data}/nothing`, lifetime: "x" } : undefined;
      await system.ask(`/rest/share/HPC/${id}`, { as, method, body });
    }
  }
  await system.logged(/share used/);
  const file = await Deno.readTextFile(`${system.folder}/logs/authserver.log`);
  for (const id of ids) {
    assert.equal(system.log.filter((line) => line.includes(id)).join("\n"), "");
    assert.equal(file.includes(id), false);
  }
});

// The last tests begin with a reload, since they need other properties than the tests before them.
const OFF: [what: string, properties: Record<string, string>][] = [
  ["the feature is off", { "container.feature.DataSharing.enable": "false" }],
  ["no server has sharing", { "share.servers": "" }],
];

for (const [what, properties] of OFF) {
  Deno.test(`nothing is shared when ${what}`, async () => {
    await sharing.reloadWith(properties);
    const { system, data } = sharing;
    const { HPC } = (await system.ask("/rest/auth", { as: ALICE })).json();
    assert.deepEqual((HPC as Record<string, unknown>).dataSharing, { enabled: false });
    const body = { path: `${data}/d`, user: EVERYBODY, serverPath: "/" };
    for (const path of ["/rest/share/HPC", "/rest/access/HPC"]) {
      assert.equal((await system.ask(path, { as: ALICE, body })).status, 404, path);
    }
    for (const path of ["/rest/share/HPC", "/rest/share/HPC/abc", "/rest/access/HPC/abc"]) {
      assert.equal((await system.ask(path, { as: ALICE })).status, 404, path);
    }
  });
}

Deno.test("links begin with the address that the gateway's clients use", async () => {
  const gateway = "https://gw.example.org:8080/DEMO";
  await sharing.reloadWith({
    "container.security.gateway.enable": "true",
    "container.security.gateway.waitOnStartup": "false",
    "container.security.gateway.trustedPeers": "127.0.0.1 ::1",
  });
  const { system, data } = sharing;
  await Deno.mkdir(`${data}/gateway`);
  await Deno.writeTextFile(`${data}/gateway/ten.txt`, "0123456789");
  const headers = { "X-UNICORE-Gateway": gateway, "X-UNICORE-Consignor-IP": "192.0.2.7" };
  const body = { path: `${data}/gateway`, user: EVERYBODY };
  const made = await system.ask("/rest/share/HPC", { as: ALICE, body, headers });
  assert.match(
    made.headers.location ?? "",
    /^https:\/\/gw\.example\.org:8080\/DEMO\/rest\/share\/HPC\/\w{22}$/,
  );
  const id = made.headers.location?.slice(-22) ?? "";
  const read = await system.ask(`/DEMO/rest/share/HPC/${id}`, { as: ALICE, headers });
  assert.equal((read.json().share as Record<string, unknown>).http, `${gateway}/rest/access/HPC/${id}`);
  const listing = await sharing.fetch(id, { headers: { ...headers, Accept: "text/html" } });
  assert.match(listing.text, new RegExp(`href="${gateway}/rest/access/HPC/${id}/ten\\.txt"`));
  const { share } = (await system.ask(`/rest/share/HPC/${id}`, { as: ALICE })).json();
  const [use] = (share as { uses: { client: string }[] }).uses;
  assert.equal(use?.client, "192.0.2.7");
});
