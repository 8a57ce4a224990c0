/** Bans by an operator, against all credentials of banned users. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { startOidcProvider } from "../identity_provider/oidc_provider.ts";
import { createAuthority } from "../pki/authority.ts";
import { publicLine } from "../authentication/ssh_key/user_keys.ts";
import { ask, type Question } from "./ask.ts";
import { authenticatorProperties, userToken } from "./every_method.ts";
import { Visitor } from "./visitor.ts";
import {
  ALICE,
  ALICE_DN,
  createSite,
  MAP,
  passwordLine,
  PASSWORDS,
  runService,
  settled,
  STRANGER,
} from "./running_service.ts";

const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const oidc = await startOidcProvider(authority.issue({ subject: "CN=idp", names: ["localhost"] }));
oidc.tokens.set("alices", { dn: "CN=Other Name,O=Provider", login: "alice" });
oidc.tokens.set("mapped", { dn: "CN=Mapped,O=Provider" });
oidc.tokens.set("others", { dn: "CN=Other,O=Provider", login: "pool" });
const PAT = ["pat", "postman-1234"] as const;
const system = await runService({
  authority,
  properties: {
    "container.security.rest.authentication.order": "PASSWORD SSHKEY OAUTH X509",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
    ...authenticatorProperties("OAUTH", {
      class: "OAuthAuthenticator",
      address: oidc.userinfo,
      identityAssign: "dn",
      uidAssign: "login",
    }),
    "container.httpServer.wantClientAuthn": "true",
  },
  files: {
    "conf/keys.txt": `alice:${publicLine("user_ed25519")}:CN=Alice With A Key,O=Demo,C=EU\n` +
      `fay:${publicLine("user_ed25519")}:CN=Fay,O=Demo,C=EU\n` +
      `kim:${publicLine("user_ed25519")}:CN=Kim,O=Demo,C=EU\n`,
  },
  passwords: PASSWORDS + passwordLine(PAT, "CN=Pat,O=Demo,C=EU"),
  map: JSON.stringify({
    ...MAP,
    "CN=Pat,O=Demo,C=EU": { role: "user", xlogin: ["games", "pat"], group: "users" },
    "CN=Mapped,O=Provider": { role: "user", xlogin: "games", group: "users" },
    "CN=Kim,O=Demo,C=EU": { role: "user", "uftpd.HPC.xlogin": "games", group: "users" },
    "CN=Carl,O=Demo,C=EU": { role: "user", "daemon.HPC.xlogin": "games", group: "users" },
  }),
});
Deno.test.afterAll(async () => {
  await system[Symbol.asyncDispose]();
  await oidc[Symbol.asyncDispose]();
});
await settled(system);

async function ban(...args: readonly string[]) {
  const io = recordedIo();
  const status = await runCommand(["ban", ...args, "--config", system.main], io);
  assert.equal(status, 0, io.err);
  return io;
}

const bearer = (token: string): Question => ({ headers: { Authorization: `Bearer ${token}` } });
const statusOf = async (question: Question, path = "/rest/auth") => (await system.ask(path, question)).status;
const headers = { Accept: "text/plain" };
const tokenOf = async (question: Question) =>
  (await system.ask("/rest/auth/token", { ...question, headers: { ...headers, ...question.headers } })).text;

const certificate = authority.issue({ subject: ALICE_DN, extendedKeyUsage: ["clientAuth"] });
// Longer than usual: a busy machine may run these tests minutes after it loaded them.
const issued = (await system.ask("/rest/auth/token?lifetime=3000", { as: ALICE, headers })).text;

/** All credentials that name alice, as user or as account. */
const ALICES: Readonly<Record<string, () => Question>> = {
  "a password": () => ({ as: ALICE }),
  "an SSH token": () => bearer(userToken("alice", "user_ed25519")),
  "a provider's token": () => bearer("alices"),
  "a token of ours": () => bearer(issued),
  "a client certificate": () => ({ certificate }),
};
const OTHERS: Readonly<Record<string, () => Question>> = {
  "a password": () => ({ as: STRANGER }),
  "an SSH token": () => bearer(userToken("fay", "user_ed25519")),
  "a provider's token": () => bearer("others"),
};

async function statuses(questions: Readonly<Record<string, () => Question>>) {
  const found: Record<string, number> = {};
  for (const [what, question] of Object.entries(questions)) found[what] = await statusOf(question());
  return found;
}
const all = (questions: Readonly<Record<string, unknown>>, status: number) =>
  Object.fromEntries(Object.keys(questions).map((what) => [what, status]));

Deno.test("a ban of a user blocks every credential that names the user, and no others", async () => {
  assert.deepEqual(await statuses(ALICES), all(ALICES, 200));
  await ban("add", "--user", "alice");
  assert.deepEqual(await statuses(ALICES), all(ALICES, 429));
  assert.deepEqual(await statuses(OTHERS), all(OTHERS, 200));
  await ban("remove", "--user", "alice");
  assert.deepEqual(await statuses(ALICES), all(ALICES, 200));
});

Deno.test("a ban of an account blocks everybody to whom an attribute source assigns it, whatever their credentials", async () => {
  const patsToken = await tokenOf({ as: PAT });
  const browser = new Visitor(system);
  assert.equal((await browser.signIn(PAT)).status, 303);
  const nameOnPage = async () => /Signed in as/.test((await browser.get("/")).text);
  assert(await nameOnPage());
  const carls = authority.issue({ subject: "CN=Carl,O=Demo,C=EU", extendedKeyUsage: ["clientAuth"] });
  const users: Readonly<Record<string, () => Question>> = {
    "a password": () => ({ as: PAT }),
    "an SSH token": () => bearer(userToken("kim", "user_ed25519")),
    "a provider's token": () => bearer("mapped"),
    "a token of ours": () => bearer(patsToken),
    "a client certificate": () => ({ certificate: carls }),
  };
  const asPat = { as: PAT, headers: { "X-UNICORE-User-Preferences": "uid:pat" } };
  assert.deepEqual(await statuses(users), all(users, 200));
  await ban("add", "--user", "Games");
  assert.deepEqual(await statuses(users), all(users, 429));
  assert.equal(await statusOf(asPat), 200, "another account of the user");
  assert.deepEqual(await statuses(OTHERS), all(OTHERS, 200));
  assert.equal(await nameOnPage(), false);
  await ban("remove", "--user", "Games");
  assert.equal(await nameOnPage(), false, "signed out for good");
  await ban("add", "--user", "games", "--address", "192.0.2.1");
  assert.deepEqual(await statuses(users), all(users, 200), "at another address");
  await ban("remove", "--user", "games");
});

Deno.test("a ban of a DN blocks every credential that proves it, whatever the case and spaces", async () => {
  const { err } = await ban("add", "--user", "cn=alice, o=demo, c=eu");
  assert.equal(err, "");
  assert.deepEqual(await statuses(ALICES), {
    "a password": 429,
    "an SSH token": 200, // another name
    "a provider's token": 200,
    "a token of ours": 429,
    "a client certificate": 429,
  });
  await ban("remove", "--user", "cn=alice, o=demo, c=eu");
});

Deno.test("a ban of a user name in another case also bans the DN that the password or keys file assigns to it", async () => {
  const certified = (subject: string) => {
    const certificate = authority.issue({ subject, extendedKeyUsage: ["clientAuth"] });
    return () => ({ certificate });
  };
  const pats = { "a password": () => ({ as: PAT }), "a certificate": certified("CN=Pat,O=Demo,C=EU") };
  const kims = {
    "an SSH token": () => bearer(userToken("kim", "user_ed25519")),
    "a certificate": certified("CN=Kim,O=Demo,C=EU"),
  };
  for (const [name, credentials] of [["PAT", pats], ["Kim", kims]] as const) {
    await ban("add", "--user", name);
    assert.deepEqual(await statuses(credentials), all(credentials, 429));
    await ban("remove", "--user", name);
    assert.deepEqual(await statuses(credentials), all(credentials, 200));
  }
});

Deno.test("a ban of a DN in reverse order blocks nobody, and warns about it", async () => {
  const { out, err } = await ban("add", "--user", "C=EU,O=Demo,CN=Alice");
  assert.match(out, /^User C=EU,O=Demo,CN=Alice banned until/);
  assert.match(
    err,
    /^Warning: this user is unknown\. .*reverse order.*not banned: cn=alice,o=demo,c=eu$/m,
  );
  assert.deepEqual(await statuses(ALICES), all(ALICES, 200));
  await ban("remove", "--user", "C=EU,O=Demo,CN=Alice");
  assert.equal((await ban("add", "--user", "CN=Nobody,O=Nowhere")).err, "", "unknown either way");
  await ban("remove", "--user", "CN=Nobody,O=Nowhere");
});

Deno.test("a ban of an address blocks everything except health checks, whatever the credentials", async () => {
  await ban("add", "--address", "127.0.0.1");
  try {
    assert.deepEqual(await statuses(ALICES), all(ALICES, 429));
    assert.deepEqual(await statuses(OTHERS), all(OTHERS, 429));
    const paths = ["/", "/rest/auth", "/login", "/openapi.json", "/rest/auth/certificate", "/DEMO/rest/auth"];
    for (const path of paths) assert.equal(await statusOf({}, path), 429, path);
    const undescribed = [
      "/nowhere",
      "/rest/access/HPC/nosuchshare",
      "/rest/share/HPC",
      "/healthy",
      "/health",
    ];
    const bare = (path: string, question?: Question) =>
      ask(`https://localhost:${system.port}${path}`, authority.certificate, question);
    for (const path of undescribed) assert.equal((await bare(path)).status, 429, path);
    assert.equal((await bare("/rest/auth", { method: "OPTIONS" })).status, 429);
    assert.ok(Number((await system.ask("/rest/auth")).headers["retry-after"]) > 3000);
    for (const path of ["/health/live", "/health/ready", "/DEMO/health/live"]) {
      assert.equal(await statusOf({}, path), 200, path);
    }
  } finally {
    await ban("remove", "--address", "127.0.0.1");
  }
  assert.equal(await statusOf({}), 200);
});

Deno.test("a ban of a user at an address applies only to the user at that address", async () => {
  await ban("add", "--user", "alice", "--address", "192.0.2.1");
  assert.deepEqual(await statuses(ALICES), all(ALICES, 200));
  await ban("add", "--user", "alice", "--address", "127.0.0.1");
  assert.deepEqual(await statuses(ALICES), all(ALICES, 429));
  assert.deepEqual(await statuses(OTHERS), all(OTHERS, 200));
  await ban("remove", "--user", "alice");
});

Deno.test("no session is opened for a banned address, whatever the address of the request", async () => {
  const session = async (as: readonly [string, string], client: string) => {
    const before = system.daemon().sessionRequests.length;
    const { status } = await system.ask("/rest/auth/HPC", { as, body: { serverPath: "", client } });
    return status === 429 ? "refused" : system.daemon().sessionRequests.length - before;
  };
  const both = "127.0.0.1,2001:db8::1:7";
  for (const [user, ofPat] of [[[], "refused"], [["--user", "alice"], 1]] as const) {
    await ban("add", "--address", "2001:db8::", ...user);
    assert.deepEqual([await session(ALICE, both), await session(PAT, both)], ["refused", ofPat]);
    assert.equal(await session(ALICE, "127.0.0.1"), 1);
    await ban("remove", "--address", "2001:db8::");
    assert.equal(await session(ALICE, both), 1);
  }
});

Deno.test("whoami-test decides like the running service about banned and throttled users", async () => {
  const whoami = async (...args: readonly string[]) => {
    const io = recordedIo();
    const status = await runCommand(
      ["whoami-test", ...args, "--config", `${system.folder}/conf/container.properties`],
      io,
    );
    return { status, out: io.out };
  };
  const ban = async (...args: readonly string[]) => {
    const io = recordedIo();
    const main = `${system.folder}/conf/container.properties`;
    assert.equal(await runCommand(["ban", ...args, "--config", main], io), 0, io.err);
  };
  const free = await whoami("pat");
  assert.equal(free.status, 0, free.out);
  assert.match(free.out, /^Bans +0 concern this user$/m);
  const subjects = [
    ["--user", "pat"],
    ["--user", "games"],
    ["--user", "CN=Pat,O=Demo,C=EU"],
    ["--address", "198.51.100.9"],
  ];
  for (const subject of subjects) {
    await ban("add", ...subject, "--for", "1m");
    const kept = await whoami("CN=Pat,O=Demo,C=EU", "--from", "198.51.100.9");
    assert.equal(kept.status, 1, `${subject}\n${kept.out}`);
    assert.match(kept.out, /^Result +refused: banned until \d{4}-/m);
    assert.match(kept.out, /^Bans +1 concern this user$/m);
    await ban("remove", ...subject);
  }
  for (let i = 0; i < 12; i++) await system.ask("/rest/auth", { as: ["pat", `wrong-${i}`] });
  const waiting = await whoami("pat");
  assert.equal(waiting.status, 1, waiting.out);
  assert.match(waiting.out, /^Result +refused: too many failed logins, has to wait until \d{4}-/m);
  await ban("remove", "--user", "pat");
});

Deno.test("whoami-test reports that bans are not known if no service runs", async () => {
  await using site = await createSite();
  const io = recordedIo();
  assert.equal(await runCommand(["whoami-test", "alice", "--config", site.main], io), 0, io.err);
  assert.match(io.out, /^Bans +not known: no running service answers$/m);
});
