import assert from "node:assert/strict";
import { join } from "node:path";
import type { UserReference } from "../../../src/authentication/account_status.ts";
import { credentialFingerprint } from "../../../src/authentication/credential_fingerprint.ts";
import {
  formatScrypt,
  hashWithScrypt,
  matchesStored,
  md5Digest,
  parseStoredHash,
} from "../../../src/authentication/password/stored_hash.ts";
import { passwordFile } from "../../../src/authentication/password/password_file.ts";
import type { Authenticator } from "../../../src/authentication/authenticator.ts";
import { createLogger, SILENT } from "../../../src/logging/logger.ts";
import { testAuthenticator } from "../conformance.ts";
import { basic, bearer, sshLegacy } from "../sample_credentials.ts";
import { inTime } from "../../fixtures/deadline.ts";

const SCRYPT = formatScrypt(await hashWithScrypt("sesame", { ln: 10, r: 8, p: 1 }));
const USERS = `# the specification's format, and the new one
ann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann Example, OU=Lab 2, O=Site-A, C=DE
umlaut:BA235D767F35D4871D25D0784D78DD5F:Rk3_vT8mZq0LxN5w:CN=U
demouser:7a066bbc4c14cd9d7fb869f8cb3ecee2:09e9ba795983c2862d1fa83ad9b28959:CN=Demo User
bob:${SCRYPT}::CN=Bob
off::Rk3_vT8mZq0LxN5w:CN=Off
`;

/** Creates an authenticator over a file with this text; `close()` removes the file. */
async function create(text = USERS, log = SILENT): Promise<Authenticator & { readonly file: string }> {
  const folder = await Deno.makeTempDir();
  const file = join(folder, "users.txt");
  await Deno.writeTextFile(file, text);
  const method = await passwordFile({ name: "SUBJECT", file, log });
  let open = true;
  return {
    ...method,
    file,
    close() {
      method.close();
      if (open) Deno.removeSync(folder, { recursive: true });
      open = false;
    },
  };
}

const BAD = {
  "a wrong password": basic("ann", "sesam"),
  "an empty password": basic("ann", ""),
  "the hash as the password": basic("ann", "447abe86dd2c12ca422693a3089de5c6"),
  "an unknown user": basic("nobody", "sesame"),
  "a user in another case": basic("Ann", "sesame"),
  "a disabled user": basic("off", "sesame"),
  "the name of an inherited property": basic("constructor", "sesame"),
};

for (const [kind, good] of [["MD5", basic("ann", "sesame")], ["scrypt", basic("bob", "sesame")]] as const) {
  testAuthenticator({
    name: `passwordFile() with ${kind}`,
    create,
    method: "PASSWORD_FILE",
    good,
    bad: BAD,
    foreign: { "a bearer token": bearer("abc"), "a legacy SSH token": sshLegacy("ann") },
  });
}

const VECTORS: [string, string, string][] = [
  ["ann", "sesame", "CN=Ann Example, OU=Lab 2, O=Site-A, C=DE"],
  ["umlaut", "Grüße:42", "CN=U"],
  ["demouser", "test123", "CN=Demo User"],
];

for (const [user, password, dn] of VECTORS) {
  Deno.test(`passwordFile() accepts ${user} of the specification`, async () => {
    const method = await create();
    const result = await method.authenticate(basic(user, password), new AbortController().signal);
    method.close();
    assert.ok(result.kind === "accepted");
    const { credential = "", ...identity } = result.identity;
    assert.deepEqual(identity, { dn, method: "PASSWORD_FILE", via: "SUBJECT", login: user });
    assert.match(credential, /^[\w-]{22}$/);
  });
}

Deno.test("matchesStored() verifies a hash that passlib made", async () => {
  const stored = parseStoredHash({
    hash: "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E",
    salt: "",
  });
  assert.ok(!("expected" in stored));
  assert.equal(await matchesStored(stored, "password"), true);
  assert.equal(await matchesStored(stored, "Password"), false);
});

Deno.test("passwordFile() fails to start without its file", async () => {
  await assert.rejects(
    passwordFile({ name: "P", file: "/no/such/users.txt", log: SILENT }),
    Deno.errors.NotFound,
  );
});

Deno.test("passwordFile() logs bad lines by number and without their content", async () => {
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line), { clock: () => 0 });
  const method = await create(`${USERS}eve:0123456789abcdef0123456789abcde:salt:CN=Eve\n`, log);
  method.close();
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /warn {2}password file diagnostic=".*users\.txt:7: expected a hash of 32/);
  assert.doesNotMatch(lines[0] ?? "", /0123456789abcdef/);
});

Deno.test("passwordFile() reloads the file: it refuses a removed user and a changed password", async () => {
  const changed = Promise.withResolvers<void>();
  const log = createLogger((line) => line.includes("file read again") && changed.resolve());
  const method = await create(USERS, log);
  const ask = async (user: string, password: string) =>
    (await method.authenticate(basic(user, password), new AbortController().signal)).kind;
  assert.equal(await ask("bob", "sesame"), "accepted"); // the password is remembered now
  await Deno.writeTextFile(method.file, USERS.replace(/^bob.*\n/m, "").replace(/^ann:447a/m, "ann:547a"));
  await inTime(changed.promise, "the changed file");
  assert.equal(await ask("bob", "sesame"), "refused");
  assert.equal(await ask("ann", "sesame"), "refused");
  assert.equal(await ask("demouser", "test123"), "accepted");
  method.close();
});

Deno.test("passwordFile() accepts nobody under a name that a half-written file truncates", async () => {
  const seen = Promise.withResolvers<string>();
  const log = createLogger((line) => /users\.txt/.test(line) && seen.resolve(line));
  const method = await create("ann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann Example\n", log);
  const alive = setInterval(() => {}, 1000);
  await Deno.writeTextFile(method.file, "ann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann");
  assert.match(await seen.promise, /file not usable, the last good content stays/);
  clearInterval(alive);
  const result = await method.authenticate(basic("ann", "sesame"), new AbortController().signal);
  method.close();
  assert.equal(result.kind === "accepted" && result.identity.dn, "CN=Ann Example");
});

Deno.test("passwordFile() knows a user only until the password of the login changes", async () => {
  const lines = (hash: string) => `${hash}bob:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann\n`;
  const method = await create(lines("ann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann\n"));
  const { signal } = new AbortController();
  const result = await method.authenticate(basic("ann", "sesame"), signal);
  method.close();
  assert.ok(result.kind === "accepted");
  const { dn, login, credential } = result.identity;
  const kindOf = async (of: typeof method, login?: string) =>
    (await of.accountStatusOf?.({ dn, login, credential }, signal))?.kind;
  assert.equal(await kindOf(method, login), "known");
  assert.equal(await kindOf(method, "bob"), "gone", "the same hash of another user");
  for (
    const line of ["ann:447abe86dd2c12ca422693a3089de5c7:Rk3_vT8mZq0LxN5w:CN=Ann\n", "ann:::CN=Ann\n", ""]
  ) {
    const changed = await create(lines(line));
    changed.close();
    assert.equal(await kindOf(changed, login), "gone", line);
  }
});

Deno.test("passwordFile() reports whether a user it named still exists, by login or by name", async () => {
  const method = await create(
    "ann:447abe86dd2c12ca422693a3089de5c6:Rk3_vT8mZq0LxN5w:CN=Ann, O=Site\nbob:::CN=Bob\n",
  );
  const { signal } = new AbortController();
  const kind = async (user: UserReference) => (await method.accountStatusOf?.(user, signal))?.kind;
  assert.equal(await kind({ dn: "CN=Ann,O=Site", login: "ann" }), "known");
  assert.equal(await kind({ dn: "cn=ann,o=site" }), "known");
  assert.equal(await kind({ dn: "CN=Ann,O=Site", login: "bob" }), "gone", "another login has the name");
  assert.equal(await kind({ dn: "CN=Other,O=Site", login: "ann" }), "gone", "the login has another name");
  assert.equal(await kind({ dn: "CN=Bob", login: "bob" }), "gone", "disabled");
  assert.equal(await kind({ dn: "CN=Bob" }), "gone", "disabled");
  assert.deepEqual(method.namesOf?.("ann"), ["CN=Ann, O=Site"]);
  assert.deepEqual(method.namesOf?.("bob"), []);
  assert.deepEqual(["ann", " ANN ", "\uff41nn", "bob", "anna"].map((login) => method.lists?.(login)), [
    true,
    true,
    true,
    false,
    false,
  ]);
  method.close();
});

Deno.test("passwordFile() gives no fingerprint from which a password can be guessed quickly", async () => {
  for (const salt of ["", "pepper", "11charactrs"]) {
    const digest = md5Digest(salt, "sesame");
    const method = await create(`ann:${digest}:${salt}:CN=Ann\n`);
    const result = await method.authenticate(basic("ann", "sesame"), new AbortController().signal);
    assert(result.kind === "accepted");
    const { credential = "" } = result.identity;
    assert.notEqual(credential, credentialFingerprint(`${digest}:${salt}`, "password", "ann"), salt);
    const status = (credential: string) =>
      method.accountStatusOf?.({ dn: "CN=Ann", login: "ann", credential }, new AbortController().signal);
    assert.deepEqual([await status(credential), await status("another")], [{ kind: "known" }, {
      kind: "gone",
    }]);
    method.close();
  }
});
