/** Shares for the members of a Unix group; the service checks membership at each use. */
import assert from "node:assert/strict";
import { httpError } from "../../../src/model/http_error.ts";
import { SharingSite, type Who } from "../sharing_site.ts";

/** Returns the answers to a caller who uses a share of alice's directory `d/`. */
async function statuses(site: SharingSite, id: string, who: Who) {
  const download = await site.ask(who, "GET", `access/HPC/${id}/ten.txt`);
  await download.body?.cancel();
  const byPath = await site.ask(who, "POST", "access/HPC", { body: { serverPath: `${site.root}/d/` } });
  const byId = await site.ask(who, "POST", `access/HPC/${id}`, { body: { serverPath: `${site.root}/d/` } });
  const listed = await (await site.ask(who, "GET", "share/HPC")).json();
  return [download.status, byPath.status, byId.status, listed.accessible.length];
}

Deno.test("a share for a group serves only users who are members on the server at that time", async () => {
  await using site = await SharingSite.open();
  site.groups = { carol: ["users", "proj"], dave: ["users", "PROJ"], alice: ["users"] };
  const id = await site.share("d/", { user: "group:proj" });
  assert.deepEqual(
    [site.audited.target, site.audited.owner],
    ["group:proj", "cn=alice,o=example"],
    "the audit line says for whom",
  );
  assert.deepEqual(await statuses(site, id, "carol"), [200, 200, 200, 1]);
  assert.deepEqual(await statuses(site, id, "dave"), [403, 403, 403, 0], "the case of a group counts");
  assert.deepEqual(await statuses(site, id, "bob"), [403, 403, 403, 0], "who has no account is in no group");
  assert.deepEqual(await statuses(site, id, "anonymous"), [401, 401, 401, 0]);
  assert.deepEqual(await statuses(site, id, "alice"), [403, 403, 403, 0], "its owner has no special right");

  site.groups = { carol: ["users"], dave: ["proj"] };
  assert.deepEqual(await statuses(site, id, "carol"), [403, 403, 403, 0], "who has left the group");
  assert.deepEqual(await statuses(site, id, "dave"), [200, 200, 200, 1], "who has joined it");
});

Deno.test("callers without an account are in no group, whatever the attributes say", async () => {
  await using site = await SharingSite.open();
  site.groups = { anonymous: ["proj"], bob: ["proj"] };
  const id = await site.share("d/", { user: "group:proj" });
  assert.deepEqual(await statuses(site, id, "anonymous"), [401, 401, 401, 0]);
  assert.deepEqual(await statuses(site, id, "bob"), [403, 403, 403, 0]);
});

Deno.test("a share for a group is listed for its owner and its members, with the group", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { user: " Group:hpc" });
  const [own] = (await (await site.ask("alice", "GET", "share/HPC")).json()).shares;
  assert.deepEqual([own.id, own.user], [id, "group:hpc"]);
  const [seen] = (await (await site.ask("carol", "GET", "share/HPC")).json()).accessible;
  assert.deepEqual([seen.owner, seen.user], ["cn=alice,o=example", "group:hpc"]);
  await site.share("d/sub/", { user: "CN=carol, O=Example" });
  const [, named] = (await (await site.ask("carol", "GET", "share/HPC")).json()).accessible;
  assert.equal(named.user, undefined, "a share for one person is told as before");
});

Deno.test("new terms change the share for the same group, and NONE ends only that share", async () => {
  await using site = await SharingSite.open();
  const [everybody, hpc] = [await site.share("d/"), await site.share("d/", { user: "group:hpc" })];
  assert.notEqual(everybody, hpc);
  assert.equal(await site.share("d/", { user: "group:hpc", access: "WRITE" }), hpc);
  const end = { path: `${site.root}/d/`, user: "group:hpc", access: "NONE" };
  assert.equal((await site.ask("alice", "POST", "share/HPC", { body: end })).status, 200);
  const { shares } = await (await site.ask("alice", "GET", "share/HPC")).json();
  assert.deepEqual(shares.map(({ id }: { id: string }) => id), [everybody]);
});

Deno.test("among an owner's shares of a path, the caller's decides, then a group's, then everybody's", async () => {
  await using site = await SharingSite.open();
  const permission = async (who: Who) => {
    const body = { serverPath: `${site.root}/d/`, send: true };
    assert.equal((await site.ask(who, "POST", "access/HPC", { body })).status, 200);
    return site.site.daemon.sessionRequests.at(-1)?.get("access-permissions");
  };
  await site.share("d/");
  await site.share("d/", { user: "group:hpc", access: "WRITE" });
  await site.share("d/", { user: "CN=dave, O=Example" });
  assert.deepEqual(
    [await permission("anonymous"), await permission("carol"), await permission("dave")],
    ["READ", "WRITE", "READ"],
  );
});

Deno.test("members upload files under the owner's account if the share for their group permits", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { user: "group:hpc", access: "WRITE" });
  const put = async (who: Who) =>
    (await site.ask(who, "PUT", `access/HPC/${id}/${who}.txt`, { body: "new" })).status;
  assert.deepEqual([await put("carol"), await put("bob"), await put("anonymous")], [201, 403, 401]);
  assert.equal(site.site.daemon.sessionRequests.at(-1)?.get("user"), "alice");
  const [{ uses }] = [(await (await site.ask("alice", "GET", `share/HPC/${id}`)).json()).share];
  assert.deepEqual([uses[0].user, uses.length], ["cn=carol,o=example", 1]);
});

Deno.test("a share for a group gives no access once its owner is banned or may no longer reach it", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/", { user: "group:hpc" });
  site.limits = { excludes: "*.txt" };
  assert.equal((await site.ask("carol", "GET", `access/HPC/${id}/ten.txt`)).status, 404);
  site.limits = {};
  const { owners } = site.parts;
  const limits = () => Promise.reject(httpError("ERR_SHARE_NOT_FOUND", "the owner is banned"));
  site.parts = { ...site.parts, owners: { ...owners, limits } };
  assert.deepEqual((await statuses(site, id, "carol")).slice(0, 3), [404, 404, 404]);
});

Deno.test("the addresses and uses of a share for a group bind its members", async () => {
  await using site = await SharingSite.open();
  const id = await site.share("d/ten.txt", { user: "group:hpc", maxUses: 1, sources: ["192.0.2.0/24"] });
  const get = async (clientAddress: string) => {
    const response = await site.ask("carol", "GET", `access/HPC/${id}`, { clientAddress });
    await response.text();
    return response.status;
  };
  assert.deepEqual([await get("198.51.100.1"), await get("192.0.2.1"), await get("192.0.2.1")], [
    403,
    200,
    404,
  ]);
});

for (
  const user of ["group:", "group:*", "group:CN=Ann,O=Site", "group:root", "group:a b", "group:hpc:users"]
) {
  Deno.test(`createShare() refuses the target ${user}`, async () => {
    await using site = await SharingSite.open();
    const body = { path: `${site.root}/d/`, user };
    const response = await site.ask("alice", "POST", "share/HPC", { body });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /user: expected a distinguished name, or group: and/);
  });
}

Deno.test("createShare() refuses an unknown group, but not one without the owner", async () => {
  await using site = await SharingSite.open();
  const asked = async (group: string) => {
    const body = { path: `${site.root}/d/`, user: `group:${group}`, access: "READ" };
    const response = await site.ask("alice", "POST", "share/HPC", { body: JSON.stringify(body) });
    return [response.status, (await response.text()).includes("does not know this group")];
  };
  assert.deepEqual(await asked("nonsense"), [400, true]);
  assert.deepEqual(await asked("proj"), [201, false]);
  assert.deepEqual(await asked("hpc"), [201, false]);
});
