/** An optional attribute source that is down: nobody is refused, and no list looks complete, for what it alone knows. */
import assert from "node:assert/strict";
import { request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { whoamiTestCommand } from "../../../src/command/diagnosis/whoami_test_command.ts";
import { PREFERENCES_HEADER } from "../../../src/service/identify.ts";
import { startXuudb } from "../../attributes/xuudb/xuudb_simulator.ts";
import { recordedIo } from "../../command/recorded_io.ts";
import { until } from "../../fixtures/deadline.ts";
import { wordsOf } from "../../pages/words.ts";
import type { Question } from "../ask.ts";
import { ALICE, ALICE_DN, MAP, passwordLine } from "../running_service.ts";
import { Visitor } from "../visitor.ts";
import { answerTo, BOB, EVERYBODY, SharingSystem, textOf } from "./sharing_system.ts";

const CAROL = ["carol", "carol-4711"] as const;
const CAROL_DN = "CN=Carol,O=Demo,C=EU";
const DAVE = ["dave", "dave-4711"] as const;
const DAVE_DN = "CN=Dave,O=Demo,C=EU";
const ERIN = ["erin", "erin-4711"] as const;
const ERIN_DN = "CN=Erin,O=Demo,C=EU";
const DOWN = { status: 500, body: "out of order" };
const LINK = { user: EVERYBODY, access: "READ" };
const OUTAGE = [503, "ERR_ATTRIBUTE_SOURCE"] as const;

/** Alice's and Dave's accounts are in the map; the XUUDB has the groups, Carol's account, and all of Erin. */
const xuudb = startXuudb({
  SITE: {
    [ALICE_DN]: { projects: "hpc" },
    [CAROL_DN]: { role: "user", xlogin: "alice:al", projects: "users" },
    [ERIN_DN]: { role: "admin", xlogin: "alice" },
  },
});
Deno.test.afterAll(async () => await xuudb[Symbol.asyncDispose]());
const [xuudbHost = "", xuudbPort = ""] = xuudb.address.split(/:(?=\d)/);
const SOURCE = "container.security.attributes.XUUDB";
const sharing = await SharingSystem.open({
  passwords: passwordLine(CAROL, CAROL_DN) + passwordLine(DAVE, DAVE_DN) +
    passwordLine(ERIN, ERIN_DN),
  map: {
    [CAROL_DN]: { role: "user" },
    [ERIN_DN]: { role: "user" },
    [DAVE_DN]: { role: "user", xlogin: "alice" },
    [ALICE_DN]: { ...MAP[ALICE_DN], group: [] },
  },
  properties: {
    "container.feature.Files.enable": "true",
    "container.runtimeConfigurationUpdate": "false",
    "container.security.attributes.order": "FILE XUUDB",
    [`${SOURCE}.xuudbHost`]: xuudbHost,
    [`${SOURCE}.xuudbPort`]: xuudbPort,
    [`${SOURCE}.xuudbGCID`]: "SITE",
    [`${SOURCE}.xuudbCache`]: "false",
    [`${SOURCE}.optional`]: "true",
  },
});
const { system, data } = sharing;
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

/** Runs something while the XUUDB is down, and waits until it is up again. */
async function during<T>(outage: () => Promise<T>): Promise<T> {
  xuudb.reply = DOWN;
  try {
    return await outage();
  } finally {
    xuudb.reply = undefined;
    await until(async () => (await entryOf(CAROL)).uid === "alice", { what: "the XUUDB is up again" });
  }
}

const entryOf = async (as: readonly [string, string]) =>
  JSON.parse((await system.ask("/rest/auth", { as })).text).HPC;
const told = async (asked: ReturnType<typeof system.ask>) => {
  const reply = await asked;
  return [reply.status, reply.status < 400 ? undefined : reply.json().code];
};
const session = (as: readonly [string, string], more = {}, headers = {}) =>
  told(system.ask("/rest/auth/HPC", { as, headers, body: { serverPath: "", ...more } }));
const propfind = async (path: string) => {
  const { port, authority, agent } = system;
  const options = { method: "PROPFIND", auth: CAROL.join(":"), headers: { Depth: "1" }, agent };
  const asked = request(`https://localhost:${port}${path}`, { ...options, ca: authority.certificate });
  const answer = await answerTo(asked.end());
  return { status: answer.statusCode, text: await textOf(answer) };
};

Deno.test("lists of servers name those whose account is unknown while the source is down", async () => {
  const carol = new Visitor(system);
  assert.equal((await carol.signIn(CAROL)).status, 303);
  assert.equal((await entryOf(CAROL)).refusal, undefined);
  await during(async () => {
    const { uid, refusal } = await entryOf(CAROL);
    assert.deepEqual([uid, refusal?.code], [undefined, "ERR_ATTRIBUTE_SOURCE"]);
    assert.match((await propfind("/dav/")).text, /<D:href>[^<]*\/dav\/HPC\/?<\/D:href>/);
    assert.equal((await propfind("/dav/HPC/")).status, 503);
    for (const path of ["/files", "/"]) {
      const words = wordsOf((await carol.get(path)).text).join("\n");
      assert.match(words, /HPC/, path);
      assert.match(words, /permissions cannot be looked up at the moment/, path);
      const inGerman = await carol.get(path, { headers: { "Accept-Language": "de" } });
      const german = wordsOf(inGerman.text).join("\n");
      assert.match(german, /Rechte können im Moment nicht nachgeschlagen werden/, path);
      assert.doesNotMatch(german, /permissions/, path);
    }
    assert.equal((await entryOf(ALICE)).uid, "alice");
    assert.equal((await entryOf(BOB)).refusal?.code, "ERR_ATTRIBUTE_SOURCE");
  });
  assert.equal((await entryOf(BOB)).refusal, undefined);
});

Deno.test("a preferred account and a requested group of the source are not refused while it is down", async () => {
  const preferring = { [PREFERENCES_HEADER]: "uid:al" };
  assert.deepEqual(await session(CAROL, {}, { [PREFERENCES_HEADER]: "uid:eve" }), [
    403,
    "ERR_PREFERENCE_NOT_ALLOWED",
  ]);
  assert.deepEqual(await session(ALICE, { group: "lab" }), [400, "ERR_GROUP_NOT_AVAILABLE"]);
  await during(async () => {
    assert.deepEqual(await session(CAROL, {}, preferring), OUTAGE);
    assert.deepEqual(await session(ALICE, { group: "hpc" }), OUTAGE);
    assert.deepEqual(await session(ALICE), [200, undefined]);
  });
});

Deno.test("a share for a group of the source is not refused while it is down, one for somebody else is", async () => {
  const id = await sharing.share("d/", { user: "group:users" });
  const made = await system.ask("/rest/share/HPC", { as: DAVE, body: { ...LINK, path: `${data}/d/sub/` } });
  const link = made.headers.location?.split("/").at(-1) ?? "";
  const other = await sharing.share("d/sub/", { user: DAVE_DN });
  const get = (id: string, path: string) => told(system.ask(`/rest/access/HPC/${id}/${path}`, { as: CAROL }));
  const access = (serverPath: string, more = {}) =>
    told(system.ask("/rest/access/HPC", { as: CAROL, body: { serverPath, send: true, ...more } }));
  assert.deepEqual(await get(id, "ten.txt"), [200, undefined]);
  await during(async () => {
    assert.deepEqual(await get(id, "ten.txt"), OUTAGE);
    assert.deepEqual(await get(other, "x.dat"), [403, "ERR_NOT_PERMITTED"]);
    assert.deepEqual(await access(`${data}/d/`), OUTAGE);
    assert.deepEqual(await access(`${data}/d/`, { owner: ALICE_DN }), OUTAGE);
    assert.deepEqual(await access(`${data}/nothing/`), [404, "ERR_SHARE_NOT_FOUND"]);
    const list = await system.ask("/rest/share/HPC", { as: CAROL });
    assert.equal(JSON.parse(list.text).incomplete?.code, "ERR_ATTRIBUTE_SOURCE");
    // Signed-in visitors need no account for a link.
    assert.deepEqual(await get(link, "x.dat"), [200, undefined]);
  });
});

Deno.test("nobody makes or moves a share without the group that the source would give", async () => {
  const body = { ...LINK, path: `${data}/d/` };
  const id = await sharing.share("d/ten.txt");
  await during(async () => {
    assert.deepEqual(await told(system.ask("/rest/share/HPC", { as: ALICE, body })), OUTAGE);
    const change = (fields: unknown) =>
      told(system.ask(`/rest/share/HPC/${id}`, { method: "PUT", as: ALICE, body: fields }));
    assert.deepEqual(await change({ path: `${data}/d/sub/` }), OUTAGE);
  });
  const made = await system.ask("/rest/share/HPC", { as: ALICE, body });
  assert.equal(made.status, 201);
  assert.equal(system.daemon().sessionRequests.at(-1)?.get("group"), "hpc");
});

Deno.test("an administrator is not refused while the source that gives the role is down", async () => {
  const erin = new Visitor(system);
  assert.equal((await erin.signIn(ERIN)).status, 303);
  const statuses = async () => [
    (await erin.get("/admin")).status,
    (await system.ask("/rest/admin", { as: ERIN })).status,
  ];
  assert.deepEqual(await statuses(), [200, 200]);
  assert.deepEqual(await during(statuses), [503, 503]);
});

Deno.test("an administrator's token is not renewed with the role that is left while the source is down", async () => {
  const roleOf = async (token: string) => {
    const headers = { Authorization: `Bearer ${token}` };
    return JSON.parse((await system.ask("/rest/auth", { headers })).text).client.role.selected;
  };
  const issue = ({ headers = {}, ...question }: Question) =>
    system.ask("/rest/auth/token?renewable=true", {
      ...question,
      headers: { Accept: "text/plain, application/json", ...headers },
    });
  const { text: token } = await issue({ as: ERIN });
  assert.equal(await roleOf(token), "admin");
  await during(async () => {
    assert.deepEqual(await told(issue({ headers: { Authorization: `Bearer ${token}` } })), OUTAGE);
    assert.equal((await issue({ as: CAROL })).status, 200);
  });
  const { text: renewed } = await issue({ headers: { Authorization: `Bearer ${token}` } });
  assert.equal(await roleOf(renewed), "admin");
});

Deno.test("whoami-test names the source that is down instead of the role that is left", async () => {
  const explained = async () => {
    const io = recordedIo();
    await whoamiTestCommand.run(["CN=Nobody,O=Demo", "--json", "--config", system.main], io);
    return JSON.parse(io.out);
  };
  assert.match((await explained()).refusal, /role anonymous/);
  const { refusal, user } = await during(explained);
  assert.match(refusal, /XUUDB/);
  assert.equal(user.outage, undefined);
});

/** Asks for a session, and changes the answer of the XUUDB while the daemon opens it. */
async function meanwhile(asking: () => ReturnType<typeof told>, reply: typeof xuudb.reply) {
  const daemon = system.daemon();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const before = daemon.sessionRequests.length;
  daemon.hold = promise;
  try {
    const asked = asking();
    await until(() => daemon.sessionRequests.length > before, { what: "the daemon opens a session" });
    xuudb.reply = reply;
    await delay(1100); // longer than the service relies on what it knew
    release();
    return await asked;
  } finally {
    release();
    daemon.hold = undefined;
    await during(() => Promise.resolve());
  }
}

Deno.test("a source that fails while the daemon opens a session for a link causes 503, not 404", async () => {
  const id = await sharing.share("d/ten.txt");
  const body = { serverPath: `${data}/d/ten.txt`, send: true };
  const asking = () => told(system.ask(`/rest/access/HPC/${id}`, { body }));
  assert.deepEqual(await meanwhile(asking, DOWN), OUTAGE);
});

Deno.test("a source that comes back while the daemon opens a session causes 503, not 401", async () => {
  xuudb.reply = DOWN;
  assert.deepEqual(await meanwhile(() => session(ALICE), undefined), [503, "ERR_PERMISSIONS_CHANGED"]);
});
