/** `authserver check`: reports before the start what the start would report, and doubtful settings. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { createSite as createAnySite, MAP as SOME, type Setting, type Site } from "./running_service.ts";
import { CHECKOUT, runAuthserver } from "./service_process.ts";

/** Map file in which every user of the password file has a role and an account. */
const MAP = {
  ...SOME,
  "CN=Stranger,O=Demo,C=EU": { role: "user", xlogin: "stranger" },
  "CN=Role Only,O=Demo,C=EU": { role: "user", xlogin: "roleonly" },
};

const createSite = (setting: Setting = {}) => createAnySite({ map: JSON.stringify(MAP), ...setting });

async function check(site: Site, ...options: readonly string[]) {
  const io = recordedIo();
  const code = await runCommand(["check", "--config", site.main, ...options], io);
  assert.doesNotMatch(io.err, /^ {2}fix: correct \S+$/m);
  return { code, out: io.out, err: io.err.replace(ROOT_NOTE, "") };
}

/** Note of `check` if these tests run as root. */
const ROOT_NOTE = /^note: the service runs as root, .*; set User= in its unit\n/m;

Deno.test("check notes that the service would run as root, unless another account owns its folder", async () => {
  await using site = await createSite();
  const checked = async () => {
    const [text, json] = [recordedIo(), recordedIo()];
    assert.equal(await runCommand(["check", "--config", site.main], text), 0, text.err);
    assert.equal(await runCommand(["check", "--json", "--config", site.main], json), 0);
    return [ROOT_NOTE.test(text.err), JSON.parse(json.out).asRoot];
  };
  const isRoot = Deno.uid() === 0;
  assert.deepEqual(await checked(), [isRoot, isRoot]);
  if (!isRoot) return;
  for (const path of [site.folder, `${site.folder}/conf`]) await Deno.chown(path, NOBODY, NOBODY);
  for await (const { name } of Deno.readDir(`${site.folder}/conf`)) {
    await Deno.chown(`${site.folder}/conf/${name}`, NOBODY, NOBODY);
  }
  assert.deepEqual(await checked(), [false, false], "judged as the owner of the folder");
});

/** User id that exists on every Linux. */
const NOBODY = 65_534;

Deno.test("check finds nothing wrong with a good configuration", async () => {
  await using site = await createSite();
  assert.deepEqual(await check(site), {
    code: 0,
    out: "trusted  all: CN=Demo CA,O=Demo,C=EU: issues certificates of servers and clients\n" +
      "The configuration is valid: 0 errors, 0 warnings.\n",
    err: "",
  });
});

Deno.test("check reports an error in each expression of an authenticator, since the service would not start", async () => {
  const method = "container.security.rest.authentication.";
  const names = ["identityAssign", "uidAssign", "roleAssign", "groupsAssign", "displayNameAssign"];
  await using site = await createSite({
    properties: {
      [`${method}order`]: "OAUTH",
      [`${method}OAUTH.issuer`]: "https://localhost:1",
      [`${method}OAUTH.requiredAudience`]: "uftp",
      ...Object.fromEntries(names.map((name) => [`${method}OAUTH.${name}`, "name +"])),
    },
  });
  const { code, err } = await check(site);
  assert.equal(code, 1);
  for (const name of names) {
    assert.match(err, new RegExp(`OAUTH\\.${name} = name \\+: Expected an expression`));
  }
});

Deno.test("check --strict treats warnings as errors", async () => {
  await using site = await createSite();
  assert.equal((await check(site, "--strict")).code, 0);
  const text = (await Deno.readTextFile(site.main)).replace(
    /^(authservice\.servers)=(.*)$/m,
    "$1=$2 MISSING",
  );
  await site.replace("conf/container.properties", text);
  assert.equal((await check(site)).code, 0);
  const { code, out, err } = await check(site, "--strict");
  assert.equal(code, 1);
  assert.match(err, /MISSING has no settings and is ignored/);
  assert.match(out, /The service would start, but with warnings: 0 errors, 1 warning\./);
});

const names = ["localhost"];
const facts: [string, (site: Site) => Promise<unknown>, 0 | 1, RegExp][] = [
  [
    "a password file that everybody can read",
    ({ folder }) => Deno.chmod(`${folder}/conf/users.txt`, 0o644),
    0,
    /^warning: \S+users\.txt: mode 0644: holds secrets.*\n {2}fix: chmod o-rwx \S+users\.txt$/m,
  ],
  [
    "a private key that everybody can read",
    ({ folder }) => Deno.chmod(`${folder}/conf/auth-key.pem`, 0o644),
    0,
    /^warning: \S+container\.properties:\d+: \S*credential\S*: every user of this machine can read the private key/m,
  ],
  [
    "a secret in a main file that everybody can read",
    async (site) => {
      const text = await Deno.readTextFile(site.main);
      await site.replace(
        "conf/container.properties",
        `${text}container.security.rest.jwt.hmacSecret=${"s".repeat(32)}\n`,
      );
      await Deno.chmod(site.main, 0o644);
    },
    0,
    /^warning: \S+container\.properties:\d+: container\.security\.rest\.jwt\.hmacSecret: every user of this machine/m,
  ],
  [
    "a ban of a DN in reverse order",
    (site) =>
      site.replace(
        "conf/mapfile.json",
        JSON.stringify({ ...MAP, "C=EU,O=Demo,CN=Stranger": { role: "banned" } }, undefined, 1),
      ),
    0,
    /^warning: \S+mapfile\.json:\d+: C=EU,O=Demo,CN=Stranger: expected cn=stranger,o=demo,c=eu as in the file of users: /m,
  ],
  [
    "a ban of another entry's DN in reverse order",
    (site) =>
      site.replace(
        "conf/mapfile.json",
        JSON.stringify(
          {
            ...MAP,
            "CN=Certified,O=X": { role: "user", xlogin: "certified" },
            "O=x, CN=certified": { role: "banned" },
          },
          undefined,
          1,
        ),
      ),
    0,
    /^warning: \S+mapfile\.json:\d+: O=x, CN=certified: expected cn=certified,o=x as in \S+mapfile\.json:\d+: /m,
  ],
  [
    "a missing password file",
    ({ folder }) => Deno.remove(`${folder}/conf/users.txt`),
    1,
    /^error: \S+container\.properties:\d+: \S+PASSWORD\.file: cannot read \S+users\.txt: there is no such file$/m,
  ],
  [
    "a folder where a file should be",
    async ({ folder }) => {
      await Deno.remove(`${folder}/conf/mapfile.json`);
      await Deno.mkdir(`${folder}/conf/mapfile.json`);
    },
    1,
    /^error: \S+container\.properties:\d+: \S+FILE\.file: cannot read \S+mapfile\.json/m,
  ],
  [
    "a key of another certificate",
    (site) => site.replace("conf/auth-key.pem", site.authority.issue({ subject: "CN=x" }).key),
    1,
    /^error: \S+container\.properties:\d+: \S*credential\S*: .*key/m,
  ],
  [
    "an expired certificate",
    async (site) => {
      const expired = site.authority.issue({
        subject: "CN=AUTH",
        names,
        notAfter: new Date("2020-02-01T00:00:00Z"),
      });
      await site.replace("conf/auth-cert.pem", expired.certificate);
      await site.replace("conf/auth-key.pem", expired.key);
    },
    1,
    /^(?:error|warning): \S+container\.properties:\d+: \S*credential\S*: .*2020-02-01/m,
  ],
  [
    "a certificate that is not valid yet",
    async (site) => {
      const early = site.authority.issue({
        subject: "CN=AUTH",
        names,
        notBefore: new Date("2048-01-01T00:00:00Z"),
      });
      await site.replace("conf/auth-cert.pem", early.certificate);
      await site.replace("conf/auth-key.pem", early.key);
    },
    1,
    /^(?:error|warning): \S+container\.properties:\d+: \S*credential\S*: .*2048-01-01/m,
  ],
  [
    "a map file that names an unknown server",
    (site) =>
      site.replace(
        "conf/mapfile.json",
        JSON.stringify({ ...MAP, "CN=Bob": { role: "user", "uftpd.HCP.xlogin": "bob" } }, undefined, 1),
      ),
    0,
    /^warning: \S+mapfile\.json:\d+: HCP: no such server, expected one of authservice\.servers: HPC$/m,
  ],
  [
    "a file of reservations that does not exist (yet)",
    async ({ main, folder }) => {
      const own = "authservice.server.HPC.reservations";
      const lines = `\n${own}.enable=true\n${own}.file=${folder}/none.json\n`;
      await Deno.writeTextFile(main, lines, { append: true });
    },
    0,
    /^warning: \S+none\.json: cannot be read: \S*ENOENT.*\n {2}fix: put a file at \S+none\.json /m,
  ],
  [
    "a truncated map file",
    (site) => site.replace("conf/mapfile.json", '{\n"CN=Bob": {\n'),
    1,
    /^error: \S+mapfile\.json:3: /m,
  ],
  [
    "a truncated line in the password file",
    async (site) => {
      const text = await Deno.readTextFile(`${site.folder}/conf/users.txt`);
      await site.replace("conf/users.txt", `${text}bob:123\n`);
    },
    0,
    /^warning: \S+users\.txt:4: expected username:hash:salt:DN: without all four fields nobody can log in/m,
  ],
];
/** Entries of the map, each with the expected finding. */
const MISTAKES: readonly (readonly [entry: Record<string, unknown>, expected: RegExp])[] = [
  [
    { role: "user", xlogn: "bob", xlogin: "bob" },
    /xlogn: not an attribute .*did you mean xlogin\?\n *fix: write xlogin at/,
  ],
  [{ role: "user" }, /CN=Bob: no xlogin, so this user has no account/],
  [{ role: "user", xlogin: "" }, /CN=Bob: no xlogin/],
  [{ xlogin: "bob" }, /CN=Bob: no role, so this user may do no more than anonymous callers/],
  [{ role: "usr", xlogin: "bob" }, /role = usr: a role without rights, expected user, admin/],
  [
    { role: "user", xlogin: "bob", rateLimit: "1M" },
    /rateLimit: not used without a server, expected uftpd\.<server>\.rateLimit/,
  ],
  [
    { role: "user", xlogin: "bob", "uftpd.HPC.rateLimit": ["1M", "2M"] },
    /uftpd\.HPC\.rateLimit: of several values only the last counts, expected one: 2M/,
  ],
];
for (const [entry, expected] of MISTAKES) {
  Deno.test(`check reports the mistake in the map entry ${JSON.stringify(entry)}`, async () => {
    await using site = await createSite({ map: JSON.stringify({ ...MAP, "CN=Bob": entry }) });
    const { code, out, err } = await check(site);
    assert.match(err, expected);
    assert.match(out, /^The configuration is valid: 0 errors, 1 warning\.$/m);
    assert.equal(code, 0);
  });
}

Deno.test("check names users of the password file without an entry in the map", async () => {
  await using site = await createSite({ map: JSON.stringify(SOME) });
  const { err } = await check(site);
  assert.match(
    err,
    /^warning: \S+users\.txt: stranger = CN=Stranger,O=Demo,C=EU: the map file has no entry/m,
  );
  assert.match(err, /^ *fix: add an entry for CN=Stranger,O=Demo,C=EU to the map file$/m);
});

Deno.test("check does not report users without entries if the map file is unreadable", async () => {
  await using site = await createSite({ map: '{ "CN=Alice' });
  const { err } = await check(site);
  assert.match(err, /^error: /m);
  assert.doesNotMatch(err, /the map file has no entry/);
});

Deno.test("check reports all findings in one run, each with a remedy, and none that follows from another", async () => {
  await using site = await createSite({
    servers: { HPC: [{}], TEST: [{}] },
    properties: {
      "container.prt": "1", // a typo in a key
      "authservice.server.TEST.port": "many",
      "share.servers": "TEST",
      "persistence.directory": "{folder}/shares",
      "container.security.credential.path": "{folder}/conf/store.p12",
      "container.security.credential.password": "wrong",
    },
    map: '{"CN=Bob": {"uftpd.TEST.xlogin": "bob"},\n',
  });
  const main = await Deno.readTextFile(site.main);
  await site.replace(
    "conf/container.properties",
    main.replace(/^container\.security\.credential\.keyPath.*\n/m, ""),
  );
  const store = `${CHECKOUT}tests/fixtures/java_installation/variant_a/conf/certs/auth.p12`;
  await Deno.copyFile(store, `${site.folder}/conf/store.p12`);
  await Deno.chmod(`${site.folder}/conf/store.p12`, 0o600);
  await Deno.remove(`${site.folder}/conf/users.txt`);
  const { code, err } = await check(site);
  assert.equal(code, 1);
  const told = err.split("\n").filter((line) => /^(?:error|warning): /.test(line));
  assert.equal(err.split("\n").filter((line) => line.startsWith("  fix: ")).length, told.length, err);
  for (
    const part of [
      /container\.prt: unknown key/,
      /TEST\.port = many/,
      /store\.p12/,
      /cannot read \S+users\.txt: there is no such file/,
      /mapfile\.json:2: /,
    ]
  ) assert.equal(told.filter((line) => part.test(line)).length, 1, `${part}:\n${err}`);
  assert.equal(told.filter((line) => /share\.servers|no such server/.test(line)).length, 0, err);
});

for (const [what, spoil, code, expected] of facts) {
  Deno.test(`check reports ${what}, status ${code}`, async () => {
    await using site = await createSite();
    await spoil(site);
    const outcome = await check(site);
    assert.match(outcome.err, expected);
    assert.equal(outcome.code, code, outcome.err);
    assert.match(
      outcome.out,
      code === 0
        ? /^The configuration is valid: 0 errors, 1 warning\.$/m
        : /^The service would not start: [1-9]/m,
    );
  });
}

Deno.test("check --json reports the findings as JSON", async () => {
  await using site = await createSite({ properties: { "container.prt": "1", "container.port": "many" } });
  const io = recordedIo();
  assert.equal(await runCommand(["check", "--config", site.main, "--json"], io), 1);
  assert.equal(io.err, "");
  const { ok, diagnostics } = JSON.parse(io.out);
  assert.equal(ok, false);
  const [first, second] = diagnostics;
  assert.deepEqual(
    { ...first, expected: "" },
    {
      fix: `set container.port=<a port number from 0 to 65535> at ${site.main}:2`,
      severity: "error",
      file: site.main,
      line: 2,
      key: "container.port",
      found: "many",
      expected: "",
    },
  );
  assert.equal(second.key, "container.prt");
  assert.match(second.expected, /container\.port/);
});

Deno.test("check of the shipped configuration lists what the operator must add", async () => {
  const folder = await Deno.makeTempDir({ prefix: "authserver-test-" });
  try {
    await Deno.mkdir(`${folder}/conf`);
    for await (const { name, isFile } of Deno.readDir(`${CHECKOUT}conf`)) {
      if (isFile) await Deno.copyFile(`${CHECKOUT}conf/${name}`, `${folder}/conf/${name}`);
    }
    await Deno.chmod(`${folder}/conf/users.txt`, 0o600);
    const process = runAuthserver(["check"], { cwd: folder });
    assert.equal(await process.ended, 1);
    const told = process.printed.split("\n").filter((line) => /^(?:error|warning): /.test(line));
    assert.deepEqual(told.map((line) => line.replaceAll(`${folder}/`, "")), [
      "error: conf/container.properties:25: container.security.credential.path: cannot read conf/auth-cert.pem: there is no such file",
      "error: conf/container.properties:26: container.security.credential.keyPath: cannot read conf/auth-key.pem: there is no such file",
      "warning: conf/container.properties:30: container.security.truststore.directoryLocations.1: there are no files like conf/trusted/*.pem",
      "error: conf/container.properties:30: container.security.truststore.directoryLocations.1: expected at least one trusted certificate",
    ]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
