import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { whoamiTestCommand } from "../../../src/command/diagnosis/whoami_test_command.ts";
import { ALICE, ALICE_DN, createSite, ROLE_ONLY, STRANGER } from "../../system/running_service.ts";
import { signToken } from "../../authentication/sign_token.ts";
import { certificateLine } from "../../authentication/ssh_key/certificate/certificates.ts";
import { recordedIo } from "../recorded_io.ts";

const KEYS = new URL("../../fixtures/ssh_keys/", import.meta.url).pathname;
const publicLine = (name: string) => Deno.readTextFileSync(`${KEYS}${name}.pub`).trim();

const users = {
  alice: { uid: 1000, home: "/home/alice", groups: ["users"] },
  dora: {
    uid: 1001,
    home: "/home/dora",
    groups: ["users"],
    keyFiles: { ".ssh/authorized_keys": `from="192.0.2.0/24" ${publicLine("locked_ecdsa384")}\n` },
  },
};
const site = await createSite({
  servers: { HPC: [{ users }], TWO: [{ users: {} }] },
  properties: {
    "container.security.rest.authentication.order": "SSHKEY PASSWORD",
    "container.security.rest.authentication.SSHKEY.file": "{folder}/conf/keys.txt",
    "container.security.rest.authentication.SSHKEY.certificateAuthorities": "{folder}/conf/ssh_ca.pub",
    "persistence.directory": "{folder}",
    "authservice.server.HPC.reservations.enable": "true",
    "authservice.server.HPC.reservations.file": "{folder}/conf/reservations.json",
  },
  files: {
    "conf/keys.txt": `alice:${publicLine("user_ed25519")}:${ALICE_DN}\n`,
    "conf/ssh_ca.pub": `${certificateLine("ca_ed25519")}\n`,
    "conf/reservations.json": JSON.stringify({
      reservations: [{
        name: "for others",
        from: "2020-01-01 00:00",
        to: "2999-01-01 00:00",
        uids: ["bob"],
        rateLimit: "1M",
      }],
    }),
  },
  map: `{
  "CN=Role Only,O=Demo,C=EU": { "role": "user" },
  "cn=alice, o=demo, c=eu": {
    "role": "user", "xlogin": ["alice", "al"], "group": ["hpc", "users"],
    "daemon.TWO.rateLimit": "2M", "daemon.TWO.excludes": "/data/secret/*"
  },
  "CN=Dora,O=Demo,C=EU": { "role": "user", "xlogin": "dora", "group": "users" },
  "CN=Bad Limit,O=Demo,C=EU": { "role": "user", "xlogin": "bad", "uftpd.HPC.rateLimit": "fast" },
  "CN=Banned,O=Demo,C=EU": { "role": ["user", "banned"], "xlogin": "banned" }
}`,
});
Deno.test.afterAll(() => site[Symbol.asyncDispose]());

async function run(args: readonly string[], world: Parameters<typeof recordedIo>[0] = {}) {
  const io = recordedIo(world);
  const status = await whoamiTestCommand.run([...args, "--config", site.main], io);
  return { status, out: io.out.replaceAll(site.folder, ""), err: io.err };
}

Deno.test("whoami-test traces a key from the keys file to each server", async () => {
  const { status, out, err } = await run(["alice", "--key", `${KEYS}user_ed25519`]);
  assert.equal(err, "");
  assert.equal(
    out,
    `Authentication
  ETD           skipped: not its kind of credentials
  SSHKEY        accepted
  PASSWORD      not asked
Caller          CN=Alice,O=Demo,C=EU
                account alice
                role user
Attributes
  AUTO          role = user; xlogin = alice
  FILE          /conf/mapfile.json:3: cn=alice, o=demo, c=eu: role = user; xlogin = alice, al; group = hpc, users; daemon.TWO.rateLimit = 2M; daemon.TWO.excludes = /data/secret/*
User            role user; account alice (of alice, al); group hpc (of hpc, users)
Access          may ask for sessions
Servers
  HPC           account alice; group hpc; at most 1048576 bytes/s, by reservation 1048576
  TWO           account alice; group hpc; at most 2097152 bytes/s; without /data/secret/*
Bans            not known: no running service answers
Result          allowed
`,
  );
  assert.equal(status, 0);
});

/** Arguments, input, exit status, and required lines of the explanation. */
const CASES: [string, string[], Parameters<typeof recordedIo>[0], number, RegExp[]][] = [
  [
    "a password",
    ["alice", "--password"],
    { answers: [ALICE[1]] },
    0,
    [
      /^ {2}SSHKEY {2,}skipped: .*\n {2}PASSWORD {2,}accepted\n {2}ETD {2,}not asked\nCaller/m,
      /Result {2,}allowed\n$/,
    ],
  ],
  ["a password from standard input", ["alice", "--password"], { input: `${ALICE[1]}\n` }, 0, [
    /Result {2,}allowed\n$/,
  ]],
  ["a wrong password", ["alice", "--password"], { answers: ["wrong-one"] }, 1, [
    /PASSWORD {2,}refused: /,
    /Result {2,}refused: PASSWORD: /,
  ]],
  [
    "a daemon's key, proved on one server",
    ["dora", "--key", `${KEYS}locked_ecdsa384`, "--from", "192.0.2.9"],
    { answers: ["open sesame"] },
    0,
    [
      /account dora, proven on HPC$/m,
      /AUTO {2,}role = user; xlogin = dora$/m,
      /AUTO \(other servers\) {2,}role = user$/m,
      /HPC {2,}account dora;/,
      /TWO {2,}refused: No account on TWO/,
      /Result {2,}allowed\n$/,
    ],
  ],
  [
    "a daemon's key, on another server",
    ["dora", "--key", `${KEYS}locked_ecdsa384`, "--from", "192.0.2.9", "--server", "TWO"],
    { answers: ["open sesame"] },
    1,
    [/Result {2,}refused: No account on TWO\n$/],
  ],
  [
    "a key that is valid only on another server",
    ["dora", "--key", `${KEYS}locked_ecdsa384`],
    { answers: ["open sesame"] },
    1,
    [/Result {2,}refused: SSHKEY: the key may not be used from there/],
  ],
  ["another user's key", ["alice", "--key", `${KEYS}other_ed25519`], {}, 1, [
    /SSHKEY {2,}refused: no key of/,
  ]],
  ["a name that cannot be an account", ["root", "--key", `${KEYS}user_ed25519`], {}, 1, [
    /SSHKEY {2,}refused: the user name/,
  ]],
  ["a foreign token", ["x", "--token", "opaque"], {}, 1, [
    /SSHKEY {2,}skipped/,
    /no method for credentials of this kind/,
  ]],
  ["a user without a map entry", ["stranger", "--password"], { answers: [STRANGER[1]] }, 1, [
    /FILE {2,}knows nothing of this user/,
    /User {2,}role anonymous; no account/,
    /Access {2,}may not ask/,
    /Result {2,}refused: The role anonymous may not ask for sessions/,
  ]],
  ["a user without an account", ["roleonly", "--password"], { answers: [ROLE_ONLY[1]] }, 1, [
    /Access {2,}may ask for sessions/,
    /HPC {2,}refused: No account on HPC/,
    /Result {2,}refused: No account on HPC/,
  ]],
  ["a distinguished name", ["CN=ALICE, O=Demo,C=EU"], {}, 0, [
    /^Caller {2,}CN=ALICE, O=Demo,C=EU\n(?!.*SSHKEY)/,
  ]],
  ["an invalid limit", ["CN=Bad Limit,O=Demo,C=EU", "--server", "HPC"], {}, 1, [
    /HPC {2,}refused: .*rateLimit/,
  ]],
  ["a ban", ["CN=Banned,O=Demo,C=EU"], {}, 1, [/refused: The role banned may not/]],
];
for (const [what, args, world, expected, patterns] of CASES) {
  Deno.test(`whoami-test explains ${what}`, async () => {
    const { status, out, err } = await run(args, world);
    assert.equal(status, expected, `${out}${err}`);
    for (const pattern of patterns) assert.match(out, pattern);
    for (const [, password] of [ALICE, STRANGER, ROLE_ONLY]) assert(!`${out}${err}`.includes(password));
    assert(!`${out}${err}`.includes("wrong-one") && !`${out}${err}`.includes("opaque"));
  });
}

Deno.test("whoami-test --json prints the explanation as data", async () => {
  const { status, out } = await run(["CN=Alice,O=Demo,C=EU", "--json", "--server", "TWO"]);
  assert.equal(status, 0);
  const explanation = JSON.parse(out);
  assert.deepEqual(Object.keys(explanation), [
    "authenticators",
    "token",
    "caller",
    "sources",
    "user",
    "mayAsk",
    "servers",
  ]);
  assert.deepEqual(explanation.servers, [{
    server: "TWO",
    uid: "alice",
    gid: "hpc",
    availableGroups: ["hpc", "users"],
    rateLimit: 2 * 1024 * 1024,
    excludes: "/data/secret/*",
    reservations: [],
  }]);
  assert.deepEqual(explanation.sources[1].entry, {
    file: "/conf/mapfile.json",
    line: 3,
    key: "cn=alice, o=demo, c=eu",
  });
});

const WRONG: [string, string[], Parameters<typeof recordedIo>[0], number, RegExp][] = [
  ["two kinds of credentials", ["alice", "--password", "--token", "x"], {}, 2, /only one of/],
  [
    "an invalid address",
    ["CN=x", "--from", "here"],
    {},
    2,
    /--from: expected an IP address, found here/,
  ],
  [
    "an unknown server",
    ["CN=x", "--server", "NONE"],
    {},
    1,
    /There is no server NONE, expected one of HPC/,
  ],
  ["a missing key file", ["alice", "--key", "/no/such/key"], {}, 1, /\/no\/such\/key cannot be read/],
  ["a public key", ["alice", "--key", `${KEYS}user_ed25519.pub`], {}, 1, /cannot be used: not a private key/],
  [
    "a wrong passphrase",
    ["alice", "--key", `${KEYS}locked_ecdsa384`],
    { answers: ["shut sesame"] },
    1,
    /cannot be used: locked by another passphrase/,
  ],
  ["a token with a line end", ["alice", "--token", "a\nb"], {}, 1, /without blanks/],
  ["a colon in the name", ["a:b", "--password"], { answers: ["x"] }, 1, /colon/],
];
for (const [what, args, world, expected, message] of WRONG) {
  Deno.test(`whoami-test refuses ${what}`, async () => {
    const { status, out, err } = await run(args, world);
    assert.equal(status, expected);
    assert.match(err, message);
    assert(!err.includes("shut sesame"));
    assert.equal(out, "");
  });
}

Deno.test("whoami-test refuses a token on servers outside its restrictions", async () => {
  const token = signToken({
    header: { alg: "ES256" },
    key: createPrivateKey(await Deno.readTextFile(`${site.folder}/conf/auth-key.pem`)),
    claims: {
      sub: ALICE_DN,
      iss: "CN=AUTH,O=Demo,C=EU",
      exp: Math.floor(Date.now() / 1000) + 3600,
      etd: "true",
      via: "PASSWORD",
      login: ALICE[0],
      restrictions: { server: ["HPC"] },
    },
  });
  const both = await run(["--token", token]);
  assert.equal(both.status, 0, both.out + both.err);
  assert.match(both.out, /^ {2}HPC +account alice;.*\n {2}TWO +refused: .*servers HPC$/m);
  const { status, out } = await run(["--token", token, "--server", "TWO"]);
  assert.equal(status, 1);
  assert.match(out, /^Result +refused: Your token is restricted: servers HPC$/m);
});

Deno.test("whoami-test accepts a user name of the password file, and reports an unknown one", async () => {
  const known = await run(["alice"], {});
  assert.equal(known.status, 0, known.err);
  assert.match(known.out, /CN=Alice/);
  const unknown = await run(["malice"], {});
  assert.equal(unknown.status, 1);
  assert.match(unknown.out, /knows nothing of this user/);
});

Deno.test("whoami-test reports the errors of an unusable configuration", async () => {
  const io = recordedIo();
  assert.equal(await whoamiTestCommand.run(["CN=x", "--config", "/no/such/file"], io), 1);
  assert.match(io.err, /The configuration in \/no\/such\/file cannot be used\n.*no\/such\/file/);
});

Deno.test("whoami-test reports which daemon returns no keys", async () => {
  site.daemon("TWO").fault = { kind: "close-at-once" };
  try {
    const { status, out, err } = await run(["nobody7", "--key", `${KEYS}user_ed25519`]);
    assert.equal(status, 1);
    assert.match(out, /SSHKEY {2,}failed: .*TWO/);
    assert.match(out, /Result {2,}refused: SSHKEY: .*TWO/);
    assert.match(err, /users' keys cannot be read server=TWO/);
  } finally {
    site.daemon("TWO").fault = undefined;
  }
});

const CERTIFICATES = new URL("../../fixtures/ssh_certificates/", import.meta.url).pathname;
const CERTIFICATE_CASES: [what: string, user: string, name: string, expected: RegExp][] = [
  ["a valid certificate", "ann", "for_ever", /CN=ann, ?OU=ssh-local-users/],
  ["another authority's certificate", "ann", "by_other", /its authority is not among those that are trusted/],
  ["an expired certificate", "ann", "one_day", /does not count: it has ended/],
  ["another user's certificate", "bob", "for_ever", /does not count: it names ann/],
  ["a certificate for root", "root", "for_ever", /does not count: the user name cannot be a user's account/],
  ["a file without a certificate", "ann", "ca_ed25519", /expected an OpenSSH certificate/],
];
for (const [what, user, name, expected] of CERTIFICATE_CASES) {
  Deno.test(`whoami-test --certificate explains ${what}`, async () => {
    const { out, err } = await run([user, "--certificate", `${CERTIFICATES}${name}.pub`]);
    assert.match(out + err, expected);
  });
}

Deno.test("whoami-test --online logs in to each daemon and reports the group or account that it refuses", async () => {
  const group = await run(["alice", "--online"]);
  assert.equal(group.status, 1);
  assert.match(group.out, /^ {2}HPC +refused: the daemon refuses alice in the group hpc: unknown$/m);
  assert.match(group.out, /^ {2}TWO +refused: .*unknown user 'alice'/m);
  const offline = await run(["alice"]);
  assert.match(offline.out, /^ {2}HPC +account alice; group hpc;/m);
  const account = await run(["CN=Dora,O=Demo,C=EU", "--online", "--server", "HPC"]);
  assert.match(account.out, /^ {2}HPC +account dora; group users/m, account.out);
  assert.equal(account.status, 0);
});

Deno.test("whoami-test --online logs in to each daemon of a group, except one that is down", async () => {
  await using group = await createSite({
    servers: { HPC: [{}, { users: { alice: { uid: 1000, home: "/", groups: ["users"] } } }, {}] },
  });
  await group.daemons()[2]?.stop();
  const online = async () => {
    const io = recordedIo();
    return [await whoamiTestCommand.run([ALICE_DN, "--online", "--config", group.main], io), io.out] as const;
  };
  for (let i = 0; i < 2; i++) { // the daemons take turns
    const [status, out] = await online();
    assert.equal(status, 1, out);
    assert.match(out, /^ {2}HPC +refused: .* refuses alice in the group hpc: unknown$/m);
  }
  await group.daemons()[1]?.stop();
  const [status, out] = await online();
  assert.equal(status, 0, out);
});
