import { Buffer } from "node:buffer";
import { hash } from "node:crypto";
import assert from "node:assert/strict";
import { HttpError, httpError, isHttpError } from "../../../src/model/http_error.ts";
import type { AuthenticationResult } from "../../../src/authentication/authenticator.ts";
import { sshKey, type SshKeyOptions } from "../../../src/authentication/ssh_key/ssh_key.ts";
import type { KeySource } from "../../../src/authentication/ssh_key/key_directory.ts";
import { createLogger, SILENT } from "../../../src/logging/logger.ts";
import type { Identity } from "../../../src/model/identity.ts";
import { testAuthenticator } from "../conformance.ts";
import { basic, bearer, sshLegacy } from "../sample_credentials.ts";
import { signToken } from "../sign_token.ts";
import { privateKey, publicLine, SHEET_KEY_LINE } from "./user_keys.ts";
import { testAuthority } from "./certificate/signed_certificate.ts";
import { openRecordStore } from "../../../src/store/sqlite_record_store.ts";
import { credentialFingerprint } from "../../../src/authentication/credential_fingerprint.ts";

/** SHA-256 of the documented key, in base64. */
const KEY = hash("sha256", Buffer.from(SHEET_KEY_LINE.split(" ")[1] ?? "", "base64"), "base64");
const NOW = 1_800_000_100_000;
const SERVER = "CN=auth.site-a.example,O=Site-A,C=DE";
const SIGNAL = new AbortController().signal;

/** Documented tokens (credentials.md 3.7) with `alg` `EdDSA` and `Ed25519`. */
const SHEET_TOKENS = [
  "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJhbm4iLCJpc3MiOiJhbm4iLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDMwMH0.im2vsrndG95IXhSH6fGzqDbtyQS1Ib1CYHJ6DTHAZJWYDFa1VZrOws_pG77MZCVuo0U_Gb59_NLIt6odFWFlBg",
  "eyJhbGciOiJFZDI1NTE5In0.eyJzdWIiOiJhbm4iLCJpc3MiOiJhbm4iLCJpYXQiOjE4MDAwMDAwMDAsImV4cCI6MTgwMDAwMDMwMH0.jtHVqHTKP-BrYQRMPiP9cJGYruqsFWWbprn24RvWls3HVYm0rYM6ZHRk7vNDIZonV5dkHkTZsVHHHjBx0rpKAg",
] as const;

/** Documented legacy token (credentials.md 3.8). */
const SHEET_LEGACY = sshLegacy(
  "ann",
  "XiYaw8LEsI6VuobhwccV+uD7/TNkZbhaufUM9qQU4Xy9EuEY1nZB6TorjJA13J9M+AGLRxjFikilA4sKXCApCg==",
  Uint8Array.from(atob("r4wgr7hR8o5cwkMCkHs5Lstsu3w="), (c) => c.charCodeAt(0)),
);

function source(server: string, lines: Readonly<Record<string, readonly string[]>>): KeySource {
  return { server, keyLines: (user) => Promise.resolve(lines[user] ?? []) };
}

function broken(server: string): KeySource {
  return { server, keyLines: () => Promise.reject(new Error("down")) };
}

const DEFAULTS: SshKeyOptions = {
  name: "SUBJECT",
  dnTemplate: "CN=%s, OU=ssh-local-users",
  sources: [source("HPC", { ann: [SHEET_KEY_LINE] })],
  times: { updateMs: 600_000 },
  maxLifetime: 86_400,
  legacyToken: false,
  serverName: () => SERVER,
  clock: () => NOW,
  log: SILENT,
};

function token(
  user: string,
  key: string,
  alg: string,
  claims: Readonly<Record<string, unknown>> = {},
): string {
  const seconds = NOW / 1000;
  return signToken({
    header: { alg },
    claims: { sub: user, iss: user, iat: seconds, exp: seconds + 300, ...claims },
    key: privateKey(key),
  });
}

/** Returns the result of an authenticator with these options. */
async function ask(
  options: Partial<SshKeyOptions>,
  credentials: Parameters<typeof judge>[1],
): Promise<AuthenticationResult> {
  const method = await sshKey({ ...DEFAULTS, ...options });
  try {
    return await judge(method, credentials);
  } finally {
    method.close();
  }
}

function judge(
  method: Awaited<ReturnType<typeof sshKey>>,
  credentials: ReturnType<typeof bearer>,
): Promise<AuthenticationResult> {
  return method.authenticate(credentials, SIGNAL);
}

function identityOf(result: AuthenticationResult): Identity {
  assert.equal(result.kind, "accepted", result.kind === "refused" ? result.reason : result.kind);
  if (result.kind !== "accepted") throw new TypeError("unreachable");
  return result.identity;
}

async function withKeysFile(text: string, run: (path: string) => Promise<void>): Promise<void> {
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(path, text);
    await run(path);
  } finally {
    await Deno.remove(path);
  }
}

testAuthenticator({
  name: "sshKey()",
  create: () => sshKey(DEFAULTS),
  method: "SSHKEY",
  good: bearer(SHEET_TOKENS[0]),
  bad: {
    "another user's key": bearer(token("ann", "other_ed25519", "EdDSA")),
    "an unknown user": bearer(token("bob", "other_ed25519", "EdDSA")),
    "a truncated token": bearer(SHEET_TOKENS[0].slice(0, -10)),
    "an expired token": bearer(token("ann", "user_ed25519", "EdDSA", { exp: NOW / 1000 - 61 })),
    "a user name with a line feed": bearer(token("ann\nEND", "user_ed25519", "EdDSA")),
    "root": bearer(token("root", "user_ed25519", "EdDSA")),
    "a legacy token while legacyToken is off": SHEET_LEGACY,
  },
  foreign: {
    "a password": basic("ann", "sesame"),
    "an opaque token": bearer("abcdef"),
    "a provider's token": bearer(token("ann", "user_ed25519", "EdDSA", { iss: "https://idp.example" })),
    "an issued token": bearer(token("CN=Ann", "user_ed25519", "EdDSA", { etd: "true" })),
  },
  broken: () => sshKey({ ...DEFAULTS, sources: [broken("HPC")] }),
});

for (const text of SHEET_TOKENS) {
  Deno.test(`sshKey() accepts the documented token ${text.slice(0, 24)}`, async () => {
    assert.deepEqual(identityOf(await ask({}, bearer(text))), {
      dn: "CN=ann, OU=ssh-local-users",
      method: "SSHKEY",
      via: "SUBJECT",
      login: "ann",
      uid: "ann",
      role: "user",
      uidServers: ["HPC"],
      credential: credentialFingerprint(KEY, "key", "ann"),
      authTime: 1_800_000_000,
    });
  });
}

const KEY_TYPES: [string, readonly string[]][] = [
  ["user_rsa2048", ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]],
  ["user_rsa3072", ["RS256"]],
  ["user_ecdsa256", ["ES256"]],
  ["user_ecdsa384", ["ES384"]],
  ["user_ecdsa521", ["ES512"]],
  ["user_ed25519", ["EdDSA", "Ed25519"]],
];

for (const [name, algorithms] of KEY_TYPES) {
  Deno.test(`sshKey() accepts tokens made with ${name}: ${algorithms.join(", ")}`, async () => {
    const lines = KEY_TYPES.map(([key]) => publicLine(key));
    const method = await sshKey({ ...DEFAULTS, sources: [source("HPC", { ann: ["", ...lines] })] });
    for (const alg of algorithms) {
      assert.equal(identityOf(await judge(method, bearer(token("ann", name, alg)))).uid, "ann");
    }
    method.close();
  });
}

Deno.test("sshKey() refuses tokens that pyuftp signs as ES256 with P-384 and P-521 keys", async () => {
  for (const [name, signWith] of [["user_ecdsa384", "ES256"], ["user_ecdsa521", "ES512"]] as const) {
    const text = signToken({
      header: { alg: "ES256", typ: "JWT" },
      claims: { sub: "ann", iss: "ann", exp: NOW / 1000 + 300, etd: "false" },
      key: privateKey(name),
      signWith,
    });
    const result = await ask({ sources: [source("HPC", { ann: [publicLine(name)] })] }, bearer(text));
    assert.equal(result.kind, "refused", name);
  }
});

Deno.test("sshKey() accepts no key whose line forbids its use here", async () => {
  const weak = [
    publicLine("user_ed25519-cert"),
    `cert-authority ${publicLine("user_ed25519")}`,
    `command="id" ${publicLine("user_ed25519")}`,
    `  # ${publicLine("user_ed25519")}`,
    `environment="A=${publicLine("user_ed25519")}" ${publicLine("other_ed25519")}`,
    `expiry-time="20200101" ${publicLine("user_ed25519")}`,
    `from="10.0.0.0/8" ${publicLine("user_ed25519")}`,
  ];
  const proof = bearer(token("ann", "user_ed25519", "EdDSA"));
  for (const line of weak) {
    assert.equal((await ask({ sources: [source("HPC", { ann: [line] })] }, proof)).kind, "refused", line);
  }
  const usable = `from="192.0.2.0/24",expiry-time="20991231" ${publicLine("user_ed25519")}`;
  assert.equal((await ask({ sources: [source("HPC", { ann: [...weak, usable] })] }, proof)).kind, "accepted");
});

Deno.test("sshKey() checks the conditions of a key each time, even for a token it knows", async () => {
  const line = `from="192.0.2.17",expiry-time="202701150801Z" ${SHEET_KEY_LINE}`;
  let now = Date.UTC(2027, 0, 15, 8, 0, 30);
  const method = await sshKey({ ...DEFAULTS, clock: () => now, sources: [source("HPC", { ann: [line] })] });
  const kind = async (address: string) => (await judge(method, bearer(SHEET_TOKENS[0], address))).kind;
  assert.equal(await kind("192.0.2.17"), "accepted");
  assert.equal(await kind("192.0.2.18"), "refused");
  assert.equal(await kind("192.0.2.17"), "accepted");
  now += 31_000;
  assert.equal(await kind("192.0.2.17"), "refused");
  method.close();
});

Deno.test("sshKey() names the servers on which the key proves the account", async () => {
  const sources = [
    source("A", { ann: [SHEET_KEY_LINE] }),
    source("B", {}),
    source("C", { ann: [SHEET_KEY_LINE] }),
  ];
  const identity = identityOf(await ask({ sources }, bearer(SHEET_TOKENS[0])));
  assert.deepEqual([...identity.uidServers ?? []].sort(), ["A", "C"]);
  const half = identityOf(await ask({ sources: [...sources, broken("D")] }, bearer(SHEET_TOKENS[0])));
  assert.deepEqual([...half.uidServers ?? []].sort(), ["A", "C"]);
});

Deno.test("sshKey() answers 503 and logs the server if an unreachable server might know the key", async () => {
  const sources = [source("A", {}), broken("B")];
  await assert.rejects(ask({ sources }, bearer(SHEET_TOKENS[0])), (error: unknown) => {
    assert.ok(isHttpError(error, "ERR_KEY_LOOKUP_FAILED"));
    assert.match(error.message, / from B$/);
    assert.equal(error.headers["Retry-After"], "5");
    assert.ok(!error.publicMessage.includes("B"));
    return true;
  });
});

Deno.test("sshKey() uses the name in the line of the keys file, and asks no daemon about its users", async () => {
  const asked: string[] = [];
  const spy: KeySource = {
    server: "HPC",
    keyLines: (user) => Promise.resolve((asked.push(user), [publicLine("other_ed25519")])),
  };
  const text =
    `ann:${SHEET_KEY_LINE}:CN=Ann Example, O=Site-A, C=DE\nbob:command="x" ${SHEET_KEY_LINE}:CN=Bob\n`;
  await withKeysFile(text, async (file) => {
    const options = { file, sources: [spy] };
    assert.deepEqual(identityOf(await ask(options, bearer(SHEET_TOKENS[0]))), {
      dn: "CN=Ann Example, O=Site-A, C=DE",
      method: "SSHKEY",
      via: "SUBJECT",
      login: "ann",
      uid: "ann",
      role: "user",
      credential: credentialFingerprint(KEY, "key", "ann"),
      authTime: 1_800_000_000,
    });
    // The file overrides the daemon: for users in the file, a key of the daemon is refused, even if the
    // file's own key cannot be used.
    for (const user of ["ann", "bob"]) {
      const proof = bearer(token(user, "other_ed25519", "EdDSA"));
      assert.equal((await ask(options, proof)).kind, "refused", user);
    }
    assert.deepEqual(asked, []);
    const carl = bearer(token("carl", "other_ed25519", "EdDSA"));
    assert.equal(identityOf(await ask(options, carl)).dn, "CN=carl, OU=ssh-local-users");
    assert.deepEqual(asked, ["carl"]);
  });
});

Deno.test("sshKey() reloads a changed keys file as a whole, and reports its bad lines by number", async () => {
  await withKeysFile(`ann:${SHEET_KEY_LINE}:CN=Ann\n`, async (file) => {
    const lines: string[] = [];
    const log = createLogger((line) => lines.push(line));
    const method = await sshKey({ ...DEFAULTS, file, sources: [], log });
    try {
      assert.equal((await judge(method, bearer(SHEET_TOKENS[0]))).kind, "accepted");
      await Deno.writeTextFile(file, `# none\nbob:garbage:CN=Bob\n`);
      const until = Date.now() + 10_000;
      while ((await judge(method, bearer(SHEET_TOKENS[0]))).kind === "accepted" && Date.now() < until) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      assert.equal((await judge(method, bearer(SHEET_TOKENS[0]))).kind, "refused");
      assert.ok(lines.some((line) => /line of the keys file not used .*line=2/.test(line)), lines.join("\n"));
      assert.ok(!lines.join("\n").includes("garbage"));
    } finally {
      method.close();
    }
  });
});

Deno.test("sshKey() accepts nobody under a name that a half-written keys file truncates", async () => {
  await withKeysFile(`ann:${SHEET_KEY_LINE}:CN=Ann Example\n`, async (file) => {
    const seen = Promise.withResolvers<string>();
    const log = createLogger((line) => line.includes(file) && seen.resolve(line));
    const method = await sshKey({ ...DEFAULTS, file, sources: [], log });
    const alive = setInterval(() => {}, 1000);
    try {
      await Deno.writeTextFile(file, `ann:${SHEET_KEY_LINE}:CN=Ann`);
      assert.match(await seen.promise, /file not usable, the last good content stays/);
      assert.equal(identityOf(await judge(method, bearer(SHEET_TOKENS[0]))).dn, "CN=Ann Example");
    } finally {
      clearInterval(alive);
      method.close();
    }
  });
});

Deno.test("sshKey() fails to start if the keys file is missing", async () => {
  await assert.rejects(sshKey({ ...DEFAULTS, file: "/nonexistent/keys.txt" }), Deno.errors.NotFound);
});

Deno.test("sshKey() fills each %s of the template and nothing else", async () => {
  const dn = async (dnTemplate: string) => identityOf(await ask({ dnTemplate }, bearer(SHEET_TOKENS[0]))).dn;
  assert.equal(await dn("UID=%s,CN=%s,O=100%d"), "UID=ann,CN=ann,O=100%d");
});

Deno.test("sshKey() asks no daemon about a name that cannot be an account", async () => {
  const asked: string[] = [];
  const spy: KeySource = {
    server: "HPC",
    keyLines: (user) => Promise.resolve((asked.push(user), [SHEET_KEY_LINE])),
  };
  const names = [
    "root",
    "0",
    "toor",
    "a b",
    "a\nuser=root",
    "ann\r",
    "-x",
    "../x",
    "x".repeat(65),
    "änn",
    "a:b",
    "a\0",
  ];
  for (const name of names) {
    const result = await ask({ sources: [spy] }, bearer(token(name, "user_ed25519", "EdDSA")));
    assert.equal(result.kind, "refused", name);
  }
  assert.deepEqual(asked, []);
});

Deno.test("sshKey() gives the same answer for an unknown user and for a wrong key, whatever the algorithm", async () => {
  const lines = KEY_TYPES.map(([key]) => publicLine(key));
  const method = await sshKey({ ...DEFAULTS, sources: [source("HPC", { ann: lines, bob: [] })] });
  const signers: [string, string][] = [["user_rsa2048", "RS256"], ["user_rsa2048", "PS512"], [
    "user_ecdsa256",
    "ES256",
  ]];
  signers.push(["user_ecdsa384", "ES384"], ["user_ecdsa521", "ES512"], ["other_ed25519", "EdDSA"]);
  for (const [key, alg] of signers) {
    const [head = "", body = ""] = token("ann", key, alg).split(".");
    const wrong = token("carl", key, alg).split(".")[2] ?? "";
    const result = await judge(method, bearer(`${head}.${body}.${wrong}`));
    assert.deepEqual(result, { kind: "refused", reason: "no key of the user made the signature" }, alg);
    for (const user of ["bob", "nobody"]) {
      assert.deepEqual(await judge(method, bearer(token(user, key, alg))), result, alg);
    }
  }
  method.close();
});

/** Returns how often work calls `verify()` of Web Cryptography, which verifies ECDSA on other threads. */
async function verifications(work: () => Promise<void>): Promise<number> {
  const { subtle } = crypto;
  const { verify } = subtle;
  let count = 0;
  subtle.verify = (...asked: Parameters<typeof verify>) => {
    count++;
    return verify.apply(subtle, asked);
  };
  try {
    await work();
  } finally {
    subtle.verify = verify;
  }
  return count;
}

Deno.test("sshKey() verifies a signature even for an unknown user", async () => {
  const method = await sshKey({
    ...DEFAULTS,
    sources: [source("HPC", { ann: [publicLine("user_ecdsa521")] })],
  });
  const signatures = Array.from(
    { length: 20 },
    (_, i) => token(`x${i}`, "user_ecdsa521", "ES512").split(".")[2],
  );
  const verified = async (user: string) => {
    const unsigned = token(user, "user_ecdsa521", "ES512").replace(/\.[^.]*$/, "");
    return await verifications(async () => {
      for (const signature of signatures) {
        assert.equal((await judge(method, bearer(`${unsigned}.${signature}`))).kind, "refused");
      }
    });
  };
  assert.deepEqual([await verified("ann"), await verified("nobody")], [20, 20]);
  method.close();
});

Deno.test("sshKey() accepts the documented legacy token if legacyToken is on, for an hour and from one address", async () => {
  let now = NOW;
  const lines: string[] = [];
  const log = createLogger((line) => lines.push(line));
  const method = await sshKey({ ...DEFAULTS, legacyToken: true, elapsed: () => now, log });
  const kind = async (clientAddress: string) =>
    (await judge(method, { ...SHEET_LEGACY, clientAddress })).kind;
  assert.equal(await kind("192.0.2.17"), "accepted");
  assert.equal(await kind("192.0.2.17"), "accepted");
  assert.equal(await kind("192.0.2.18"), "refused");
  now += 3_599_000;
  assert.equal(await kind("192.0.2.17"), "accepted");
  now += 1_000;
  assert.equal(await kind("192.0.2.17"), "refused");
  assert.match(lines.join("\n"), /warn .*outdated token of an old client user=ann/);
  const bob = { ...sshLegacy("bob", "AAAA"), authorization: { ...SHEET_LEGACY.authorization, user: "bob" } };
  assert.equal((await judge(method, bob)).kind, "refused");
  method.close();
});

Deno.test("sshKey() reports whether a user it named still has a key, in the file or at the daemons", async () => {
  const text = `ann:${SHEET_KEY_LINE}:CN=Ann Example\nbob:command="x" ${SHEET_KEY_LINE}:CN=Bob\n`;
  await withKeysFile(text, async (file) => {
    const sources = [
      source("HPC", { carl: [SHEET_KEY_LINE], dora: [SHEET_KEY_LINE] }),
      source("TWO", { carl: [SHEET_KEY_LINE] }),
    ];
    const method = await sshKey({ ...DEFAULTS, file, sources });
    const accountStatus = (dn: string, login?: string) =>
      method.accountStatusOf?.({ dn, ...(login !== undefined && { login }) }, SIGNAL);
    const gone = { kind: "gone" };
    assert.deepEqual(await accountStatus("cn=ann example", "ann"), { kind: "known" });
    assert.deepEqual(await accountStatus("CN=Ann Example, O=X", "ann"), gone, "the file gives another name");
    assert.deepEqual(await accountStatus("CN=Bob", "bob"), gone, "his key cannot be used any more");
    assert.deepEqual(await accountStatus("CN=carl,OU=ssh-local-users", "carl"), {
      kind: "known",
      servers: ["HPC", "TWO"],
    });
    assert.deepEqual(await accountStatus("CN=dora,OU=ssh-local-users", "dora"), {
      kind: "known",
      servers: ["HPC"],
    });
    assert.deepEqual(await accountStatus("CN=erna,OU=ssh-local-users", "erna"), gone);
    assert.deepEqual(await accountStatus("CN=carl,OU=ssh-local-users", "dora"), gone);
    assert.deepEqual(await accountStatus("CN=root,OU=ssh-local-users", "root"), gone);
    assert.deepEqual(await accountStatus("CN=carl,OU=ssh-local-users"), { kind: "cannot tell" });
    assert.deepEqual(await accountStatus("CN=ANN Example"), { kind: "known" }, "by the name alone");
    assert.deepEqual(method.namesOf?.("ann"), ["CN=Ann Example"]);
    assert.deepEqual(method.namesOf?.("carl"), ["CN=carl, OU=ssh-local-users"]);
    method.close();
  });
  const down = await sshKey({ ...DEFAULTS, sources: [broken("HPC")] });
  const carl = { dn: "CN=carl,OU=ssh-local-users", login: "carl" };
  await assert.rejects(Promise.resolve(down.accountStatusOf?.(carl, SIGNAL)), HttpError);
  down.close();
});

Deno.test("sshKey() takes the time of a login from the iat of the token, but never a time in the future", async () => {
  const authTimeOf = async (claims: Record<string, unknown>) => {
    const exp = NOW / 1000 + 300;
    const options = { sources: [source("HPC", { ann: [publicLine("user_ed25519")] })] };
    return identityOf(await ask(options, bearer(token("ann", "user_ed25519", "EdDSA", { exp, ...claims }))))
      .authTime;
  };
  assert.equal(await authTimeOf({ iat: NOW / 1000 - 80_000 }), NOW / 1000 - 80_000);
  assert.equal(await authTimeOf({ iat: NOW / 1000 + 50 }), NOW / 1000);
  for (const iat of [undefined, "now"]) assert.equal(await authTimeOf({ iat }), undefined);
});

Deno.test("sshKey() knows a user only by the key of the login, in the file and at daemons", async () => {
  const [own, other] = [publicLine("user_ed25519"), publicLine("other_ed25519")];
  const atDaemon = (...lines: string[]) => ({ sources: [source("HPC", { ann: lines })] });
  const identity = identityOf(await ask(atDaemon(own, other), bearer(token("ann", "user_ed25519", "EdDSA"))));
  const { dn, login, uid, credential } = identity;
  const accountStatus = async (options: Partial<SshKeyOptions>) => {
    const method = await sshKey({ ...DEFAULTS, ...options });
    const said = await method.accountStatusOf?.({ dn, login, uid, credential }, SIGNAL);
    method.close();
    return said?.kind;
  };
  const cases: [lines: string[], kind: string][] = [
    [[other, own], "known"],
    [[other], "gone"],
    [[], "gone"],
    [[`expiry-time="20200101" ${own}`, other], "gone"],
    [[`from="192.0.2.77" ${own}`], "known"],
  ];
  for (const [lines, kind] of cases) {
    assert.equal(await accountStatus(atDaemon(...lines)), kind, `daemon: ${lines}`);
    await withKeysFile(lines.map((line) => `ann:${line}:${dn}\n`).join(""), async (file) => {
      assert.equal(await accountStatus({ file, sources: [] }), kind, `file: ${lines}`);
    });
  }
});

/** Runs a test with `AUTHORITY` in a file of authorities, and with records of certificates. */
async function withCertificates(
  run: (options: NonNullable<SshKeyOptions["certificates"]>) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  const authorities = `${folder}/authorities`;
  await Deno.writeTextFile(authorities, AUTHORITY.line);
  const records = openRecordStore(`${folder}/records.sqlite`, () => NOW);
  try {
    await run({ authorities, revoked: undefined, identity: undefined, only: false, records: () => records });
  } finally {
    records.close();
    await Deno.remove(folder, { recursive: true });
  }
}

const AUTHORITY = testAuthority();

Deno.test("sshKey() knows a user by a certificate, and by nothing else if only certificates are accepted", async () => {
  await withCertificates(async (certificates) => {
    for (const only of [false, true]) {
      const method = await sshKey({ ...DEFAULTS, certificates: { ...certificates, only } });
      const outcome = await method.certificates?.upload(AUTHORITY.certify(["bob"]));
      assert.equal(outcome?.kind, "stored");
      const accountStatus = async (dn: string, login: string) =>
        (await method.accountStatusOf?.({ dn, login }, SIGNAL))?.kind;
      assert.equal(await accountStatus("CN=bob,OU=ssh-local-users", "bob"), "known");
      assert.equal(await accountStatus("CN=ann,OU=ssh-local-users", "bob"), "gone");
      assert.equal(await accountStatus("CN=ann,OU=ssh-local-users", "ann"), only ? "gone" : "known");
      assert.equal((await judge(method, bearer(SHEET_TOKENS[0]))).kind, only ? "refused" : "accepted");
      assert.deepEqual(method.namesOf?.("bob"), ["CN=bob, OU=ssh-local-users"]);
      assert.deepEqual(method.namesOf?.("root"), []);
      method.close();
    }
  });
});

Deno.test("sshKey() answers with an error, not a refusal, while it cannot read the certificates", async () => {
  await withCertificates(async (certificates) => {
    const list = () => Promise.reject(httpError("ERR_RECORD_STORE", "down"));
    const kept = certificates.records();
    assert(kept !== undefined);
    const down = { ...certificates, records: () => ({ ...kept, list }) };
    const stranger = bearer(token("ann", "other_ed25519", "EdDSA"));
    await assert.rejects(
      ask({ certificates: down }, stranger),
      (error) => isHttpError(error, "ERR_RECORD_STORE"),
    );
    assert.equal((await ask({ certificates }, stranger)).kind, "refused");
    identityOf(await ask({ certificates: down, legacyToken: true }, SHEET_LEGACY));
  });
});

Deno.test("sshKey() accepts no certificate of a user's own authority while it cannot ask daemons for the authority", async () => {
  await withCertificates(async (certificates) => {
    const method = await sshKey({ ...DEFAULTS, sources: [broken("HPC")], certificates });
    const owner = { account: "ann", queueKey: "ann", known: true, signal: SIGNAL };
    await assert.rejects(
      Promise.resolve(method.certificates?.upload(AUTHORITY.certify(["ann"]), owner)),
      (error) => isHttpError(error, "ERR_KEY_LOOKUP_FAILED"),
    );
    method.close();
  });
});
