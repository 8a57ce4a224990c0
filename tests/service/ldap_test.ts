/** Tests a site with users, accounts and groups in a real OpenLDAP, from its properties to an opened session. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { checkOnline } from "../../src/command/diagnosis/check_online.ts";
import { inspectDataFiles } from "../../src/command/diagnosis/inspect.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { formatDiagnostic } from "../../src/model/diagnostic.ts";
import { corePermissions } from "../../src/workers/permissions.ts";
import { loadSnapshot } from "../../src/service/assembly/load_snapshot.ts";
import { answerWeb } from "../../src/service/mount.ts";
import { createService } from "../../src/service/service.ts";
import { BASE, person, SERVICE, SLAPD, TestSlapd } from "../fixtures/slapd.ts";
import { createAuthority } from "../pki/authority.ts";
import { createSite, passwordLine } from "../system/running_service.ts";

const METHOD = "container.security.rest.authentication.";
const SOURCE = "container.security.attributes.";
const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const ignore = SLAPD === undefined;
const slapd = ignore ? undefined : await TestSlapd.start(
  authority.issue({ subject: "CN=localhost", names: ["localhost"] }),
  [
    person("alice", "wonder-4711", { roomNumber: "1k" }),
    person("Dave", "x", { shadowExpire: "1", roomNumber: "1k" }),
    [`cn=hpc,ou=groups,${BASE}`, {
      objectClass: "posixGroup",
      gidNumber: "5001",
      cn: "hpc",
      memberUid: "alice",
    }],
  ],
);
Deno.test.afterAll(async () => await slapd?.[Symbol.asyncDispose]());

/** Creates a site that queries the directory. */
async function ldapSite(more: Readonly<Record<string, string>> = {}, map?: string) {
  const common = (prefix: string) => ({
    [`${prefix}LDAP.address`]: slapd?.ldaps ?? "",
    [`${prefix}LDAP.bindDN`]: SERVICE.dn,
    [`${prefix}LDAP.bindPasswordFile`]: "{folder}/conf/ldap-password",
    [`${prefix}LDAP.userBase`]: `ou=people,${BASE}`,
    [`${prefix}LDAP.dnTemplate`]: "CN=%uid%,O=Demo",
    [`${prefix}LDAP.testUser`]: "alice",
  });
  const site = await createSite({
    authority,
    passwords: passwordLine(["dave", "right-1"], "CN=Dave,O=Demo"),
    map,
    files: { "conf/ldap-password": `${SERVICE.password}\n` },
    properties: {
      [`${METHOD}order`]: "LDAP PASSWORD",
      [`${SOURCE}order`]: "LDAP",
      ...common(METHOD),
      ...common(SOURCE),
      [`${SOURCE}LDAP.groupBase`]: `ou=groups,${BASE}`,
      [`${SOURCE}LDAP.attributeAssign.uftpd.HPC.rateLimit`]: "roomNumber",
      ...more,
    },
  });
  const { snapshot, config, diagnostics } = await loadSnapshot(site.main, { environment: () => undefined });
  const found = diagnostics.map(formatDiagnostic);
  return {
    site,
    snapshot,
    config,
    found,
    [Symbol.asyncDispose]: () => site[Symbol.asyncDispose](),
  };
}

/** Runs a service for requests with user name and password. */
async function served<T>(
  { snapshot, found }: Awaited<ReturnType<typeof ldapSite>>,
  run: (ask: (user: string, password: string, path?: string) => Promise<Response>) => Promise<T>,
): Promise<T> {
  assert(snapshot !== undefined, found.join("\n"));
  const service = await createService({ ...snapshot, generation: 1, upSince: 0, port: 0 }, { log: SILENT });
  try {
    return await run((user, password, path = "/rest/auth") => {
      const headers = { Authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
      const isSession = path !== "/rest/auth";
      const request = new Request(`https://localhost${path}`, {
        method: isSession ? "POST" : "GET",
        headers: isSession ? { ...headers, "Content-Type": "application/json" } : headers,
        body: isSession ? JSON.stringify({ serverPath: "/data/" }) : undefined,
      });
      return answerWeb(service, request, { address: "192.0.2.7" });
    });
  } finally {
    await service.close();
  }
}

const test = (name: string, run: () => Promise<void>) => Deno.test(`${name} (slapd)`, { ignore }, run);

test("a site with users in LDAP opens sessions with account, group and limit of their entries", async () => {
  await using site = await ldapSite();
  await served(site, async (ask) => {
    const { client, server, HPC } = await (await ask("alice", "wonder-4711")).json();
    assert.deepEqual([client.dn, client.xlogin.UID, client.role.selected], [
      "CN=alice,O=Demo",
      "alice",
      "user",
    ]);
    assert.deepEqual([HPC.uid, HPC.availableGroups], ["alice", ["hpc"]]);
    assert.equal(server.externalConnections[`LDAP ${slapd?.ldaps}`], "OK");
    const session = await ask("alice", "wonder-4711", "/rest/auth/HPC");
    assert.equal(session.status, 200);
    assert.equal((await session.json()).success, true);
    const values = site.site.daemon("HPC").sessionRequests.at(-1);
    assert.deepEqual(["user", "group", "rateLimit"].map((name) => values?.get(name)), [
      "alice",
      "hpc",
      "1024",
    ]);
  });
});

test("an expired entry bans its user, also as a dynamic source", async () => {
  const map = JSON.stringify({ "CN=Dave,O=Demo": { role: "user", xlogin: "alice" } });
  const dynamic = "container.security.dynamicAttributes.";
  const source = Object.entries({
    address: slapd?.ldaps ?? "",
    bindDN: SERVICE.dn,
    bindPasswordFile: "{folder}/conf/ldap-password",
    userBase: `ou=people,${BASE}`,
    dnTemplate: "CN=%uid%,O=Demo",
  }).map(([key, value]) => [`${dynamic}LDAP.${key}`, value]);
  const asDynamic = {
    [`${SOURCE}order`]: "FILE",
    [`${dynamic}order`]: "LDAP",
    ...Object.fromEntries(source),
  };
  for (const more of [{ [`${SOURCE}order`]: "FILE LDAP" }, asDynamic]) {
    await using site = await ldapSite(more, map);
    await served(site, async (ask) => {
      const answer = await ask("dave", "right-1", "/rest/auth/HPC");
      assert.equal(answer.status, 403, await answer.text());
      assert.equal(site.site.daemon("HPC").sessionRequests.length, 0);
    });
  }
});

test("check reports ineffective LDAP settings", async () => {
  const names = {
    "uftpd.HCP.rateLimit": "no such server, expected one of authservice.servers: HPC",
    "uftpd.HPC.rateLimt": "expected one of xlogin, group, rateLimit, includes, excludes after the server",
    "ratelimit": "not used without a server, expected uftpd.<server>.rateLimit",
    "role": "not used, expected roleAssign, uidAssign or groupsAssign",
    "mail": undefined,
    "uftpd.HPC.includes": undefined,
  };
  const assigned = Object.keys(names).map((name) => [`${SOURCE}LDAP.attributeAssign.${name}`, "'x'"]);
  await using site = await ldapSite({
    ...Object.fromEntries(assigned),
    [`${SOURCE}LDAP.dnTemplate`]: "CN=%givenName% %sn%,O=Demo",
  });
  assert(site.config !== undefined);
  const config = { ...site.config, serverNames: ["HPC"] };
  const diagnostics = (await inspectDataFiles(config)).map(formatDiagnostic);
  for (const [name, expected] of Object.entries(names)) {
    const found = diagnostics.filter((each) => each.includes(`.attributeAssign.${name}: `));
    assert.equal(found.length, expected === undefined ? 0 : 1, diagnostics.join("\n"));
    if (expected !== undefined) assert(found[0]?.includes(expected), found[0]);
  }
  assert.match(
    site.found.join("\n"),
    /LDAP\.dnTemplate = CN=%givenName% %sn%,O=Demo: no user is found by name/,
  );

  await using odd = await ldapSite({ [`${SOURCE}LDAP.groupsMap.staff`]: "two words" });
  assert.match(odd.found.join("\n"), /LDAP\.groupsMap\.staff = two words: expected the name of a Unix group/);
});

test("check and check --online test filters and servers, login and test user", async () => {
  await using site = await ldapSite({
    [`${METHOD}LDAP.testUser`]: "nobody",
    [`${SOURCE}LDAP.userFilter`]: "(uid=%user%",
  });
  assert(site.config !== undefined && site.snapshot !== undefined, site.found.join());
  const diagnostics = (await inspectDataFiles(site.config)).map(formatDiagnostic);
  assert.equal(diagnostics.length, 1);
  assert.match(diagnostics[0] ?? "", /LDAP\.userFilter = \(uid=%user%: expected a search filter/);
  await using good = await ldapSite({ [`${METHOD}LDAP.testUser`]: "nobody" });
  assert(good.snapshot !== undefined);
  const findings = await checkOnline(good.snapshot, { log: SILENT, clock: Date.now });
  const said = (system: string) => findings.find((finding) => finding.system === system);
  assert.equal(said("method LDAP")?.ok, false);
  assert.match(
    said("method LDAP")?.found ?? "",
    /binds as cn=authserver.*userFilter finds no entry for nobody$/,
  );
  assert.equal(said("attribute source LDAP")?.ok, true, said("attribute source LDAP")?.found);
  assert.match(
    said("attribute source LDAP")?.found ?? "",
    /finds alice as uid=alice,ou=people,dc=demo,dc=org$/,
  );
});

test("check --online reports a test user who cannot log in, since dnTemplate gives no name", async () => {
  await using site = await ldapSite({ [`${METHOD}LDAP.dnTemplate`]: "CN=%mail%,O=Demo" });
  await served(site, async (ask) => {
    const { status, body } = await ask("alice", "wonder-4711");
    await body?.cancel();
    assert.equal(status, 401);
  });
  assert(site.snapshot !== undefined);
  const findings = await checkOnline(site.snapshot, { log: SILENT, clock: Date.now });
  const told = findings.find(({ system }) => system === "method LDAP");
  assert.equal(told?.ok, false, told?.found);
  assert.match(
    told?.found ?? "",
    /finds alice .*; the entry has not one value for each attribute of dnTemplate$/,
  );
});

test("the core may only connect to the servers and read the truststore", async () => {
  await using site = await ldapSite({
    [`${METHOD}LDAP.address`]: "ldaps://one.example ldap://two.example:3890",
    [`${METHOD}LDAP.truststore`]: "{folder}/conf/ca.pem",
  });
  assert(site.config !== undefined, site.found.join());
  const { net, read } = await corePermissions(site.config, () => Promise.resolve([]));
  assert(net !== false && read !== false);
  assert.deepEqual(net.filter((host) => host.includes("example")), ["one.example:636", "two.example:3890"]);
  assert(read.includes(`${site.site.folder}/conf/ca.pem`));
});

const WRONG: readonly (readonly [key: string, value: string, expected: RegExp])[] = [
  ["address", "http://ldap.example", /expected addresses such as ldaps:/],
  ["address", "ldaps://ldap.example/dc=x", /expected addresses such as ldaps:/],
  ["userFilter", "(uid=alice)", /expected %user% in it/],
  ["userFilter", "(|(uid=%user%)(o=\\\\c3\\\\a4))", /expected the characters themselves/],
  ["dnTemplate", "CN=x", /expected a claim such as %uid%/],
  ["bindPassword", "both", /expected either \S+bindPassword or/],
];
for (const [key, value, expected] of WRONG) {
  Deno.test(`LDAP.${key}=${value} is reported with the expected value`, async () => {
    await using site = await ldapSite({ [`${METHOD}LDAP.${key}`]: value });
    assert.equal(site.config, undefined);
    assert.match(site.found.filter((line) => line.includes(`${METHOD}LDAP.`)).join("\n"), expected);
    assert(!site.found.join().includes(SERVICE.password));
  });
}

test("escaped octets in a filter for groups are reported, since no group would be found", async () => {
  const groupFilter = "(&(cn=gr\\\\c3\\\\bcn)(memberUid=%user%))";
  await using site = await ldapSite({ [`${SOURCE}LDAP.groupFilter`]: groupFilter });
  assert.equal(site.config, undefined);
  assert.match(
    site.found.join("\n"),
    /attributes\.LDAP\.groupFilter = .*: expected the characters themselves/,
  );
});

test("a wrong password counts even while LDAP is down, for known and unknown users alike", async () => {
  await using site = await ldapSite({ [`${SOURCE}order`]: "FILE" });
  /** Returns the statuses for wrong passwords until the throttle answers 429. */
  const guesses = (user: string) =>
    served(site, async (ask) => {
      const statuses: number[] = [];
      while (statuses.at(-1) !== 429 && statuses.length < 40) {
        const { status, body } = await ask(user, `wrong ${statuses.length}`);
        await body?.cancel();
        statuses.push(status);
      }
      return statuses;
    });
  const known = await guesses("alice");
  assert.equal(known.at(-1), 429);
  assert(known.slice(0, -1).every((status) => status === 401));
  assert.deepEqual(await guesses("nobody"), known);
  await slapd?.stop();
  try {
    assert.deepEqual(
      await guesses("dave"),
      known,
      "the password file refuses, whatever becomes of the other",
    );
  } finally {
    await slapd?.run();
  }
});
