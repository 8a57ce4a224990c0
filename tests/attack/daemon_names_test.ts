/** Two hosts each have an account `dora`. Its two owners sign in by keys of their hosts, under one name. */
import assert from "node:assert/strict";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { ALICE, MAP, runService } from "../system/running_service.ts";
import { authenticatorProperties, userToken } from "../system/every_method.ts";

const EVERYBODY = "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN";
const DORA = "CN=dora, OU=ssh-local-users";

const data = await Deno.realPath(await Deno.makeTempDir({ prefix: "authserver-data-" }));
await Deno.mkdir(`${data}/d`);
await Deno.writeTextFile(`${data}/f`, "0123456789");
const account = (uid: number, key: string) => ({
  uid,
  home: data,
  groups: ["users", "hpc"],
  keyFiles: { ".ssh/authorized_keys": publicLine(key) },
});
const alice = { uid: 1000, home: data, groups: ["users", "hpc"] };
const boss = account(1002, "user_ed25519");
const system = await runService({
  servers: {
    HPC: [{ users: { alice, boss, dora: account(1001, "user_rsa2048") }, maxSessions: 1000 }],
    TWO: [{ users: { alice, boss, dora: account(2001, "other_ed25519") }, maxSessions: 1000 }],
  },
  map: JSON.stringify({ ...MAP, [DORA]: { "uftpd.HPC.rateLimit": "1G" } }),
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY",
    ...authenticatorProperties("SSHKEY", { useAuthorizedKeys: "true" }),
    "share.servers": "HPC TWO",
    "persistence.directory": "{folder}/data",
  },
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await Deno.remove(data, { recursive: true });
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const here = bearer(userToken("dora", "user_rsa2048", { header: { alg: "RS256" } }));
const stranger = bearer(userToken("dora", "other_ed25519"));
const issued = await system.ask("/rest/auth/token", { headers: { ...stranger, Accept: "text/plain" } });
const SAME_NAME = [["key", stranger], ["issued token", bearer(issued.text)]] as const;

async function share(path: string, user: string, as: { headers?: typeof here; as?: typeof ALICE }) {
  const made = await system.ask("/rest/share/HPC", { ...as, body: { path: data + path, user } });
  assert.equal(made.status, 201, made.text);
  return made.headers.location?.split("/").at(-1) ?? "";
}

for (const [what, headers] of SAME_NAME) {
  Deno.test(`a ${what} of one daemon's dora reads, changes and ends no share of the other's`, async () => {
    const id = await share("/d/", EVERYBODY, { headers: here });
    const own = `/rest/share/HPC/${id}`;
    assert.equal((await system.ask(own, { headers })).status, 403);
    const longer = { method: "PUT", headers, body: { lifetime: "0" } };
    assert.equal((await system.ask(own, longer)).status, 403);
    assert.equal((await system.ask(own, { method: "DELETE", headers })).status, 403);
    const none = { headers, body: { path: `${data}/d/`, user: EVERYBODY, access: "NONE" } };
    await system.ask("/rest/share/HPC", none);
    assert.deepEqual((await system.ask("/rest/share/HPC", { headers })).json().shares, []);
    const page = await system.ask("/", { headers: { ...headers, Accept: "text/html" } });
    assert(!page.text.includes(id), "the status page lists it");
    assert.equal((await system.ask(own, { headers: here })).status, 200, "its owner still has it");
  });

  Deno.test(`a ${what} of one daemon's dora uses nothing that is shared with the other's`, async () => {
    const id = await share("/f", DORA, { as: ALICE });
    const link = `/rest/access/HPC/${id}`;
    assert.equal((await system.ask(link, { headers: { ...headers, Accept: "*/*" } })).status, 403);
    const session = { headers, body: { serverPath: `${data}/f` } };
    assert.equal((await system.ask("/rest/access/HPC", session)).status, 403);
    assert.deepEqual((await system.ask("/rest/share/HPC", { headers })).json().accessible, []);
    assert.equal((await system.ask(link, { headers: { ...here, Accept: "*/*" } })).text, "0123456789");
  });
}

Deno.test("a name with an account in the map file is the same user on both servers", async () => {
  const id = await share("/f", DORA, { as: ALICE });
  const map = { ...MAP, [DORA]: { xlogin: "dora", role: "user" } };
  const lines = system.log.length;
  await system.replace("conf/mapfile.json", JSON.stringify(map));
  await system.logged(/file read again/, lines);
  const reply = await system.ask(`/rest/access/HPC/${id}`, { headers: { ...stranger, Accept: "*/*" } });
  assert.equal(reply.text, "0123456789");
});

Deno.test("a name with the role admin administers only by a key that all servers have, not by a key of one daemon", async () => {
  const lines = system.log.length;
  const admin = { role: "admin", xlogin: "alice" };
  const map = { ...MAP, [DORA]: admin, "CN=boss, OU=ssh-local-users": admin };
  await system.replace("conf/mapfile.json", JSON.stringify(map));
  await system.logged(/file read again/, lines);
  const action = { body: { subject: "CN=Alice,O=Demo,C=EU" } };
  for (const headers of [here, ...SAME_NAME.map(([, headers]) => headers)]) {
    const client = JSON.parse((await system.ask("/rest/auth", { headers })).text).client;
    assert.equal(client.dn, DORA);
    assert.equal((await system.ask("/rest/admin", { headers })).status, 403);
    assert.equal(
      (await system.ask("/rest/admin/actions/IssueAPIToken", { method: "POST", headers, ...action })).status,
      403,
    );
  }
  const known = bearer(userToken("boss", "user_ed25519"));
  assert.equal((await system.ask("/rest/admin", { headers: known })).status, 200);
  const made = await system.ask("/rest/admin/actions/IssueAPIToken", {
    method: "POST",
    headers: known,
    ...action,
  });
  assert.equal(JSON.parse(made.text).success, true, made.text);
});
