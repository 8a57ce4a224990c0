/** `authserver check`: says before the start what the start would say, and what is doubtful. */
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { createSite, MAP, type Site } from "./running_service.ts";
import { CHECKOUT, runAuthserver } from "./service_process.ts";

async function check(site: Site, ...options: readonly string[]) {
  const io = recordedIo();
  const code = await runCommand(["check", "--config", site.main, ...options], io);
  return { code, out: io.out, err: io.err };
}

Deno.test("check finds nothing wrong with a good configuration", async () => {
  await using site = await createSite();
  assert.deepEqual(await check(site), {
    code: 0,
    out: "trusted  all: CN=Demo CA,O=Demo,C=EU: issues certificates of servers and clients\n" +
      "The configuration is usable: 0 errors, 0 warnings.\n",
    err: "",
  });
});

Deno.test("check --strict takes a warning for an error", async () => {
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
  assert.match(err, /nothing is configured for MISSING/);
  assert.match(out, /The service would start, but not without warnings: 0 errors, 1 warning\./);
});

const names = ["localhost"];
const facts: [string, (site: Site) => Promise<unknown>, 0 | 1, RegExp][] = [
  [
    "a password file that everybody can read",
    ({ folder }) => Deno.chmod(`${folder}/conf/users.txt`, 0o644),
    0,
    /^warning: \S+users\.txt: mode 0644: holds secrets/m,
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
    "a ban in the other order of the name's parts",
    (site) =>
      site.replace(
        "conf/mapfile.json",
        JSON.stringify({ ...MAP, "C=EU,O=Demo,CN=Stranger": { role: "banned" } }, undefined, 1),
      ),
    0,
    /^warning: \S+mapfile\.json:\d+: C=EU,O=Demo,CN=Stranger: expected cn=stranger,o=demo,c=eu as in the file of users: /m,
  ],
  [
    "a ban in the other order of another entry's name",
    (site) =>
      site.replace(
        "conf/mapfile.json",
        JSON.stringify(
          { "CN=Certified,O=X": { role: "user" }, "O=x, CN=certified": { role: "banned" } },
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
    "a certificate of tomorrow",
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
    "a map file that speaks of an unknown server",
    (site) =>
      site.replace(
        "conf/mapfile.json",
        JSON.stringify({ ...MAP, "CN=Bob": { role: "user", "uftpd.HCP.xlogin": "bob" } }, undefined, 1),
      ),
    0,
    /^warning: \S+mapfile\.json:\d+: HCP: no such server, expected one of authservice\.servers: HPC$/m,
  ],
  [
    "a torn map file",
    (site) => site.replace("conf/mapfile.json", '{\n"CN=Bob": {\n'),
    1,
    /^error: \S+mapfile\.json:3: /m,
  ],
  [
    "a torn line in the password file",
    async (site) => {
      const text = await Deno.readTextFile(`${site.folder}/conf/users.txt`);
      await site.replace("conf/users.txt", `${text}bob:123\n`);
    },
    0,
    /^warning: \S+users\.txt:4: Expected username:hash:salt:DN$/m,
  ],
];
for (const [what, spoil, code, expected] of facts) {
  Deno.test(`check tells of ${what}, status ${code}`, async () => {
    await using site = await createSite();
    await spoil(site);
    const outcome = await check(site);
    assert.match(outcome.err, expected);
    assert.equal(outcome.code, code, outcome.err);
    assert.match(
      outcome.out,
      code === 0
        ? /^The configuration is usable: 0 errors, 1 warning\.$/m
        : /^The service would not start: [1-9]/m,
    );
  });
}

Deno.test("check --json says the same as a program reads it", async () => {
  await using site = await createSite({ properties: { "container.prt": "1", "container.port": "many" } });
  const io = recordedIo();
  assert.equal(await runCommand(["check", "--config", site.main, "--json"], io), 1);
  assert.equal(io.err, "");
  const { ok, problems } = JSON.parse(io.out);
  assert.equal(ok, false);
  const [first, second] = problems;
  assert.deepEqual(
    { ...first, expected: "" },
    {
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

Deno.test("check on the configuration we ship names what the operator has yet to put there", async () => {
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
