/** Attributes of a user, and the session request that the daemon receives (credentials.md 7, 8). */
import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { startXuudb } from "../attributes/xuudb/xuudb_simulator.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { until } from "../fixtures/deadline.ts";
import { LONG } from "../long/results.ts";
import { createAuthority } from "../pki/authority.ts";
import { PREFERENCES_HEADER } from "../../src/service/identify.ts";
import type { Question } from "./ask.ts";
import { userToken } from "./every_method.ts";
import {
  ALICE,
  ALICE_DN,
  passwordLine,
  PASSWORDS,
  runReloadedService,
  STRANGER,
  type SystemUnderTest,
} from "./running_service.ts";

const BANNED = ["banned", "outcast-1"] as const;
const OF_DOMAIN = ["domain", "controller-2"] as const;
const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const xuudb = startXuudb({
  "SITE-A": {
    [ALICE_DN]: { xlogin: "a1001:a1002", role: "user", projects: "hpc" },
    "CN=Banned,O=Demo,C=EU": { role: "banned" },
  },
}, authority.issue({ subject: "CN=xuudb", names: ["localhost"] }));
Deno.test.afterAll(async () => await xuudb[Symbol.asyncDispose]());

const [xuudbHost = "", xuudbPort = ""] = xuudb.address.split(/:(?=\d)/);
const at = (name: string, chain = "attributes") => ({
  [`container.security.${chain}.${name}.xuudbHost`]: xuudbHost,
  [`container.security.${chain}.${name}.xuudbPort`]: xuudbPort,
  [`container.security.${chain}.${name}.xuudbGCID`]: "SITE-A",
});
const ALICE_KEY = {
  "container.security.rest.authentication.order": "SSHKEY PASSWORD",
  "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
};
const byKey = (): Question => ({
  headers: { Authorization: `Bearer ${userToken("alice", "user_ed25519")}` },
});

/** Worked example of credentials.md 7.7, and a user whom the XUUDB bans. */
const EXAMPLE = {
  [ALICE_DN]: { role: ["user", "admin"], group: ["proj1", "proj2"], "uftpd.HPC.group": "fast" },
  "CN=Banned,O=Demo,C=EU": { role: "user", xlogin: "banned" },
};

const clientOf = async (system: SystemUnderTest, question: Question) => {
  const reply = await system.ask("/rest/auth", question);
  assert.equal(reply.status, 200, reply.text);
  return JSON.parse(reply.text).client;
};
/** Returns the requests for sessions that the daemons of a server received. */
const sessions = (system: SystemUnderTest, server = "HPC") =>
  system.daemon(server).requests.flatMap(({ values }) =>
    values?.get("request-type") === "uftp-transfer-request" ? [Object.fromEntries(values)] : []
  );
const session = (system: SystemUnderTest, question: Question, { server = "HPC", body = {} } = {}) =>
  system.ask(`/rest/auth/${server}`, { ...question, body: { serverPath: "", ...body } });

const examples: [string, string, unknown][] = [
  ["MERGE_LAST_OVERRIDES", "XUUDBAttributeSource", {
    roles: ["user", "admin"],
    uids: ["a1001", "a1002"],
    uid: "a1001",
    groups: ["proj1", "proj2"],
    group: "proj1",
    gid: "fast",
  }],
  ["first_applicable", "XUUDBAttributeSource", {
    roles: ["user"],
    uids: ["a1001", "a1002"],
    uid: "a1001",
    groups: ["hpc"],
    group: "hpc",
    gid: "hpc",
  }],
  ["FIRST_ACCESSIBLE", "XUUDBJSONAttributeSource", {
    roles: ["user"],
    uids: ["a1001", "a1002"],
    uid: "a1001",
    groups: ["hpc"],
    group: "hpc",
    gid: "hpc",
  }],
  ["MERGE", "XUUDBJSONAttributeSource", {
    roles: ["user", "admin"],
    uids: ["a1001", "a1002", "alice"],
    uid: "alice",
    groups: ["hpc", "proj1", "proj2"],
    group: "proj1",
    gid: "fast",
  }],
];
const RESERVED = { from: "2020-01-01 00:00", to: "2999-12-31 23:59" };
const DOMAIN_USER = "DOM\\alice";

/** Map files besides that of the example, by name. */
const MAPS = {
  dynamic: { [ALICE_DN]: { role: ["user", "admin"], xlogin: "mapped", group: "mapped" } },
  servers: {
    [ALICE_DN]: {
      role: "user",
      xlogin: ["alice", "al"],
      group: ["hpc", "users"],
      supplementaryGroups: ["lab"],
      "uftpd.TWO.xlogin": "alice2",
      "daemon.TWO.group": "guests",
      "daemon.TWO.rateLimit": "200k",
      "uftpd.TWO.includes": "/data/*:/work/*",
      "daemon.TWO.excludes": "/data/secret/*",
      "daemon.OLD.rateLimit": "1G",
    },
    "CN=Stranger,O=Demo,C=EU": {
      role: "user",
      xlogin: "alice",
      "uftpd.HPC.rateLimit": "-5",
      "uftpd.TWO.xlogin": "root",
    },
    "CN=Domain,O=Demo,C=EU": {
      role: "user",
      xlogin: DOMAIN_USER,
      group: "DOM\\hpc",
      "uftpd.TWO.xlogin": "DOM\\root",
      "uftpd.ODD.xlogin": "DOM\\al\\ice",
    },
  },
};
const mapOf = (name: keyof typeof MAPS) => ({
  "container.security.attributes.FILE.file": `{folder}/conf/${name}.json`,
});

/** Lines for the tests of attributes and reservations of each server. */
const SERVERS = {
  ...Object.fromEntries(
    ["HPC", "OLD"].flatMap((name) => [
      [`authservice.server.${name}.reservations.enable`, "true"],
      [`authservice.server.${name}.reservations.file`, `{folder}/conf/reserved-${name}.json`],
    ]),
  ),
  ...mapOf("servers"),
};

/** Service for tests that differ only in their attribute sources and reservations. */
const example = await runReloadedService({
  authority,
  properties: ALICE_KEY,
  servers: {
    HPC: [{
      maxSessions: 100,
      users: {
        alice: { uid: 1000, home: "/home/alice", groups: ["users", "hpc"] },
        [DOMAIN_USER]: { uid: 1000, home: "/home/alice", groups: ["DOM\\hpc"] },
      },
    }],
    TWO: [{ maxSessions: 100 }],
    OLD: [{ maxSessions: 100 }],
    ODD: [{}],
  },
  passwords: PASSWORDS + passwordLine(BANNED, "CN=Banned,O=Demo,C=EU") +
    passwordLine(OF_DOMAIN, "CN=Domain,O=Demo,C=EU"),
  files: {
    "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n`,
    "conf/reserved-HPC.json": JSON.stringify({
      reservations: [
        { name: "nightly", ...RESERVED, uids: ["alice"], rateLimit: "3m" },
        { name: "others", ...RESERVED, uids: ["bob"] },
      ],
    }),
    "conf/reserved-OLD.json": JSON.stringify({
      reservations: [{ name: "default limit", ...RESERVED, uids: ["bob"] }],
    }),
    ...Object.fromEntries(
      Object.entries(MAPS).map(([name, map]) => [`conf/${name}.json`, JSON.stringify(map)]),
    ),
  },
  map: JSON.stringify(EXAMPLE),
});
Deno.test.afterAll(async () => await example[Symbol.asyncDispose]());

/** Configures the sources of the example. */
const withExample = (policy: string, form: string) =>
  example.reloadWith({
    "container.security.attributes.order": "DB | FILE",
    "container.security.attributes.combiningPolicy": policy,
    "container.security.attributes.DB.class": `eu.unicore.services.aip.xuudb.${form}`,
    ...at("DB"),
  });

// `attributes/attribute_chain_test.ts` has each policy; a test below has FIRST_ACCESSIBLE, too.
for (const [policy, form, expected] of examples) {
  if (!LONG && ["MERGE_LAST_OVERRIDES", "FIRST_ACCESSIBLE"].includes(policy)) continue;

  Deno.test(`${policy} with an ${form} combines attributes as in the documented example`, async () => {
    const system = await withExample(policy, form);
    const reply = JSON.parse((await system.ask("/rest/auth", byKey())).text);
    const { role, xlogin } = reply.client;
    assert.deepEqual({
      roles: role.availableRoles,
      uids: xlogin.availableUIDs,
      uid: xlogin.UID,
      groups: xlogin.availableGroups,
      group: xlogin.group,
      gid: reply.HPC.gid,
    }, expected);
  });
}

Deno.test("a ban by any attribute source takes effect", async () => {
  const system = await withExample("MERGE", "XUUDBJSONAttributeSource");
  for (const preferences of ["", "role:user"]) {
    const headers = { [PREFERENCES_HEADER]: preferences };
    const reply = await system.ask("/rest/auth", { as: BANNED, headers });
    assert.equal(reply.status, 403);
    assert.equal(reply.json().code, "ERR_FORBIDDEN");
    assert.equal((await session(system, { as: BANNED, headers })).status, 403);
  }
});

Deno.test("a failing XUUDB causes 503, unless it is optional or another source answers", async () => {
  const withSource = (more: Record<string, string>) =>
    example.reloadWith({ "container.security.attributes.order": "XUUDB FILE", ...at("XUUDB"), ...more });
  xuudb.reply = { status: 500, body: "out of order" };
  try {
    const strict = await withSource({});
    const reply = await strict.ask("/rest/auth", byKey());
    assert.equal(reply.status, 503);
    assert.equal(reply.json().code, "ERR_ATTRIBUTE_SOURCE");
    assert.match(reply.headers["retry-after"] ?? "", /^\d+$/);
    assert.equal((await strict.ask("/rest/auth")).status, 200, "nobody needs no attributes");
    const lenient = await withSource({ "container.security.attributes.XUUDB.optional": "true" });
    assert.equal((await clientOf(lenient, byKey())).xlogin.UID, "alice");
    const unknown = await session(lenient, { as: STRANGER });
    assert.deepEqual([unknown.status, unknown.json().code], [503, "ERR_ATTRIBUTE_SOURCE"]);
    assert.equal((await lenient.ask("/rest/auth", { as: STRANGER })).status, 200);
    // The map gives her a role, and only the XUUDB an account.
    const lost = await session(lenient, { as: ALICE });
    assert.deepEqual([lost.status, lost.json().code], [503, "ERR_ATTRIBUTE_SOURCE"]);
    xuudb.reply = undefined;
    await until(async () => (await session(lenient, { as: STRANGER })).status === 403);
    xuudb.reply = { status: 500, body: "out of order" };
    const first = await withSource({ "container.security.attributes.combiningPolicy": "FIRST_ACCESSIBLE" });
    const { role, xlogin } = await clientOf(first, byKey());
    assert.deepEqual([role.availableRoles, xlogin], [["user", "admin"], {}], "the last row of the example");
    const certain = await withSource({
      "container.security.attributes.order": "FILE XUUDB",
      "container.security.attributes.combiningPolicy": "FIRST_ACCESSIBLE",
    });
    assert.equal((await session(certain, { as: STRANGER })).status, 403, "the map decides alone");
  } finally {
    xuudb.reply = undefined;
  }
});

Deno.test("an optional XUUDB that fails while a daemon opens a session causes 503, not a refusal", async () => {
  const system = await example.reloadWith({
    "container.security.attributes.order": "XUUDB FILE",
    ...at("XUUDB"),
    "container.security.attributes.XUUDB.xuudbCache": "false",
    "container.security.attributes.XUUDB.optional": "true",
  });
  const daemon = system.daemon();
  const { promise, resolve: release } = Promise.withResolvers<void>();
  const isUsable = async () => (await session(system, byKey())).status === 200;
  await until(isUsable, { what: "the new core knows the daemon and the source" });
  const before = daemon.sessionRequests.length;
  daemon.hold = promise;
  try {
    const asked = session(system, byKey());
    await until(() => daemon.sessionRequests.length > before, { what: "the daemon opens a session" });
    xuudb.reply = { status: 500, body: "out of order" };
    await delay(1100); // longer than the service relies on what it knew about a caller
    release();
    const reply = await asked;
    assert.deepEqual([reply.status, reply.json().code], [503, "ERR_ATTRIBUTE_SOURCE"]);
  } finally {
    release();
    daemon.hold = undefined;
    xuudb.reply = undefined;
  }
});

Deno.test("dynamic attributes set accounts and groups, but no roles", async () => {
  const system = await example.reloadWith({
    "container.security.dynamicAttributes.order": "XUUDB",
    ...at("XUUDB", "dynamicAttributes"),
    ...mapOf("dynamic"),
  });
  const { role, xlogin } = await clientOf(system, { as: ALICE });
  assert.deepEqual([role.availableRoles, xlogin.UID, xlogin.group], [["user", "admin"], "a1001", "hpc"]);
});

Deno.test("preferences, groups, both spellings of server attributes and reservations reach the daemon", async () => {
  const system = await example.reloadWith(SERVERS);
  const told = async (server: string, question: Question = {}, body = {}) => {
    const reply = await session(system, { as: ALICE, ...question }, { server, body });
    assert.equal(reply.status, 200, reply.text);
    const { user, group, rateLimit, includes, excludes } = sessions(system, server).at(-1) ?? {};
    return { user, group, rateLimit, includes, excludes };
  };
  const NONE = { rateLimit: undefined, includes: undefined, excludes: undefined };
  // Her reservation is active, so HPC does not limit her.
  assert.deepEqual(await told("HPC"), { ...NONE, user: "alice", group: "hpc" });
  const preferring = { headers: { [PREFERENCES_HEADER]: "uid:al, group:lab" } };
  assert.deepEqual(await told("HPC", preferring), {
    ...NONE,
    user: "al",
    group: "lab",
    rateLimit: String(3 * 1024 * 1024), // al has no reservation; the lower of two limits applies
  });
  assert.deepEqual(await told("HPC", {}, { group: "users" }), { ...NONE, user: "alice", group: "users" });
  const two = {
    user: "alice2",
    group: "guests",
    rateLimit: String(200 * 1024),
    includes: "/data/*:/work/*",
    excludes: "/data/secret/*",
  };
  assert.deepEqual(await told("TWO"), two);
  assert.deepEqual(await told("TWO", preferring), two, "server attributes come last");
  assert.deepEqual(await told("OLD"), {
    ...NONE,
    user: "alice",
    group: "hpc",
    rateLimit: String(10 * 1024 * 1024),
  });

  const entries = JSON.parse((await system.ask("/rest/auth", { as: ALICE })).text);
  assert.equal(entries.HPC.rateLimit, undefined);
  assert.equal(entries.HPC.reservations.length, 1);
  assert.match(entries.HPC.reservations[0], /nightly/);
  assert.equal(entries.OLD.rateLimit, 10 * 1024 * 1024);
  assert.deepEqual(entries.OLD.reservations, []);
  assert.deepEqual([entries.TWO.uid, entries.TWO.gid, entries.TWO.rateLimit], [
    "alice2",
    "guests",
    200 * 1024,
  ]);
  assert.equal(
    (await system.ask("/rest/auth", { as: ALICE, headers: { [PREFERENCES_HEADER]: "uid:root" } })).status,
    403,
  );

  await system.replace("conf/reserved-OLD.json", JSON.stringify({ reservations: [] }));
  await until(async () => {
    const { OLD } = JSON.parse((await system.ask("/rest/auth", { as: ALICE })).text);
    return OLD.rateLimit === 1024 ** 3; // her own limit, once the new file is read
  }, { everyMs: 50 });
});

Deno.test("users with an invalid limit or the account root get no session", async () => {
  const system = await example.reloadWith(SERVERS);
  const before = [...sessions(system), ...sessions(system, "TWO")];
  const limited = await session(system, { as: STRANGER });
  assert.deepEqual([limited.status, limited.json().code], [500, "ERR_USER_ATTRIBUTE"]);
  const root = await session(system, { as: STRANGER }, { server: "TWO" });
  assert.deepEqual([root.status, root.json().code], [403, "ERR_ACCOUNT_REFUSED"]);
  assert.deepEqual([...sessions(system), ...sessions(system, "TWO")], before);
});

Deno.test("accounts of a domain get sessions, except as root or with an invalid name", async () => {
  const system = await example.reloadWith(SERVERS);
  const before = [...sessions(system, "TWO"), ...sessions(system, "ODD")];
  const granted = await session(system, { as: OF_DOMAIN });
  assert.equal(granted.status, 200, granted.text);
  const { user: told, group } = sessions(system).at(-1) ?? {};
  assert.deepEqual([told, group], [DOMAIN_USER, "DOM\\hpc"]);
  const entry = JSON.parse((await system.ask("/rest/auth", { as: OF_DOMAIN })).text).HPC;
  assert.deepEqual([entry.uid, entry.gid], [DOMAIN_USER, "DOM\\hpc"]);
  const root = await session(system, { as: OF_DOMAIN }, { server: "TWO" });
  assert.deepEqual([root.status, root.json().code], [403, "ERR_ACCOUNT_REFUSED"]);
  const odd = await session(system, { as: OF_DOMAIN }, { server: "ODD" });
  assert.deepEqual([odd.status, odd.json().code], [500, "ERR_USER_ATTRIBUTE"]);
  assert.deepEqual([...sessions(system, "TWO"), ...sessions(system, "ODD")], before);
});
