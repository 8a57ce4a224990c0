/** Actions of administrators (rest-api.md 1.14), over HTTPS. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { type AuditLine, auditLines } from "../fixtures/audit_lines.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import type { Question } from "./ask.ts";
import {
  ALICE,
  ALICE_DN,
  MAP,
  passwordLine,
  PASSWORDS,
  ROLE_ONLY,
  runReloadedService,
} from "./running_service.ts";

const ROOT = ["boss", "administers-9917"] as const;
const BOSS_DN = "CN=Boss,O=Demo,C=EU";
const DEPUTY = ["deputy", "represents-2281"] as const;
const DEPUTY_DN = "CN=Deputy,O=Demo,C=EU";
const USERS = PASSWORDS + passwordLine(ROOT, BOSS_DN);
const MAP_WITH_BOSS = { ...MAP, [BOSS_DN]: { role: ["user", "admin"], xlogin: "alice" } };
const DEPUTY_ENTRY = { role: "admin", xlogin: "deputy7" };

const system = await runReloadedService({
  passwords: USERS + passwordLine(DEPUTY, DEPUTY_DN),
  map: JSON.stringify({ ...MAP_WITH_BOSS, [DEPUTY_DN]: DEPUTY_ENTRY }),
  servers: {
    HPC: [{
      users: {
        alice: {
          uid: 1000,
          home: "/home/alice",
          groups: ["users", "hpc"],
          keyFiles: { ".ssh/authorized_keys": publicLine("user_ed25519") },
        },
      },
    }],
    TWO: [{}],
  },
  properties: {
    "share.servers": "HPC",
    "share.clientIP": "127.0.0.1",
    "persistence.directory": "{folder}",
    "container.audit.file": "{folder}/audit.log",
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

const boss: Question = { as: ROOT, headers: { "X-UNICORE-User-Preferences": "role:admin" } };

/** Performs an action as an administrator. */
async function act(name: string, body: unknown, question: Question = boss) {
  const reply = await system.ask(`/rest/admin/actions/${name}`, { method: "POST", ...question, body });
  return { status: reply.status, request: reply.headers["x-request-id"], ...JSON.parse(reply.text) };
}

/** Returns the audit line of an action. */
async function audited({ request }: { readonly request: string }): Promise<AuditLine> {
  const [line] = await auditLines(`${system.folder}/audit.log`, {
    wanted: (line) => line["request"] === request,
  });
  assert(line);
  return line;
}

async function newShare(): Promise<string> {
  const reply = await system.ask("/rest/share/HPC", {
    as: ALICE,
    body: { path: `${system.folder}/conf/ca.pem`, user: "CN=Bob,O=Demo" },
  });
  assert.equal(reply.status, 201, reply.text);
  return String(reply.headers.location).split("/").at(-1) ?? "";
}

Deno.test("GET /rest/admin shows administrators the status, and links to the actions", async () => {
  const reply = await system.ask("/rest/admin", boss);
  assert.equal(reply.status, 200, reply.text);
  const { upSince, containerVersion, subSystemsStatus, _links } = JSON.parse(reply.text);
  assert.match(upSince, /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d UTC \d{4}$/);
  assert.ok(Math.abs(Date.parse(upSince) - Date.now()) < 3_600_000, upSince);
  assert.match(containerVersion, /^\d/);
  assert.deepEqual(Object.keys(subSystemsStatus), ["HPC", "TWO"]);
  assert.deepEqual(Object.keys(_links), [
    "self",
    "action:ShowUserInfo",
    "action:ModifyShare",
    "action:IssueAPIToken",
    "action:GetMemoryUsage",
  ]);
  assert.match(_links["action:ModifyShare"].href, /\/rest\/admin\/actions\/ModifyShare$/);
  assert.equal(_links["action:ShowUserInfo"].description, "parameters: uid, [serverName]");
  const some = await system.ask("/rest/admin?fields=upSince,%20containerVersion", boss);
  assert.deepEqual(Object.keys(JSON.parse(some.text)), ["upSince", "containerVersion"]);
});

Deno.test("GET /rest/admin redirects browsers to the administration page", async () => {
  const reply = await system.ask("/rest/admin", {
    ...boss,
    headers: { ...boss.headers, Accept: "text/html,application/xhtml+xml;q=0.9" },
  });
  assert.deepEqual([reply.status, reply.headers.location], [303, "../admin"]);
});

const others: [string, Question, number][] = [
  ["an anonymous caller", {}, 401],
  ["a user", { as: ALICE }, 403],
  ["an administrator who did not request admin", { as: ROOT }, 403],
  ["a user who requests admin", { as: ALICE, headers: { "X-UNICORE-User-Preferences": "role:admin" } }, 403],
  ["a user without account", { as: ROLE_ONLY }, 403],
  ["a wrong password", { as: [ROOT[0], "guess"] }, 401],
];
for (const [who, question, status] of others) {
  Deno.test(`/rest/admin refuses ${who}`, async () => {
    assert.equal((await system.ask("/rest/admin", question)).status, status);
    for (const name of ["ShowUserInfo", "ModifyShare", "IssueAPIToken", "None"]) {
      const refused = await act(name, { uid: "alice", subject: ALICE_DN }, question);
      assert.equal(refused.status, status);
      assert.equal(refused.success, undefined);
    }
  });
}

Deno.test("ShowUserInfo shows what the daemons report about an account", async () => {
  const all = await act("ShowUserInfo", { uid: "alice" });
  assert.deepEqual([all.status, all.success, all.message], [200, true, "Getting info for <alice>"]);
  assert.deepEqual(all.results.HPC.state, "known");
  assert.equal(all.results.HPC.home, "/home/alice");
  assert.match(all.results.HPC.keys[0].fingerprint, /^SHA256:/);
  assert.deepEqual(Object.keys(all.results), ["HPC", "TWO"]);
  const one = await act("ShowUserInfo", { uid: "nobody", serverName: "HPC" });
  assert.deepEqual(one.results, { HPC: { state: "unknown" } });
  assert.equal(one.message, "Getting info for <nobody> on server <HPC>");
  const { event, decision, dn, done, server, user, action } = await audited(one);
  assert.deepEqual(
    [event, decision, dn, done, server, user, action],
    ["admin", "granted", BOSS_DN, true, "HPC", "nobody", "POST /rest/admin/actions/:action"],
  );
});

Deno.test("GetMemoryUsage reports memory in the format of the Java service, and accepts no parameters", async () => {
  const { success, message, results } = await act("GetMemoryUsage", {});
  assert.deepEqual([success, message], [true, "OK"]);
  assert.deepEqual(Object.keys(results), ["Process", "Heap"]);
  assert.match(results.Process, /^Used:[1-9]\d+MB$/);
  assert.match(results.Heap, /^Committed:[1-9]\d*MB,Used:[1-9]\d*MB$/);
  const { success: taken, message: why } = await act("GetMemoryUsage", { uid: "alice" });
  assert.deepEqual([taken, why], [false, "Unknown parameter, expected none"]);
});

Deno.test("ModifyShare changes only the given fields", async () => {
  const id = await newShare();
  const changed = await act("ModifyShare", {
    id,
    serverName: "HPC",
    target: "CN=Eve, O=Demo",
    path: "/data/x/../y/",
    uid: "bob",
    gid: "staff",
    owner: "CN=Bob,O=Demo",
  });
  assert.deepEqual([changed.success, changed.results], [true, {}]);
  assert.match(changed.message, /of cn=bob,o=demo for cn=eve,o=demo: \/data\/y\/, READ, as bob:staff$/);
  const { done, owner, target, path, uid, gid, server } = await audited(changed);
  assert.deepEqual([done, owner, target, path, uid, gid, server], [
    true,
    "cn=bob,o=demo",
    "cn=eve,o=demo",
    "/data/y/",
    "bob",
    "staff",
    "HPC",
  ]);
  assert.equal((await system.ask(`/rest/share/HPC/${id}`, { as: ALICE })).status, 403);

  const other = await newShare();
  const kept = await act("ModifyShare", { id: other, serverName: "HPC", target: "CN=Eve" });
  assert.match(kept.message, /of cn=alice,o=demo,c=eu for cn=eve: \S+\/conf\/ca\.pem, READ, as alice:hpc$/);
});

Deno.test("IssueAPIToken issues a token with the attributes that the sources have for the subject", async () => {
  const made = await act("IssueAPIToken", { subject: ALICE_DN, lifetime: "600" });
  assert.deepEqual([made.success, made.message], [true, "OK"]);
  const bearer = { headers: { Authorization: `Bearer ${made.results.token}` } };
  const { client } = JSON.parse((await system.ask("/rest/auth", bearer)).text);
  assert.deepEqual([client.dn, client.role.selected, client.xlogin.UID], [ALICE_DN, "user", "alice"]);
  const { user, lifetime, done } = await audited(made);
  assert.deepEqual([user, lifetime, done], [ALICE_DN, 600, true]);
  const chosen = await act("IssueAPIToken", { subject: ALICE_DN, preferences: "group:users" });
  const own = JSON.parse(
    (await system.ask("/rest/auth", { headers: { Authorization: `Bearer ${chosen.results.token}` } })).text,
  );
  assert.equal(own.client.xlogin.group, "users");

  const stranger = await act("IssueAPIToken", { subject: "CN=Unknown,O=Demo" });
  const gone = { headers: { Authorization: `Bearer ${stranger.results.token}` } };
  assert.equal((await system.ask("/rest/auth", gone)).status, 401, "whom no source knows is nobody");
});

Deno.test("a token of IssueAPIToken and its renewals end when the administrator is banned or removed", async () => {
  const bearer = (token: string): Question => ({
    headers: { Authorization: `Bearer ${token}`, Accept: "text/plain, application/json;q=0.9" },
  });
  const asked = { subject: ALICE_DN, renewable: "true" };
  const made = await act("IssueAPIToken", asked, { as: DEPUTY });
  const first = bearer(made.results.token);
  const renewed = bearer((await system.ask("/rest/auth/token?renewable=true", first)).text);
  const again = bearer((await system.ask("/rest/auth/token", renewed)).text);
  const others = bearer((await act("IssueAPIToken", asked)).results.token);
  const statuses = () =>
    Promise.all(
      [first, renewed, again, others].map(async (token) => (await system.ask("/rest/auth", token)).status),
    );
  assert.deepEqual(await statuses(), [200, 200, 200, 200]);
  const { tokens } = (await system.ask("/rest/auth/tokens", again)).json();
  assert.ok(Array.isArray(tokens));
  assert.equal(tokens.filter(({ madeBy }) => madeBy === DEPUTY_DN).length, 3);
  for (const user of [DEPUTY[0], DEPUTY_ENTRY.xlogin]) {
    const ban = (verb: string) =>
      runCommand(["ban", verb, "--user", user, "--config", system.main], recordedIo());
    assert.equal(await ban("add"), 0);
    assert.deepEqual(await statuses(), [429, 429, 429, 200], user);
    assert.equal(await ban("remove"), 0);
    assert.deepEqual(await statuses(), [200, 200, 200, 200]);
  }
  const entries = [{ [DEPUTY_DN]: { role: "banned" } }, {}, { [DEPUTY_DN]: DEPUTY_ENTRY }];
  for (const [i, entry] of entries.entries()) {
    const lines = system.log.length;
    await system.replace("conf/mapfile.json", JSON.stringify({ ...MAP_WITH_BOSS, ...entry }));
    await system.logged(/file read again.*conf\/mapfile\.json/, lines);
    const status = i < 2 ? 403 : 200;
    assert.deepEqual(await statuses(), [status, status, status, 200], JSON.stringify(entry));
  }
  await system.replace("conf/users.txt", USERS);
  await system.logged(/file read again.*conf\/users\.txt/);
  assert.deepEqual(await statuses(), [401, 401, 401, 200]);
});

Deno.test("IssueAPIToken refuses an administrator who authenticates with a token", async () => {
  const plain = { ...boss, headers: { ...boss.headers, Accept: "text/plain" } };
  const { text: token } = await system.ask("/rest/auth/token", plain);
  const bearer = { headers: { Authorization: `Bearer ${token}` } };
  assert.equal((await act("ShowUserInfo", { uid: "alice" }, bearer)).success, true);
  const refused = await act("IssueAPIToken", { subject: BOSS_DN }, bearer);
  assert.deepEqual([refused.success, refused.results], [false, {}]);
});

const bad: [string, string, unknown, RegExp][] = [
  ["ShowUserInfo", "no account", {}, /^The 'uid' parameter is required\.$/],
  ["ShowUserInfo", "an unknown server", { uid: "alice", serverName: "NONE" }, /^No such server$/],
  [
    "ShowUserInfo",
    "an unknown parameter",
    { uid: "alice", x: 1 },
    /^Unknown parameter, expected uid, serverName$/,
  ],
  ["ShowUserInfo", "__proto__", JSON.parse('{"uid":"alice","__proto__":"x"}'), /^Unknown parameter/],
  ["ModifyShare", "no share", { serverName: "HPC" }, /'id' parameter/],
  ["ModifyShare", "no server", { id: "x" }, /'serverName' parameter/],
  ["ModifyShare", "an unknown share", { id: "x", serverName: "HPC" }, /^There is no such share$/],
  ["ModifyShare", "an invalid id", { id: "../x", serverName: "HPC" }, /^There is no such share$/],
  ["ModifyShare", "a server of another share", { id: "ID", serverName: "TWO" }, /^There is no such share$/],
  ["ModifyShare", "root", { id: "ID", serverName: "HPC", uid: "root" }, /not the name of an unprivileged/],
  ["ModifyShare", "a group with a line feed", { id: "ID", serverName: "HPC", gid: "a\nb" }, /unprivileged/],
  ["ModifyShare", "a relative path", { id: "ID", serverName: "HPC", path: "x" }, /^path: /],
  ["ModifyShare", "an owner that is no DN", { id: "ID", serverName: "HPC", owner: "bob" }, /distinguished/],
  ["IssueAPIToken", "no subject", {}, /'subject' parameter/],
  ["IssueAPIToken", "a subject that is no DN", { subject: "alice" }, /^subject: expected/],
  ["IssueAPIToken", "the anonymous DN", { subject: "CN=ANONYMOUS,O=UNKNOWN,OU=UNKNOWN" }, /^subject/],
  ["IssueAPIToken", "the server's own DN", { subject: "CN=AUTH,O=Demo,C=EU" }, /^subject/],
  ["IssueAPIToken", "a lifetime in words", { subject: ALICE_DN, lifetime: "a day" }, /whole number/],
  [
    "IssueAPIToken",
    "too long a lifetime",
    { subject: ALICE_DN, lifetime: 1e7 },
    /must not exceed 86400 seconds/,
  ],
  ["IssueAPIToken", "malformed preferences", { subject: ALICE_DN, preferences: "uid" }, /key:value/],
];
Deno.test("actions report invalid parameters, and change nothing", async (t) => {
  const id = await newShare();
  const before = (await system.ask(`/rest/share/HPC/${id}`, { as: ALICE })).text;
  for (const [name, what, body, expected] of bad) {
    await t.step(`${name}: ${what}`, async () => {
      const refused = await act(name, JSON.parse(JSON.stringify(body).replace('"ID"', JSON.stringify(id))));
      assert.deepEqual([refused.status, refused.success, refused.results], [200, false, {}]);
      assert.match(refused.message, expected);
      assert.equal((await audited(refused)).done, false);
    });
  }
  const { share } = JSON.parse((await system.ask(`/rest/share/HPC/${id}`, { as: ALICE })).text);
  assert.deepEqual(share, JSON.parse(before).share);
});

Deno.test("actions refuse bodies that are not JSON objects, and unknown actions are 404", async () => {
  for (const body of ["no json", "[]", "null", '{"uid":{}}', '{"uid":["alice"]}']) {
    assert.equal((await act("ShowUserInfo", body)).status, 400, body);
  }
  for (const name of ["None", "__proto__", "constructor", "showuserinfo"]) {
    const refused = await act(name, {});
    assert.deepEqual([refused.status, refused.code], [404, "ERR_NOT_FOUND"]);
  }
  const form = { ...boss, headers: { ...boss.headers, "Content-Type": "text/plain" } };
  assert.equal((await act("ShowUserInfo", "{}", form)).status, 415);
  assert.equal((await system.ask("/rest/admin/actions/ShowUserInfo", boss)).status, 405);
});

Deno.test("/rest/admin requires the role even without access control, and does not exist where it is disabled", async () => {
  const open = await system.reloadWith({ "container.security.accesscontrol": "false" });
  assert.equal((await open.ask("/rest/admin", { as: ALICE })).status, 403);
  const body = { subject: ALICE_DN };
  const path = "/rest/admin/actions/IssueAPIToken";
  assert.equal((await open.ask(path, { method: "POST", body })).status, 403);
  const off = await system.reloadWith({ "container.feature.Admin.enable": "false" });
  assert.equal((await off.ask("/rest/admin", { as: ALICE })).status, 404);
});
