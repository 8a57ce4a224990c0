import assert from "node:assert/strict";
import type { AssignmentsConfig } from "../../../src/config/read_assignments.ts";
import type { LdapSourceConfig } from "../../../src/attributes/ldap/keys.ts";
import { LdapSource } from "../../../src/attributes/ldap/ldap_source.ts";
import { Assignments } from "../../../src/authentication/assignments.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import type { AttributeSet } from "../../../src/model/attributes.ts";
import { HttpError } from "../../../src/model/http_error.ts";
import { assignments } from "../../authentication/remote_subject.ts";
import { type Attributes, BASE, person, SERVICE, SLAPD, TestSlapd } from "../../fixtures/slapd.ts";
import { tlsOutgoing } from "../../outgoing/tls_outgoing.ts";
import { createAuthority } from "../../pki/authority.ts";
import { attributeSet, identity, testAttributeSource } from "../conformance.ts";

const authority = createAuthority({ subject: "CN=LDAP CA" });
const NEVER = new AbortController().signal;
const ALICE = identity("CN=alice,O=Demo", { uid: "alice" });

const group = (
  cn: string,
  more: Attributes,
): readonly [string, Attributes] => [`cn=${cn},ou=groups,${BASE}`, {
  cn,
  ...more,
}];
const names = (cn: string, ...members: readonly string[]) =>
  group(cn, { objectClass: "groupOfNames", member: members.map((member) => `${member},${BASE}`) });

const slapd = SLAPD === undefined ? undefined : await TestSlapd.start(
  authority.issue({ subject: "CN=localhost", names: ["localhost"] }),
  [
    person("alice", "x", {
      employeeType: "admin",
      roomNumber: "5m",

      description: ["/work/a", "/work/b"],
    }),
    person("bob", "x", { gidNumber: "77", jpegPhoto: "\u00ff".repeat(1_500_000) }),
    person("expired", "x", { shadowExpire: "1" }),
    person("locked", "x", { pwdAccountLockedTime: "000001010000Z" }),
    person("anna", "x", { uid: ["anna", "ann"], pwdAccountLockedTime: "000001010000Z" }),
    person("left", "x", { employeeType: "left" }),
    person("twin1", "x", { description: "twin" }),
    person("twin2", "x", { description: "twin" }),
    person("mia", "x", { mail: "mia@example.org", roomNumber: "5m" }),
    group("users", { objectClass: "posixGroup", gidNumber: "5000" }),
    group("hpc", { objectClass: "posixGroup", gidNumber: "5001", memberUid: ["alice", "bob"] }),
    group("with blank", { objectClass: "posixGroup", gidNumber: "5002", memberUid: "alice" }),
    person("most", "x", { gidNumber: "77" }),
    person("many", "x"),
    ...Array.from({ length: 500 }, (_, i) =>
      group(`g${i}`, {
        objectClass: "posixGroup",
        gidNumber: String(6000 + i),
        memberUid: i === 0 ? "many" : ["most", "many"],
      })),
    names("outer", "cn=inner,ou=groups", "cn=outer,ou=groups"),
  ],
);
// Adds this group by a request: the memberof overlay ignores groups that slapadd loads.
await slapd?.change(`dn: cn=inner,ou=groups,${BASE}
changetype: add
objectClass: groupOfNames
cn: inner
member: uid=alice,ou=people,${BASE}
`);
Deno.test.afterAll(async () => await slapd?.[Symbol.asyncDispose]());
const ignore = slapd === undefined;

const ORIGIN = { file: "container.properties", line: 1, key: "LDAP" };

function create(more: Partial<LdapSourceConfig> = {}): LdapSource {
  const config: LdapSourceConfig = {
    kind: "LDAPAttributeSource",
    name: "LDAP",
    addresses: [slapd?.ldaps ?? ""],
    bindDN: SERVICE.dn,
    bindPassword: SERVICE.password,
    ...{ uid: undefined, role: undefined, groups: undefined, others: [] },
    truststore: undefined,
    userBase: `ou=people,${BASE}`,
    userFilter: "(uid=%user%)",
    userFilterOrigin: ORIGIN,
    dnTemplate: "CN=%uid%,O=Demo",
    timeoutMs: 5000,
    testUser: undefined,
    lookUpBy: "name",
    groupBase: undefined,
    groupFilter: "(&(objectClass=posixGroup)(memberUid=%user%))",
    groupFilterOrigin: ORIGIN,
    nestedGroups: false,
    groupsMap: [],
    optional: false,
    assignments: assignments({}),
    ...more,
  };
  const expressions = new Assignments(config.assignments, SILENT);
  const outgoing = tlsOutgoing([authority.certificate]);
  return new LdapSource(config, { outgoing, clock: Date.now, log: SILENT, expressions });
}

const subject = (more: Partial<LdapSourceConfig> = {}) => {
  const source = create(more);
  return Promise.resolve({ source, [Symbol.asyncDispose]: () => Promise.resolve(source.close()) });
};

if (!ignore) {
  for (const lookUpBy of ["name", "account"] as const) {
    testAttributeSource({
      name: `LdapSource by ${lookUpBy}`,
      create: () => subject({ lookUpBy }),
      configuredName: "LDAP",
      known: ALICE,
      knownOtherwise: identity("cn=ALICE, o=demo", { uid: "alice" }),
      attributes: attributeSet({ role: ["user"], xlogin: ["alice"], group: ["inner"] }),
      unknown: identity("CN=alice,O=Elsewhere", lookUpBy === "account" ? {} : { uid: "alice" }),
      createBroken: () => subject({ addresses: ["ldaps://localhost:1"] }),
    });
  }
}

const test = (name: string, run: () => Promise<void>) =>
  Deno.test(`LdapSource ${name} (slapd)`, { ignore }, run);

async function found(more: Partial<LdapSourceConfig>, who = ALICE): Promise<AttributeSet> {
  const source = create(more);
  try {
    return await source.attributesOf(who, NEVER);
  } finally {
    source.close();
  }
}
const groups = async (more: Partial<LdapSourceConfig>, who = ALICE) =>
  (await found({ groupBase: `ou=groups,${BASE}`, ...more }, who)).standard.get("group")?.allowed ?? [];

test("gives posixGroups and memberOf, without names that cannot be Unix groups", async () => {
  assert.deepEqual(await groups({}), ["users", "hpc", "inner"], "the one of gidNumber first");
  assert.deepEqual(await groups({}, identity("CN=bob,O=Demo")), ["hpc"]);
});

test("maps groups by cn, number and name, with the group of gidNumber first", async () => {
  const groupsMap = [
    { name: "HPC", value: "cluster" },
    { name: "5000", value: "staff" },
    { name: `cn=inner,ou=groups,${BASE}`, value: "members" },
  ];
  assert.deepEqual(await groups({ groupsMap }), ["staff", "cluster", "members"]);
  assert.deepEqual(await groups({ groupsMap }, identity("CN=bob,O=Demo")), ["cluster"]);
  for (const name of [`CN=Inner, OU=groups, ${BASE}`, `cn=\\69nner,ou=groups,${BASE}`]) {
    assert.deepEqual(await groups({ groupsMap: [{ name, value: "members" }] }), ["members"], name);
  }
});

test("follows nested groups, even circular ones", async () => {
  const nested = { groupFilter: "(&(objectClass=groupOfNames)(member=%dn%))", nestedGroups: true };
  assert.deepEqual(await groups(nested), ["users", "inner", "outer"]);
  assert.deepEqual(await groups({ ...nested, nestedGroups: false }), ["users", "inner"]);
});

test("refuses a user with more groups than it can search instead of omitting some", async () => {
  assert.equal((await groups({}, identity("CN=most,O=Demo"))).length, 499);
  await assert.rejects(groups({}, identity("CN=many,O=Demo")), {
    code: "ERR_USER_ATTRIBUTE",
    message: `Attribute source LDAP: uid=many,ou=people,${BASE} has 500 groups or more, expected fewer`,
  });
});

test("assigns account, role, limits and paths by expressions", async () => {
  const other = (name: string, text: string) => ({ name, value: { text, origin: ORIGIN } });
  const { standard, extra } = await found({
    assignments: {
      ...assignments({ uid: "'u-' + uid", role: "employeeType", groups: "['hpc']" }),
      others: [
        other("uftpd.HPC.rateLimit", "roomNumber"),
        other("uftpd.HPC.includes", "attr['description']"),
      ],
    },
  });
  assert.deepEqual(standard, attributeSet({ role: ["admin"], xlogin: ["u-alice"], group: ["hpc"] }).standard);
  assert.deepEqual(
    extra,
    new Map([["uftpd.HPC.rateLimit", ["5m"]], ["uftpd.HPC.includes", [
      "/work/a",
      "/work/b",
    ]]]),
  );
});

test("gives no account and no groups to a user if one of the expressions fails", async () => {
  for (const failing of [{ groups: "missing" }, { role: "missing" }, { uid: "missing" }]) {
    const { standard } = await found({ assignments: assignments(failing) });
    assert.equal(standard.has("xlogin"), false, JSON.stringify(failing));
    assert.notDeepEqual(standard.get("role")?.allowed, ["user"], JSON.stringify(failing));
  }
  const { standard } = await found({ assignments: assignments({ groups: "['hpc']" }) });
  assert.deepEqual(standard, attributeSet({ role: ["user"], xlogin: ["alice"], group: ["hpc"] }).standard);
});

test("gives the mail address of the entry, unless an expression gives another", async () => {
  const extraOf = async (others: AssignmentsConfig["others"] = []) =>
    (await found({ assignments: { ...assignments({}), others } }, identity("CN=mia,O=Demo"))).extra;
  assert.deepEqual(await extraOf(), new Map([["mail", ["mia@example.org"]]]));
  const other = { name: "mail", value: { text: "'x@' + roomNumber", origin: ORIGIN } };
  assert.deepEqual(await extraOf([other]), new Map([["mail", ["x@5m"]]]));
});

test("refuses a user whose entry lacks the attribute of a limit", async () => {
  const others = [{ name: "uftpd.HPC.includes", value: { text: "description", origin: ORIGIN } }];
  await assert.rejects(
    found({ assignments: { ...assignments({}), others } }, identity("CN=bob,O=Demo")),
    (error) => error instanceof HttpError && error.code === "ERR_USER_ATTRIBUTE",
  );
});

test("gives another limit to a user whose entry lacks the attribute of an expression that compares it with null", async () => {
  const text = "attr['description'] == null ? '/nowhere' : attr['description']";
  const others = [{ name: "uftpd.HPC.includes", value: { text, origin: ORIGIN } }];
  for (const [user, paths] of [["alice", ["/work/a", "/work/b"]], ["bob", ["/nowhere"]]] as const) {
    const { extra } = await found(
      { assignments: { ...assignments({}), others } },
      identity(`CN=${user},O=Demo`),
    );
    assert.deepEqual(extra.get("uftpd.HPC.includes"), paths, user);
  }
});

test("knows users by the names of their entries, but only below its base", async () => {
  const dn = `uid=alice,ou=people,${BASE}`;
  const account = async (dn: string, userBase = `ou=people,${BASE}`) =>
    (await found({ dnTemplate: undefined, userBase }, identity(dn))).standard.get("xlogin")?.preferred[0];
  assert.equal(await account(dn), "alice");
  assert.equal(await account("uid=alice,o=Elsewhere"), undefined);
  assert.equal(await account(dn, `ou=groups,${BASE}`), undefined);
  assert.equal(await account(`uid=x\\,ou=people,${BASE}`), undefined);
});

test("gives an entry that userFilter excludes no attributes, whether it looks users up by template or by entry", async () => {
  const userFilter = "(&(uid=%user%)(!(employeeType=left)))";
  const left = `uid=left,ou=people,${BASE}`;
  const byEntry = { dnTemplate: undefined, userFilter };
  assert.equal((await found({ userFilter }, identity("CN=left,O=Demo"))).standard.size, 0);
  assert.equal((await found(byEntry, identity(left))).standard.size, 0);
  for (const filter of [userFilter, "(uid~=%user%)", "(uid:caseIgnoreMatch:=%user%)", "(uid=al%user%)"]) {
    const { standard } = await found(
      { ...byEntry, userFilter: filter },
      identity(`uid=alice,ou=people,${BASE}`),
    );
    assert.deepEqual(standard.get("xlogin")?.allowed, ["alice"], filter);
  }
});

test("refuses a user whose entry has several values in dnTemplate, since its lock would not count", async () => {
  for (const dn of ["CN=anna,O=Demo", "CN=ANN,O=Demo"]) {
    await assert.rejects(found({}, identity(dn)), {
      code: "ERR_USER_ATTRIBUTE",
      message: "Attribute source LDAP: several entries or names",
    });
  }
  assert.equal((await found({}, identity("CN=anna,O=Elsewhere"))).standard.size, 0);
});

test("does not know users whose names the server cannot have", async () => {
  for (const part of ["DC=ä", "1.2.3.4=x"]) {
    const { standard } = await found({ dnTemplate: undefined }, identity(`${part},ou=people,${BASE}`));
    assert.equal(standard.size, 0, part);
  }
});

test("refuses a user with several entries, since their limits may differ", async () => {
  const twin = { lookUpBy: "account", userFilter: "(description=%user%)" } as const;
  await assert.rejects(
    found(twin, identity("CN=twin,O=Demo", { uid: "twin" })),
    (error) => error instanceof HttpError && error.code === "ERR_USER_ATTRIBUTE",
  );
});

test("bans users whose entry is locked or expired, however they authenticated", async () => {
  const expressions = { assignments: assignments({ role: "'admin'" }) };
  for (const [account, lookUpBy] of [["expired", "name"], ["locked", "account"]] as const) {
    for (const more of [{}, expressions]) {
      const who = identity(`CN=${account},O=Demo`, { uid: account });
      const { standard } = await found({ lookUpBy, ...more }, who);
      assert.deepEqual(standard.get("role")?.allowed, ["banned"], account);
    }
  }
});

test("asks once for several callers, and caches the answer", async () => {
  const source = create();
  const all = await Promise.all(Array.from({ length: 20 }, () => source.attributesOf(ALICE, NEVER)));
  assert.equal(new Set(all).size, 1, "one answer for all");
  assert.equal(await source.attributesOf(ALICE, NEVER), all[0]);
  source.close();
});
