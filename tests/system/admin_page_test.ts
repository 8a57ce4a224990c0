/** Administration page, which offers what operators see and do at the command line. */
import assert from "node:assert/strict";
import { auditLines } from "../fixtures/audit_lines.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { ALICE, MAP, passwordLine, PASSWORDS, runService, settled, STRANGER } from "./running_service.ts";
import { formToken, Visitor } from "./visitor.ts";

const BOSS = ["boss", "administers-9917"] as const;
const BOSS_DN = "CN=Boss,O=Demo,C=EU";
/** Password that a hurried user typed as user name. */
const SECRET = "hunter2-in-the-wrong-field";

const system = await runService({
  passwords: PASSWORDS + passwordLine(BOSS, BOSS_DN),
  map: JSON.stringify({ ...MAP, [BOSS_DN]: { role: ["user", "admin"], xlogin: "bob" } }),
  servers: { HPC: [{}], "GROUP": [{}, {}] },
  properties: {
    "persistence.directory": "{folder}/data",
    "container.audit.file": "{folder}/logs/audit.log",
    "authservice.server.HPC.reservations.enable": "true",
    "authservice.server.HPC.reservations.file": "{folder}/conf/reservations.json",
  },
  files: {
    "conf/reservations.json": JSON.stringify({
      reservations: [{
        name: "<i>night</i>",
        from: "2020-01-01 00:00",
        to: "2099-01-01 00:00",
        uids: ["bob"],
        rateLimit: "10m",
      }],
    }),
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());
await settled(system, "GROUP");

async function signedIn(user: readonly [string, string]): Promise<Visitor> {
  const visitor = new Visitor(system);
  assert.equal((await visitor.signIn(user)).status, 303);
  return visitor;
}

async function command(...args: readonly string[]): Promise<string> {
  const io = recordedIo();
  assert.equal(await runCommand([...args, "--config", system.main], io), 0, io.err);
  return io.out;
}

const audited = (task: string) =>
  auditLines(`${system.folder}/logs/audit.log`, { wanted: (line) => line["task"] === task });

Deno.test("an administrator sees daemons, failed logins and reservations, but no unknown user names", async () => {
  const boss = await signedIn(BOSS);
  assert.match((await boss.get("/")).text, /href="\.\/admin">Administration</);
  for (const user of ["alice", SECRET]) await new Visitor(system).signIn([user, "guess"]);
  const { text, status } = await boss.get("/admin");
  assert.equal(status, 200, text);
  const group = system.daemons("GROUP").map(({ listenPort }) =>
    `<td>127.0.0.1:${listenPort}</td><td>Up</td>`
  );
  for (const row of group) assert(text.includes(row), text);
  assert.match(text, /<td><bdi>alice<\/bdi><\/td><td>127\.0\.0\.1<\/td><td>1<\/td><td><time/);
  assert.match(text, /<bdi>unknown-[0-9a-f]{8}<\/bdi>/);
  assert(!text.includes(SECRET));
  assert.match(text, /HPC: <bdi>&#60;i&#62;night&#60;\/i&#62;<\/bdi>: from <time/);
  assert.match(text, /Nobody is banned\./);
});

Deno.test("the administration page refuses everyone else, whatever their credentials", async () => {
  const alice = await signedIn(ALICE);
  assert.doesNotMatch((await alice.get("/")).text, /admin/);
  assert.equal((await alice.get("/admin")).status, 403);
  const token = formToken(await alice.get("/"));
  const fields = { token, user: BOSS[0], for: "1h", do: "ban" };
  assert.equal((await alice.post("/admin/bans", fields)).status, 403);
  const stranger = await new Visitor(system).get("/admin");
  assert.deepEqual([stranger.status, stranger.headers.location], [303, "./login?to=admin"]);
  assert.equal((await (await signedIn(STRANGER)).get("/admin")).status, 403);
  assert.equal(
    (await new Visitor(system).get("/admin", { as: BOSS })).status,
    403,
    "user unless they say otherwise",
  );
  assert.equal(await command("ban", "list"), "Nobody is banned\n");
});

Deno.test("a ban by page works like one by command: it signs the user out, is audited, survives a reload, and is lifted by page", async () => {
  const boss = await signedIn(BOSS);
  const alice = await signedIn(ALICE);
  const page = await boss.get("/admin");
  const fields = { token: formToken(page), user: "alice", address: "", for: "1d", do: "ban" };
  for (const headers of [{ "Sec-Fetch-Site": "cross-site" }, { "Sec-Fetch-Site": "same-site" }]) {
    assert.equal((await boss.post("/admin/bans", fields, { headers })).status, 403);
  }
  assert.equal((await boss.post("/admin/bans", { ...fields, token: "x".repeat(43) })).status, 403);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  const banned = await boss.post("/admin/bans", fields);
  assert.deepEqual([banned.status, banned.headers.location], [303, "../admin#bans"]);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 429);
  assert.doesNotMatch((await alice.get("/")).text, /Signed in as/);
  const [line] = await audited("Ban");
  assert.deepEqual([line?.event, line?.decision, line?.user, line?.dn, line?.done], [
    "admin",
    "granted",
    "alice",
    BOSS_DN,
    true,
  ]);
  assert.match(String(line?.until), /^\d{4}-/);
  // The supervisor knows the ban, and so do all later cores.
  await system.replace(
    "conf/container.properties",
    `${await Deno.readTextFile(system.main)}container.security.browser.idleTime=1000\n`,
  );
  await system.service.reload();
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 429);
  assert.match(await command("ban", "list"), /alice +- +operator/);

  const list = await boss.get("/admin");
  assert.match(list.text, /<bdi>alice<\/bdi><\/td><td><\/td><td>by an administrator</);
  const lift = { token: formToken(list), user: "alice", address: "", do: "lift" };
  assert.equal((await boss.post("/admin/bans", lift)).status, 303);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  await system.service.reload();
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  assert.equal(await command("ban", "list"), "Nobody is banned\n");
  assert.equal((await audited("Lift")).at(-1)?.["done"], true);
});

Deno.test("the page says if there is no ban to lift", async () => {
  const boss = await signedIn(BOSS);
  const token = formToken(await boss.get("/admin"));
  const lift = await boss.post("/admin/bans", { token, user: "nobody-knows", address: "", do: "lift" });
  assert.equal(lift.status, 400);
  assert.match(lift.text, /<h1>No ban and no failed login of this user or address is known</);
});

Deno.test("the button next to a banned IPv6 address lifts the ban", async () => {
  const boss = await signedIn(BOSS);
  const token = formToken(await boss.get("/admin"));
  await boss.post("/admin/bans", { token, address: "2001:db8::7", for: "1h", do: "ban" });
  const { text } = await boss.get("/admin");
  assert.match(text, /<td>2001:db8:0:0::\/64<\/td>/);
  const [, address = ""] = /name="address" value="([^"]+)"/.exec(text) ?? [];
  assert.equal((await boss.post("/admin/bans", { token, user: "", address, do: "lift" })).status, 303);
  assert.equal(await command("ban", "list"), "Nobody is banned\n");
});

Deno.test("administrators cannot ban invalid names, invalid addresses or themselves", async () => {
  const boss = await signedIn(BOSS);
  const token = formToken(await boss.get("/admin"));
  const wrong: readonly Readonly<Record<string, string>>[] = [
    { for: "1h" },
    { user: " ", for: "1h" },
    { address: "evil.example", for: "1h" },
    { user: "alice", for: "400d" },
    { user: "alice", for: "soon" },
    { user: "alice" },
    { user: BOSS[0], for: "1h" },
    { user: "BOSS", for: "1h" },
    { user: "bob", for: "1h" }, // the account that the map gives to the administrator
    { user: "CN=boss, O=Demo, C=EU", for: "1h" },
    { address: "127.0.0.1", for: "1h" },
    { user: BOSS[0], address: "::ffff:127.0.0.1", for: "1h" },
    { user: "x".repeat(257), for: "1h" },
  ];
  for (const fields of wrong) {
    const { status } = await boss.post("/admin/bans", { token, do: "ban", ...fields });
    assert.equal(status, 400, JSON.stringify(fields));
  }
  assert.equal(await command("ban", "list"), "Nobody is banned\n");
});

Deno.test("administrators need a login that every server accepts", async () => {
  const administrator = { as: BOSS, headers: { "X-UNICORE-User-Preferences": "role:admin" } };
  assert.equal((await system.ask("/rest/admin", administrator)).status, 200);
  await system.replace(
    "conf/container.properties",
    `${await Deno.readTextFile(system.main)}authservice.server.GROUP.requiredAcr=mfa\n`,
  );
  await system.service.reload();
  const boss = new Visitor(system);
  await boss.signIn(BOSS);
  const page = await boss.get("/admin");
  assert.equal(page.status, 403);
  assert.match(page.text, /ERR_STRONGER_LOGIN_NEEDED/);
  const token = formToken(await boss.get("/"));
  const ban = await boss.post("/admin/bans", { token, user: "alice", for: "1h", do: "ban" });
  assert.equal(ban.status, 403);
  const refused = await system.ask("/rest/admin", administrator);
  assert.deepEqual([refused.status, refused.json().code], [403, "ERR_STRONGER_LOGIN_NEEDED"]);
});
