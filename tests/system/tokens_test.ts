/** Tokens that their owner or the operator lists and revokes, for every instance. */
import assert from "node:assert/strict";
import { until } from "../fixtures/deadline.ts";
import { auditLines } from "../fixtures/audit_lines.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { signToken } from "../authentication/sign_token.ts";
import { createPrivateKey } from "node:crypto";
import { recordedIo } from "../command/recorded_io.ts";
import {
  ALICE,
  ALICE_DN,
  PASSWORDS,
  runAt,
  runReloadedService,
  type SystemUnderTest,
} from "./running_service.ts";

const KEPT = {
  servers: { HPC: [{ maxSessions: 1000 }] },
  properties: { "persistence.directory": "{folder}/data" },
};
const LIST = "/rest/auth/tokens";

type Asked = Pick<SystemUnderTest, "ask">;

async function token(system: Asked, query = "", by?: string): Promise<string> {
  const headers = { Accept: "text/plain", ...(by !== undefined && bearer(by)) };
  const reply = await system.ask(`/rest/auth/token${query}`, {
    headers,
    ...(by === undefined && { as: ALICE }),
  });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

function bearer(text: string) {
  return { Authorization: `Bearer ${text}` };
}

function idOf(text: string): string {
  const claims = Uint8Array.fromBase64(text.split(".")[1] ?? "", { alphabet: "base64url" });
  return JSON.parse(new TextDecoder().decode(claims)).jti;
}

/** Returns the status of an answer to a request with the token. */
async function shown(system: Asked, text: string): Promise<number> {
  return (await system.ask("/rest/auth/HPC", { headers: bearer(text), body: { serverPath: "" } })).status;
}

/** Waits until a token is refused: an instance asks the store ten times a second. */
const refused = (system: Asked, text: string) =>
  until(async () => await shown(system, text) === 401, { what: "the token is refused", everyMs: 20 });

async function listed(system: Asked, by?: string): Promise<Record<string, unknown>[]> {
  const question = by === undefined ? { as: ALICE } : { headers: bearer(by) };
  const { status, text } = await system.ask(LIST, question);
  assert.equal(status, 200, text);
  return JSON.parse(text).tokens;
}

const remove = (system: Asked, path: string, by?: string) =>
  system.ask(path, { method: "DELETE", ...(by === undefined ? { as: ALICE } : { headers: bearer(by) }) });

/** Service for tests that end their own tokens; the last one leaves it without a list of tokens. */
const { reloadWith, ...system } = await runReloadedService(KEPT);
Deno.test.afterAll(() => system[Symbol.asyncDispose]());

Deno.test("token list and token revoke work on a running service, and revocations are audited", async () => {
  const command = async (...args: readonly string[]) => {
    const io = recordedIo();
    const status = await runCommand(["token", ...args, "--config", system.main], io);
    return { status, out: io.out, err: io.err };
  };
  const [first, second, third] = [
    await token(system, "?name=laptop"),
    await token(system, "?path=/data/&address=127.0.0.0/8"),
    await token(system),
  ];
  const list = await command("list", "--user", "alice");
  assert.equal(list.status, 0, list.err);
  assert.match(list.out, new RegExp(`^${idOf(first)} {2}laptop `, "m"));
  assert.match(list.out, new RegExp(`^${idOf(second)} .* path=/data/ address=127\\.0\\.0\\.0/8$`, "m"));
  const json = JSON.parse((await command("list", "--user", ALICE_DN, "--json")).out);
  const ids = json.tokens.map(({ id }: { id: string }) => id);
  assert.deepEqual(ids.sort(), [first, second, third].map(idOf).sort());

  const one = await command("revoke", "--user", "alice", "--id", idOf(first));
  assert.deepEqual([one.status, one.out], [0, "User alice: 1 token revoked\n"]);
  assert.deepEqual([await shown(system, first), await shown(system, third)], [401, 200]);
  assert.equal((await command("revoke", "--user", "alice", "--id", idOf(first))).status, 1);
  const explained = recordedIo();
  await runCommand(["whoami-test", "alice", "--token", first, "--config", system.main], explained);
  assert.match(explained.out, /ETD +refused: it was revoked/);
  const nobody = await command("revoke", "--user", "nobody-here");
  assert.equal(nobody.status, 1);
  assert.match(nobody.err, /no user is known by this name/);
  assert.equal((await command("revoke")).status, 2);
  const all = await command("revoke", "--user", "alice", "--json");
  assert.deepEqual(JSON.parse(all.out), { names: ["cn=alice,o=demo,c=eu"], ended: 2 });
  for (const each of [second, third]) assert.equal(await shown(system, each), 401);
  assert.equal((await command("list", "--user", "alice")).out, "There is no token\n");
  await system.logged(/warn {2}operator revoked tokens user=alice ended=2 operator=/);
  const audit = await auditLines(`${system.folder}/logs/audit.log`, {
    wanted: ({ event }) => event === "revoke",
    count: 2,
  });
  assert.deepEqual(audit.map(({ user, token, ended, decision }) => [user, token, ended, decision]), [
    ["alice", idOf(first), 1, "granted"],
    ["alice", undefined, 2, "granted"],
  ]);
  const unknown = await command("revoke", "--user", "CN=Nobody,O=Demo,C=EU");
  assert.deepEqual([unknown.status, unknown.out], [1, ""]);
  assert.match(unknown.err, /no user is known by this name/);
  const reversed = await command("revoke", "--user", ALICE_DN.split(",").reverse().join(","));
  assert.equal(reversed.status, 1);
  assert.match(
    reversed.err,
    /^Warning: this user is unknown\. .*reverse order.*keeps its tokens: cn=alice,o=demo,c=eu$/m,
  );
});

Deno.test("token revoke fails for a name that SSHKEY would give a user, if no daemon has the user", async () => {
  const order = { "container.security.rest.authentication.order": "SSHKEY PASSWORD" };
  const { main } = await reloadWith(order);
  const revoke = async (user: string) => {
    const io = recordedIo();
    return [await runCommand(["token", "revoke", "--user", user, "--config", main], io), io.out + io.err];
  };
  assert.deepEqual(await revoke("alice"), [0, "User alice: 0 tokens revoked\n"]);
  const dn = "CN=alice, OU=ssh-local-users";
  assert.deepEqual(await revoke(dn), [0, `User ${dn}: 0 tokens revoked\n`], "she may have a key");
  const nobody = "authserver token revoke: nobody-here: no user is known by this name\n";
  assert.deepEqual(await revoke("nobody-here"), [1, nobody]);
  await reloadWith({});
});

Deno.test("a user lists their tokens, and revokes one of them or all at once", async () => {
  const first = await token(system, "?name=portal&renewable=true&lifetime=3600");
  const renewed = await token(system, "?path=/data/run7/&activity=read&lifetime=60", first);
  const second = await token(system);
  const entries = await listed(system, second);
  const [one, two, three] = [first, renewed, second].map((text) =>
    entries.find(({ id }) => id === idOf(text))
  );
  assert.equal(entries.length, 3);
  const today = new Date().toISOString().slice(0, 10);
  assert.deepEqual({ ...one, made: 0, ends: 0, lastUsed: 0 }, {
    id: idOf(first),
    name: "portal",
    made: 0,
    ends: 0,
    madeFrom: "127.0.0.1",
    lastUsed: 0,
    lastUsedFrom: "127.0.0.1",
    renewable: true,
    limited: false,
  });
  assert.equal(Date.parse(String(one?.["ends"])) - Date.parse(String(one?.["made"])), 3600_000);
  assert.ok(String(one?.["lastUsed"]) <= today);
  assert.deepEqual([two?.["path"], two?.["activity"], two?.["limited"]], [["/data/run7/"], "read", true]);
  assert.deepEqual([two?.["current"], three?.["current"], three?.["id"]], [undefined, true, idOf(second)]);
  assert.equal(await shown(system, second), 200);

  const reply = await remove(system, `${LIST}/${idOf(first)}`);
  assert.equal(reply.status, 204, reply.text);
  assert.deepEqual([await shown(system, first), await shown(system, renewed)], [401, 401]);
  assert.equal((await remove(system, `${LIST}/${idOf(first)}`)).status, 404);
  assert.equal(await shown(system, second), 200);
  await system.logged(new RegExp(`audit revoke .*decision=granted .*token=${idOf(first)}`));

  const before = system.log.length;
  const all = await remove(system, LIST, second);
  assert.deepEqual([all.status, all.json()], [200, { ended: 1 }]);
  assert.equal(await shown(system, second), 401);
  assert.deepEqual(await listed(system), []);
  await system.logged(/audit revoke .*decision=granted .*ended=1/, before);
});

Deno.test("a restricted token lists and revokes only itself, and a user only their own tokens", async () => {
  const bob = "CN=Bob,O=Demo,C=EU";
  const [full, narrow, other] = [
    await token(system),
    await token(system, "?server=HPC"),
    await token(system, "?activity=read"),
  ];
  assert.deepEqual((await listed(system, narrow)).map(({ id }) => id), [idOf(narrow)]);
  for (const path of [LIST, `${LIST}/${idOf(full)}`, `${LIST}/${idOf(other)}`, `${LIST}/nothing`]) {
    const reply = await remove(system, path, narrow);
    assert.deepEqual([reply.status, reply.json()["code"]], [403, "ERR_TOKEN_RESTRICTIONS"], path);
  }
  assert.equal((await system.ask(LIST)).status, 401);
  assert.equal((await system.ask(LIST, { method: "DELETE" })).status, 401);
  const key = createPrivateKey(await Deno.readTextFile(`${system.folder}/conf/auth-key.pem`));
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: bob, iss: "CN=AUTH,O=Demo,C=EU", iat: now, exp: now + 99, etd: "true", role: "user" };
  const bobs = signToken({ header: { alg: "ES256" }, claims, key });
  assert.notEqual((await remove(system, `${LIST}/${idOf(full)}`, bobs)).status, 204);
  assert.equal((await remove(system, `${LIST}/${idOf(narrow)}`, narrow)).status, 204);
  assert.deepEqual([await shown(system, full), await shown(system, narrow)], [200, 401]);
  assert.equal((await remove(system, `${LIST}/${idOf(full)}`, full)).status, 204);
  assert.equal(await shown(system, full), 401);
  assert.equal((await remove(system, `${LIST}/${idOf(other)}`)).status, 204);
});

Deno.test("a revoked token is refused everywhere within a second: on another instance, after a reload, after kill -9", async () => {
  const one = system;
  const text = await Deno.readTextFile(one.main);
  await one.replace("conf/second.properties", text.replace("/logs/authserver.log", "/logs2/authserver.log"));
  const second = {
    ...one,
    main: `${one.folder}/conf/second.properties`,
    // The first instance owns the site, and disposes of it.
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
  const two = await runAt(second);
  const tokens = [];
  for (let i = 0; i < 4; i++) tokens.push(await token(two, "?renewable=true"));
  const [a = "", b = "", c = "", d = ""] = tokens;
  const renewed = await token(two, "", b);
  for (const each of [...tokens, renewed]) assert.equal(await shown(one, each), 200);
  assert.equal((await remove(two, `${LIST}/${idOf(a)}`)).status, 204);
  await refused(one, a);
  assert.equal(await shown(one, c), 200);
  assert.equal((await remove(one, `${LIST}/${idOf(b)}`)).status, 204);
  await refused(two, b);
  assert.deepEqual([await shown(two, renewed), await shown(two, c)], [401, 200]);
  await two.service.reload();
  assert.deepEqual([await shown(two, a), await shown(two, renewed), await shown(two, c)], [401, 401, 200]);
  assert.equal((await remove(two, `${LIST}/${idOf(c)}`)).status, 204);
  Deno.kill(two.service.pid, "SIGKILL");
  await assert.rejects(two.service.stopped);
  await using again = await runAt(second);
  const statuses = [];
  for (const each of [d, a, b, renewed, c]) statuses.push(await shown(again, each));
  assert.deepEqual(statuses, [200, 401, 401, 401, 401]);
  assert.equal((await remove(again, LIST)).status, 200);
});

Deno.test("removing a user ends their tokens, and replacing the service's certificate does not", async () => {
  const text = await token(system);
  assert.equal(await shown(system, text), 200);
  const renewed = system.authority.issue({
    subject: "CN=AUTH,O=Demo,C=EU",
    names: ["localhost", "127.0.0.1"],
  });
  await system.replace("conf/auth-cert.pem", renewed.certificate);
  await system.replace("conf/auth-key.pem", renewed.key);
  await system.service.reload();
  assert.equal(await shown(system, text), 200);
  const own = await system.ask("/rest/auth/certificate", { as: ALICE, headers: { Accept: "text/plain" } });
  assert.equal(own.text.trim(), renewed.certificate.trim());
  const before = system.log.length;
  await system.replace("conf/users.txt", "# nobody\n");
  await system.logged(/file read again.*users/, before);
  assert.equal(await shown(system, text), 401);
  const removed = system.log.length;
  await system.replace("conf/users.txt", PASSWORDS);
  await system.logged(/file read again.*users/, removed);
});

Deno.test("without persistence.directory tokens are valid until they expire, and answers say why none are listed", async () => {
  await reloadWith({ "persistence.directory": "" });
  const text = await token(system);
  assert.equal(await shown(system, text), 200);
  for (
    const [method, path] of [["GET", LIST], ["DELETE", LIST], ["DELETE", `${LIST}/${idOf(text)}`]] as const
  ) {
    const reply = await system.ask(path, { method, as: ALICE });
    assert.deepEqual([reply.status, reply.json()["code"]], [501, "ERR_TOKENS_NOT_KEPT"]);
  }
  assert.equal(await shown(system, text), 200);
  const io = recordedIo();
  assert.equal(await runCommand(["token", "list", "--user", "alice", "--config", system.main], io), 1);
  assert.match(io.err, /keeps no list of its tokens: expected persistence\.directory/);
});
