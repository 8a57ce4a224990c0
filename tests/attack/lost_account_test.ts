/** Owners of shares who lost their account or group in the map file. */
import assert from "node:assert/strict";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { authenticatorProperties } from "../system/every_method.ts";
import { ALICE, ALICE_DN } from "../system/running_service.ts";
import { SharingSystem } from "../system/sharing/sharing_system.ts";

for (const combiningPolicy of ["MERGE", "MERGE_LAST_OVERRIDES"]) {
  Deno.test(`a share of an account or group that its owner has lost cannot change its path (${combiningPolicy})`, async () => {
    await using sharing = await SharingSystem.open({
      properties: { "container.security.attributes.combiningPolicy": combiningPolicy },
    });
    const { system, data } = sharing;
    await Deno.mkdir(`${data}/outside`);
    await Deno.writeTextFile(`${data}/outside/x`, "content");
    const id = await sharing.share("d/sub/");
    const mapped = async (entry: Readonly<Record<string, unknown>>) => {
      const lines = system.log.length;
      await system.replace("conf/mapfile.json", JSON.stringify({ [ALICE_DN]: { role: "user", ...entry } }));
      await system.logged(/mapfile\.json/, lines);
    };
    const point = (path: string) =>
      system.ask(`/rest/share/HPC/${id}`, { as: ALICE, method: "PUT", body: { path: `${data}/${path}` } });
    for (const lost of [{ xlogin: "carol", group: "hpc" }, { xlogin: "alice", group: "users" }]) {
      await mapped(lost);
      const orders = system.daemon().requests.filter(({ values }) => values?.get("user") === "alice").length;
      assert.equal((await point("outside/")).status, 403);
      assert.equal((await sharing.fetch(`${id}/x`)).status, 404);
      const later = system.daemon().requests.filter(({ values }) => values?.get("user") === "alice").length;
      assert.equal(later, orders, "no session was opened");
    }
    await mapped({ xlogin: "alice", group: ["hpc", "users"] });
    assert.equal((await point("outside/")).status, 200);
    assert.equal((await sharing.fetch(`${id}/x`)).text, "content");
  });
}

Deno.test("a share of a user from a provider ends with the account or group that came from the map", async (t) => {
  const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
  await using provider = await startOidcProvider(
    authority.issue({ subject: "CN=idp", names: ["localhost"] }),
  );
  await using sharing = await SharingSystem.open({
    authority,
    daemon: {
      users: {
        alice: { uid: 1000, home: "/home/alice", groups: ["hpc"] },
        carol: { uid: 1001, home: "/home/carol", groups: ["hpc"] },
      },
    },
    properties: {
      "container.security.rest.authentication.order": "OAUTH",
      ...authenticatorProperties("OAUTH", {
        class: "OAuthAuthenticator",
        address: provider.userinfo,
        identityAssign: '"CN="+name',
        uidAssign: "login",
        groupsAssign: "groups",
        roleAssign: '"user"',
        acceptAnyAudience: "true",
      }),
    },
  });
  const { system, data } = sharing;
  const as = (name: string, login: string, groups: readonly string[] = ["hpc"]) => {
    const token = crypto.randomUUID();
    provider.tokens.set(token, { name, login, groups });
    return { headers: { Authorization: `Bearer ${token}` } };
  };
  const body = {
    path: `${data}/d/`,
    user: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN",
    access: "READ",
    lifetime: 600,
  };
  const create = (who: ReturnType<typeof as>, more: Readonly<Record<string, unknown>> = {}) =>
    system.ask("/rest/share/HPC", { ...who, body: { ...body, ...more } });
  const created = async (who: ReturnType<typeof as>, more = {}) => {
    const { status, headers: { location = "" }, text } = await create(who, more);
    assert.equal(status, 201, text);
    return location.slice(location.lastIndexOf("/") + 1);
  };

  await t.step(
    "a share of an account from the provider can only be deleted once the provider names another one",
    async () => {
      const path = `/rest/share/HPC/${await created(as("Iris", "alice"))}`;
      const change = async (who: ReturnType<typeof as>, body: Readonly<Record<string, unknown>>) =>
        (await system.ask(path, { ...who, method: "PUT", body })).status;
      const wider = [{ lifetime: 0 }, { lifetime: 3600 }, { password: "" }, { sources: [] }, {
        path: `${data}/d/sub/`,
      }];
      for (const body of wider) {
        assert.equal(
          await change(as("Iris", "carol"), body),
          403,
          JSON.stringify(body),
        );
      }
      for (const access of ["READ", "MODIFY"]) {
        const again = await create(as("Iris", "carol"), { access });
        assert.equal(again.status, 403, `created again for ${access}`);
      }
      for (const body of wider) {
        assert.equal(
          await change(as("Iris", "alice"), body),
          200,
          JSON.stringify(body),
        );
      }
      assert.equal((await system.ask(path, { ...as("Iris", "carol"), method: "DELETE" })).status, 200);
    },
  );

  await t.step("a share ends when the map no longer has its account or group", async () => {
    const map = async (entries: Readonly<Record<string, unknown>>) => {
      const lines = system.log.length;
      await system.replace("conf/mapfile.json", JSON.stringify(entries));
      await system.logged(/mapfile\.json/, lines);
    };
    await map({ "CN=Ina": { xlogin: "alice" }, "CN=Ines": { group: ["hpc", "users"] } });
    const ofMappedAccount = await created(as("Ina", ""));
    const ofMappedGroup = await created(as("Ines", "alice", []), { path: `${data}/d/sub/` });
    const status = async (id: string) => (await sharing.fetch(id)).status;
    assert.deepEqual([await status(`${ofMappedAccount}/`), await status(`${ofMappedGroup}/`)], [200, 200]);
    await map({ "CN=Ines": { group: ["users"] } });
    assert.deepEqual([await status(`${ofMappedAccount}/`), await status(`${ofMappedGroup}/`)], [404, 404]);
    assert.equal((await create(as("Ina", ""))).json().code, "ERR_NO_ACCOUNT");
    await map({ "CN=Ina": { xlogin: "carol" }, "CN=Ines": {} });
    assert.deepEqual([await status(`${ofMappedAccount}/`), await status(`${ofMappedGroup}/`)], [404, 404]);
  });
});
