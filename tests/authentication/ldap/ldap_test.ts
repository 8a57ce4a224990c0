import assert from "node:assert/strict";
import { LdapAuthenticator, type LdapAuthenticatorConfig } from "../../../src/authentication/ldap/ldap.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { RemoteUnavailable } from "../../../src/outgoing/remote_unavailable.ts";
import { person, SLAPD, TestSlapd } from "../../fixtures/slapd.ts";
import { tlsOutgoing } from "../../outgoing/tls_outgoing.ts";
import { answering, entry, message, result as ldapResult } from "../../outgoing/ldap/ldap_wire.ts";
import { createAuthority } from "../../pki/authority.ts";
import { testAuthenticator } from "../conformance.ts";
import { basic, bearer } from "../sample_credentials.ts";
import { ldapConfig } from "./ldap_config.ts";

const authority = createAuthority({ subject: "CN=LDAP CA" });
const credential = authority.issue({ subject: "CN=localhost", names: ["localhost"] });
const NEVER = new AbortController().signal;
const ALICE = ["alice", "wonder lånd"] as const;

function* people() {
  yield person(...ALICE, { mail: ["alice@demo.org", "a@demo.org"], shadowExpire: "99999" });
  yield person("bob", "builder");
  yield person("carol", "singer", { cn: "carol(1)*\\, of O=Demo" });
  yield person("expired", "old-one", { shadowExpire: "10" });
  yield person("policy-locked", "locked-1");
  yield person("must-change", "change-1", { pwdReset: "TRUE" });
  yield person("twin", "same", { mail: "twin@demo.org" });
  yield person("twin2", "same", { mail: "twin@demo.org" });
  for (let i = 0; i < 10_000; i++) yield person(`user${i}`, `password ${i}`);
}

const slapd = SLAPD === undefined ? undefined : await TestSlapd.start(credential, people());
Deno.test.afterAll(async () => await slapd?.[Symbol.asyncDispose]());
const address = slapd?.ldaps ?? "";
const ignore = slapd === undefined;

const create = (more: Partial<LdapAuthenticatorConfig> = {}, clock = Date.now) =>
  new LdapAuthenticator(ldapConfig({ addresses: [address], ...more }), {
    outgoing: tlsOutgoing([authority.certificate]),
    clock,
    log: SILENT,
  });

/** Returns the DN that a password gives, the reason of a refusal, or `skipped`. */
async function result(subject: LdapAuthenticator, user: string, password: string): Promise<string> {
  const found = await subject.authenticate(basic(user, password), NEVER);
  return found.kind === "accepted" ? found.identity.dn : found.kind === "refused" ? found.reason : found.kind;
}

if (!ignore) {
  testAuthenticator({
    name: "LdapAuthenticator",
    create,
    method: "LDAP",
    good: basic(...ALICE),
    bad: {
      "a wrong password": basic("bob", "guess-4711"),
      "an unknown user": basic("nobody", "anything"),
      "an empty password": basic("alice", ""),
      "an empty name": basic("", "wonder lånd"),
      "a name that matches everybody": basic("*", "wonder lånd"),
      "another filter": basic("alice)(uid=*", "wonder lånd"),
      "a name with blanks around it": basic(" alice", "wonder lånd"),
    },
    foreign: { "a token": bearer("token") },
    broken: () => create({ addresses: ["ldaps://localhost:1"] }),
  });
}

Deno.test("LdapAuthenticator does not bind as an entry that the server found for another spelling of the name", async () => {
  const [dn] = person("alice", "");
  const found = [message(1, entry(dn, { uid: ["alice"] })), message(1, ldapResult(0, { tag: 0x65 }))];
  for (const [user, said] of [["\u00e4lice", "no such user"], ["Alice", "CN=alice,O=Demo"]] as const) {
    const wires = [answering(...found), answering(message(1, ldapResult(0)))];
    const left = [...wires];
    const outgoing = {
      http: () => assert.fail("HTTP is not asked for"),
      connect: () => Promise.resolve(left.shift() ?? assert.fail("one connection too many")),
      connectionsPerHost: 6,
    };
    const addresses = ["ldaps://ldap.example.org"];
    const config = ldapConfig({ addresses, bindDN: undefined, bindPassword: undefined });
    const subject = new LdapAuthenticator(config, { outgoing, clock: Date.now, log: SILENT });
    assert.equal(await result(subject, user, "right"), said);
    const [bind] = wires[1]?.written ?? [];
    assert.equal(new TextDecoder().decode(bind).includes(dn), user === "Alice");
    subject.close();
  }
});

Deno.test("LdapAuthenticator predicts the name of a login, so that bans cover every way to log in, if the template uses what users type", () => {
  const byMailToo = "(|(uid=%user%)(mail=%user%))";
  for (
    const [more, login, names] of [
      [{}, "alice", ["CN=alice,O=Demo"]],
      [{}, "al,ice", ["CN=al\\,ice,O=Demo"]],
      [{}, " alice", []],
      [{}, "\ud800", []],
      [{ userFilter: byMailToo }, "alice", ["CN=alice,O=Demo"]],
      [{ userFilter: "(mail=%user%)" }, "alice", []],
      [{ userFilter: "(uid=%user%*)" }, "alice", []],
      [{ dnTemplate: "CN=%cn%,UID=%uid%" }, "alice", []],
      [{ dnTemplate: undefined }, "alice", []],
    ] as const
  ) {
    const subject = create(more);
    assert.deepEqual(subject.namesOf(login), names, JSON.stringify([more, login]));
    subject.close();
  }
});

const test = (name: string, run: () => Promise<void>) =>
  Deno.test(`LdapAuthenticator ${name} (slapd)`, { ignore }, run);

test("dates a login by the clock of the cluster", async () => {
  const subject = new LdapAuthenticator(ldapConfig({ addresses: [address] }), {
    outgoing: tlsOutgoing([authority.certificate]),
    clock: Date.now,
    sharedClock: () => 1_800_000_000_999,
    log: SILENT,
  });
  const found = await subject.authenticate(basic(...ALICE), NEVER);
  assert.equal(found.kind === "accepted" && found.identity.proved, 1_800_000_000);
  subject.close();
});

test("names users by the template, or by their entries", async () => {
  const [byTemplate, byEntry] = [create(), create({ dnTemplate: undefined })];
  assert.equal(await result(byTemplate, ...ALICE), "CN=alice,O=Demo");
  assert.equal(await result(byEntry, ...ALICE), "uid=alice,ou=people,dc=demo,dc=org");
  byTemplate.close();
  byEntry.close();
});

test("escapes attributes in names", async () => {
  const subject = create({ dnTemplate: "CN=%cn%,O=Demo" });
  assert.equal(await result(subject, "carol", "singer"), "CN=carol(1)*\\\\\\, of O\\=Demo,O=Demo");
  subject.close();
});

test("refuses a template whose attribute has several values", async () => {
  const subject = create({ dnTemplate: "CN=%mail%" });
  assert.equal(await result(subject, ...ALICE), "the identity is an empty name");
  subject.close();
});

test("finds each of 10,000 users", async () => {
  const subject = create();
  for (const i of [0, 4_711, 9_999]) {
    assert.equal(await result(subject, `user${i}`, `password ${i}`), `CN=user${i},O=Demo`);
  }
  subject.close();
});

test("refuses a name that several entries have", async () => {
  const subject = create({ userFilter: "(mail=%user%)" });
  assert.equal(await result(subject, "twin@demo.org", "same"), "userFilter finds several entries");
  subject.close();
});

test("uses StartTLS on ldap://", async () => {
  const subject = create({ addresses: [slapd?.ldap ?? ""] });
  assert.equal(await result(subject, ...ALICE), "CN=alice,O=Demo");
  assert.match(await result(subject, "alice", "wrong"), /^wrong password \(code 49\)$/);
  subject.close();
});

test("reports why the server refuses a login", async () => {
  const subject = create();
  assert.equal(await result(subject, "expired", "old-one"), "the account is expired (shadowExpire)");
  assert.equal(await result(subject, "must-change", "change-1"), "the password must be changed");
  for (let i = 0; i < 3; i++) {
    assert.match(await result(subject, "policy-locked", `guess ${i}`), /^wrong password \(code 49\)$/);
  }
  assert.equal(await result(subject, "policy-locked", "locked-1"), "the account is locked (code 49)");
  subject.close();
});

test("knows accounts until they are locked, expired or deleted", async () => {
  const subject = create();
  const status = async (uid: string, more: object = {}) =>
    (await subject.accountStatusOf({ dn: `CN=${uid},O=Demo`, login: uid, ...more }, NEVER)).kind;
  assert.equal(await status("bob"), "known");
  assert.equal(await status("nobody"), "gone");
  assert.equal(await status("expired"), "gone");
  assert.equal((await subject.accountStatusOf({ dn: "CN=alice,O=Demo", login: "bob" }, NEVER)).kind, "gone");
  for (const [dn, kind] of [["CN=Bob, O=demo", "known"], ["CN=bob,O=Other", "gone"], ["no name", "gone"]]) {
    assert.equal((await subject.accountStatusOf({ dn: dn ?? "" }, NEVER)).kind, kind, dn);
  }
  subject.close();
});

test("reports a login as gone when the password changes or the account is locked", async () => {
  const first = create();
  const login = await first.authenticate(basic("user1", "password 1"), NEVER);
  assert(login.kind === "accepted");
  const { dn, credential } = login.identity;
  const status = async () => {
    const subject = create(); // with an empty cache
    const { kind } = await subject.accountStatusOf({ dn, login: "user1", credential }, NEVER);
    subject.close();
    return kind;
  };
  assert.equal(await status(), "known");
  await slapd?.change(`dn: uid=user1,ou=people,dc=demo,dc=org
changetype: modify
replace: userPassword
userPassword: another
`);
  const again = create();
  const changed = await again.authenticate(basic("user1", "another"), NEVER);
  assert(changed.kind === "accepted" || changed.kind === "refused");
  assert.equal(await status(), "gone");
  await slapd?.change(`dn: uid=user2,ou=people,dc=demo,dc=org
changetype: modify
add: pwdAccountLockedTime
pwdAccountLockedTime: 000001010000Z
`);
  assert.equal((await again.accountStatusOf({ dn: "CN=user2,O=Demo", login: "user2" }, NEVER)).kind, "gone");
  assert.match(await result(again, "user2", "password 2"), /^the account is locked/);
  first.close();
  again.close();
});

test("looks up an account at most every ten seconds, and then notices that it is locked", async () => {
  let elapsed = 0;
  const subject = new LdapAuthenticator(ldapConfig({ addresses: [address] }), {
    outgoing: tlsOutgoing([authority.certificate]),
    clock: Date.now,
    elapsed: () => elapsed,
    log: SILENT,
  });
  const status = async () =>
    (await subject.accountStatusOf({ dn: "CN=user3,O=Demo", login: "user3" }, NEVER)).kind;
  assert.equal(await status(), "known");
  await slapd?.change(`dn: uid=user3,ou=people,dc=demo,dc=org
changetype: modify
add: pwdAccountLockedTime
pwdAccountLockedTime: 000001010000Z
`);
  elapsed = 9_999;
  assert.equal(await status(), "known");
  elapsed = 10_000;
  assert.equal(await status(), "gone");
  subject.close();
});

test("marks a server as down if no connection to it is established in time", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const dead = `ldaps://localhost:${silent.addr.port}`;
  const subject = create({ addresses: [dead, address], timeoutMs: 2000 });
  assert.equal(await result(subject, ...ALICE), "CN=alice,O=Demo");
  assert.equal(subject.status(dead).up, false);
  assert.match(subject.status(dead).reason ?? "", /no answer within 2000 ms/);
  subject.close();
});

test("asks the next server if one is down, and never a second one about a wrong password", async () => {
  const subject = create({ addresses: ["ldaps://localhost:1", address] });
  assert.equal(await result(subject, ...ALICE), "CN=alice,O=Demo");
  assert.equal(subject.status("ldaps://localhost:1").up, false);
  assert.equal(subject.status(address).up, true);
  assert.equal(subject.status().up, true);
  subject.close();
  const other = create({ addresses: [address, "ldaps://localhost:1"] });
  assert.match(await result(other, "alice", "wrong"), /^wrong password/);
  assert.equal(other.status("ldaps://localhost:1").since, undefined, "nobody asked it");
  other.close();
});

test("trusts only the authorities of its truststore", async () => {
  const stranger = createAuthority({ subject: "CN=Another CA" });
  const file = await Deno.makeTempFile({ suffix: ".pem" });
  await Deno.writeTextFile(file, stranger.certificate);
  const subject = create({ truststore: file });
  await assert.rejects(result(subject, ...ALICE), /no trusted authority signed/);
  await Deno.writeTextFile(file, authority.certificate);
  const other = create({ truststore: file });
  assert.equal(await result(other, ...ALICE), "CN=alice,O=Demo");
  subject.close();
  other.close();
  await Deno.remove(file);
});

test("refuses a server whose certificate is for another host", async () => {
  const subject = create({ addresses: [address.replace("localhost", "127.0.0.1")] });
  await assert.rejects(result(subject, ...ALICE), /for another host/);
  subject.close();
});

test("is out of order if the service itself may not log in", async () => {
  const subject = create({ bindPassword: "wrong" });
  await assert.rejects(result(subject, ...ALICE), (error) => {
    assert(error instanceof RemoteUnavailable);
    assert.match(error.reason, /login of this service as bindDN with code 49/);
    return true;
  });
  subject.close();
});

test("gives up on a server that does not answer, and asks the next one", async () => {
  assert(slapd !== undefined);
  await using other = await TestSlapd.start(credential, [person(...ALICE)]);
  const alone = create({ timeoutMs: 2000 });
  const both = create({ addresses: [address, other.ldaps], timeoutMs: 2000 });
  slapd.signal("SIGSTOP");
  try {
    await assert.rejects(result(alone, ...ALICE), RemoteUnavailable);
    assert.equal(await result(both, ...ALICE), "CN=alice,O=Demo");
  } finally {
    slapd.signal("SIGCONT");
  }
  alone.close();
  both.close();
});

test("works again over new connections after the server restarts", async () => {
  assert(slapd !== undefined);
  const [subject, other] = [create(), create()];
  for (const each of [subject, other]) assert.equal(await result(each, ...ALICE), "CN=alice,O=Demo");
  await slapd.stop();
  assert.equal(await result(other, ...ALICE), "CN=alice,O=Demo");
  for (const password of ["guess", ALICE[1]]) {
    await assert.rejects(result(other, "alice", password), RemoteUnavailable, "nobody counts guesses now");
  }
  await slapd.run();
  assert.equal(await result(subject, "bob", "builder"), "CN=bob,O=Demo");
  subject.close();
  other.close();
});

test("reuses its connections, and asks once about the same credentials", async () => {
  const outgoing = tlsOutgoing([authority.certificate]);
  const subject = new LdapAuthenticator(ldapConfig({ addresses: [address] }), {
    outgoing,
    clock: Date.now,
    log: SILENT,
  });
  for (let i = 20; i < 40; i++) assert.match(await result(subject, `user${i}`, `password ${i}`), /^CN=/);
  await Promise.all(Array.from({ length: 5 }, () => result(subject, ...ALICE)));
  assert.equal(outgoing.opened, 2);
  subject.close();
});

test("sends a password at most twice if connections close without an answer", async () => {
  let [opened, asked] = [0, 0];
  const real = tlsOutgoing([authority.certificate]);
  const subject = new LdapAuthenticator(ldapConfig({ addresses: [address] }), {
    outgoing: {
      ...real,
      async connect(remote, signal) {
        const connection = await real.connect(remote, signal);
        opened++;
        const isBroken = () => opened > 4; // connections of both kinds have been opened twice by then
        return {
          ...connection,
          async read() {
            if (!isBroken()) return await connection.read();
            asked++;
            return undefined;
          },
        };
      },
    },
    clock: Date.now,
    log: SILENT,
  });
  await Promise.all([30, 31].map((i) => result(subject, `user${i}`, `password ${i}`)));
  opened = 5;
  await assert.rejects(result(subject, "user32", "password 32"), RemoteUnavailable);
  assert.equal(asked, 2);
  subject.close();
});
