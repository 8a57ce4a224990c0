import assert from "node:assert/strict";
import { LdapDirectory, LdapServer } from "../../../src/outgoing/ldap/ldap_directory.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { InvalidFile } from "../../../src/model/diagnostic.ts";
import { ldapConfig } from "../../authentication/ldap/ldap_config.ts";
import { answering, entry, message, result } from "./ldap_wire.ts";

const ADDRESS = "ldaps://ldap.example.org";
const BASE = "ou=people,dc=demo,dc=org";
const CALLER = {
  credential: "c",
  address: "192.0.2.1",
  queueKey: "192.0.2.1",
  known: false,
  signal: new AbortController().signal,
};
const SEARCH = { base: BASE, scope: "sub", filter: "(uid=a)", attributes: [], most: 2 } as const;

type Answer = Uint8Array | undefined;
const end = (id: number, code: number) => message(id, result(code, { tag: 0x65, said: "text" }));

/** Returns connections on which servers send these answers, one after the other; further connections fail. */
function parts(connections: readonly (readonly Answer[])[]) {
  const wires = connections.map((answers) => answering(...answers));
  const left = [...wires];
  const outgoing = {
    http: () => assert.fail("HTTP is not asked for"),
    connect() {
      const wire = left.shift();
      if (wire !== undefined) return Promise.resolve(wire);
      return Promise.reject(new RemoteUnavailable("ldap.example.org", "refused", { connected: false }));
    },
    connectionsPerHost: 6,
  };
  return { wires, parts: { outgoing, clock: Date.now, log: SILENT } };
}

const config = ldapConfig({
  addresses: [ADDRESS],
  bindDN: undefined,
  bindPassword: undefined,
  userBase: BASE,
});
const server = (...connections: readonly Answer[][]) =>
  new LdapServer(ADDRESS, config, parts(connections).parts);
const directory = (more: Parameters<typeof ldapConfig>[0], ...connections: readonly Answer[][]) =>
  new LdapDirectory({ ...config, ...more }, parts(connections).parts);

Deno.test("LdapServer.search() returns nothing for a missing base only if it searches for the base itself", async () => {
  assert.deepEqual(await server([end(1, 32)]).search({ ...SEARCH, scope: "base" }, CALLER), []);
  await assert.rejects(server([end(1, 32)]).search(SEARCH, CALLER), /answers a search with code 32 text/);
});

Deno.test("LdapServer.search() accepts entries up to its own size limit, and refuses other result codes", async () => {
  const some = message(1, entry("uid=a", {}));
  assert.equal((await server([some, some, end(1, 4)]).search(SEARCH, CALLER)).length, 2);
  const own = server([some, end(1, 4)]).search(SEARCH, CALLER);
  await assert.rejects(own, /answers a search with code 4 text/, "a lower limit of the server");
  for (const code of [1, 3, 50, 51, 52, 80]) {
    await assert.rejects(
      server([some, end(1, code)]).search(SEARCH, CALLER),
      RemoteUnavailable,
      `code ${code}`,
    );
  }
});

Deno.test("LdapServer.bind() distinguishes a refused password from a server failure", async () => {
  const bind = (code: number) => server([message(1, result(code))]).bind("cn=x", "secret", CALLER);
  for (const code of [0, 19, 32, 48, 49, 53]) assert.equal((await bind(code)).code, code);
  for (const code of [1, 2, 8, 51, 52, 80]) {
    await assert.rejects(bind(code), /answers a login with code/, `code ${code}`);
  }
});

Deno.test("LdapServer reports why there is no connection", async () => {
  await assert.rejects(server().search(SEARCH, CALLER), (error) => {
    assert(error instanceof RemoteUnavailable);
    assert.deepEqual([error.reason, error.connected], ["refused", false]);
    return true;
  });
});

Deno.test("LdapServer retries once if a kept connection ends before any answer, but not after one has begun", async () => {
  const answered = server([end(1, 0), undefined], [end(1, 0)]);
  for (let i = 0; i < 2; i++) assert.deepEqual(await answered.search(SEARCH, CALLER), []);
  const begun = server([end(1, 0), end(2, 0).subarray(0, 3), undefined], [end(1, 0)]);
  assert.deepEqual(await begun.search(SEARCH, CALLER), []);
  await assert.rejects(begun.search(SEARCH, CALLER), /closed the connection/);
  const fresh = server([undefined], [end(1, 0)]);
  await assert.rejects(fresh.search(SEARCH, CALLER), /closed the connection/);
});

Deno.test("LdapDirectory refuses an invalid filter at the start", () => {
  assert.throws(() => directory({ userFilter: "(&(uid=%user%)" }), InvalidFile);
});

Deno.test("LdapDirectory.probe() looks for the base, then for the test user", async () => {
  const base = [message(1, entry(BASE, {})), end(1, 0)];
  const probe = async (testUser: string | undefined, ...answers: Answer[]) =>
    await directory({ testUser }, answers).probe(ADDRESS);
  const [user, other] = ["a", "b"].map((uid) => message(2, entry(`uid=${uid}`, { uid: [uid] })));
  const all = { bound: "searches anonymously" };
  assert.deepEqual(await probe(undefined, end(1, 32)), {
    ok: false,
    found: `${all.bound}; there is no entry ${BASE}`,
  });
  assert.deepEqual(await probe(undefined, ...base), { ok: true, found: `${all.bound}; finds ${BASE}` });
  assert.deepEqual(await probe("a", ...base, user, end(2, 0)), {
    ok: true,
    found: `${all.bound}; finds a as uid=a`,
  });
  assert.deepEqual(await probe("a", ...base, message(2, entry("uid=a", { uid: ["a", "b"] })), end(2, 0)), {
    ok: false,
    found: `${all.bound}; finds a as uid=a; the entry has not one value for each attribute of dnTemplate`,
  });
  for (const [answers, what] of [[[], "no entry"], [[user, other], "several entries"]] as const) {
    assert.deepEqual(await probe("a", ...base, ...answers, end(2, 0)), {
      ok: false,
      found: `${all.bound}; userFilter finds ${what} for a`,
    });
  }
});

/** Entries that a server finds for a name it considers equal, as Active Directory does with accents. */
const SPELLINGS: readonly (readonly [
  kind: string,
  user: string,
  found: Readonly<Record<string, readonly string[]>>,
  userFilter?: string,
])[] = [
  ["none", "\u00e4lice", { uid: ["alice"] }],
  ["none", "alice", { uid: ["\u00e4lice", "al"] }],
  ["found", "ALICE", { UID: ["al", "alice"] }],
  ["found", "\u00e4lice", { uid: ["a\u0308lice"] }],
  ["found", "al@demo.org", { uid: ["alice"], mail: ["Al@demo.org"] }, "(|(uid=%user%)(mail=%user%))"],
  ["none", "\u00e4l@demo.org", { uid: ["alice"], mail: ["al@demo.org"] }, "(|(uid=%user%)(mail=%user%))"],
  ["found", "\u00e4lice", {}], // attribute not readable
  ["found", "\u00e4l", { mail: ["al@demo.org"] }, "(mail=%user%@demo.org)"],
];
for (const [kind, user, attributes, userFilter = "(&(objectClass=x)(uid=%user%))"] of SPELLINGS) {
  Deno.test(`LdapDirectory.findUser() returns ${kind} for ${user} if ${userFilter} finds ${JSON.stringify(attributes)}`, async () => {
    const { wires: [wire], parts: made } = parts([[message(1, entry("uid=a", attributes)), end(1, 0)]]);
    const asked = { server: new LdapServer(ADDRESS, config, made), caller: CALLER };
    const found = await directory({ userFilter }).findUser(user, ["shadowExpire"], asked);
    assert.equal(found.kind, kind);
    const sent = new TextDecoder().decode(wire?.written[0]);
    assert.ok(sent.includes("shadowExpire"));
    const requested = sent.slice(sent.indexOf("shadowExpire"));
    for (const name of ["uid", "mail"]) {
      assert.equal(requested.includes(name), userFilter.includes(`(${name}=%user%)`), name);
    }
  });
}

Deno.test("LdapDirectory.findName() finds the base and entries below it, and no others", async () => {
  const find = (dn: string) => {
    const asked = directory({ dnTemplate: undefined });
    const answers = [message(1, entry(dn, {})), end(1, 0)];
    return asked.findName(dn, [], {
      server: new LdapServer(ADDRESS, config, parts([answers]).parts),
      caller: CALLER,
    });
  };
  assert.equal((await find(BASE)).kind, "found");
  assert.equal((await find(`uid=a,${BASE}`)).kind, "found");
  assert.equal((await find("uid=a,ou=others,dc=demo,dc=org")).kind, "none");
});
