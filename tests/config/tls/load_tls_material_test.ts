import assert from "node:assert/strict";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { chmod, copyFile, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { loadTlsMaterial } from "../../../src/config/tls/load_tls_material.ts";
import type { CredentialConfig } from "../../../src/config/service_config.ts";
import { createAuthority } from "../../pki/authority.ts";
import { formatDiagnostic } from "../../../src/model/diagnostic.ts";

const FIXTURES = join(import.meta.dirname ?? "", "fixtures");
const HOST = "C=DE\nO=Site-A\nCN=auth.site-a.example";
const NOW = Date.UTC(2030, 0, 1);

type Settings = Partial<
  Pick<CredentialConfig, "format" | "password" | "keyPath" | "keyPassword" | "keyAlias">
>;

const ORIGIN = { file: "conf/container.properties", line: 3, key: "container.security.credential.path" };
const KEY_ORIGIN = { ...ORIGIN, line: 4, key: "container.security.credential.keyPath" };

/** Loads a credential from copies of fixtures that only the test's user can read. */
async function load(path: string, settings: Settings = {}, now = NOW) {
  const folder = await mkdtemp(join(tmpdir(), "credential-"));
  const privately = async (name: string) => {
    const target = join(folder, basename(name));
    await copyFile(join(FIXTURES, name), target).catch(() => {});
    await chmod(target, 0o600).catch(() => {});
    return target;
  };
  const credential: CredentialConfig = {
    origin: ORIGIN,
    path: await privately(path),
    format: settings.format ?? "auto",
    password: settings.password,
    keyOrigin: settings.keyPath === undefined ? ORIGIN : KEY_ORIGIN,
    keyPath: settings.keyPath === undefined ? undefined : await privately(settings.keyPath),
    keyPassword: settings.keyPassword,
    keyAlias: settings.keyAlias,
    reloadOnChange: true,
  };
  const loaded = await loadTlsMaterial({ credential, truststore: undefined }, now);
  await Deno.remove(folder, { recursive: true });
  return {
    ...loaded,
    messages: loaded.diagnostics.map((diagnostic) =>
      formatDiagnostic(diagnostic).replaceAll(`${folder}/`, "")
    ),
    fixes: loaded.diagnostics.map(({ fix = "" }) => fix.replaceAll(`${folder}/`, "")),
  };
}

const GOOD: [what: string, path: string, settings: Settings, chain: number][] = [
  ["PKCS#12", "host.p12", { password: "fixture" }, 2],
  ["PKCS#12, with its format given", "host.p12", { password: "fixture", format: "pkcs12" }, 2],
  [
    "PKCS#12 with the key's password given too",
    "host.p12",
    { password: "fixture", keyPassword: "fixture" },
    2,
  ],
  ["PKCS#12 with RC2-40 and 3DES", "host-legacy.p12", { password: "fixture" }, 2],
  ["PKCS#12 with 3DES and without one byte of a password", "host-no-password.p12", {}, 2],
  ["PKCS#12 with an empty password that is configured", "host-no-password.p12", { password: "" }, 2],
  ["PEM with everything in one file", "bundle.pem", {}, 2],
  ["PEM and key", "host.pem", { keyPath: "host.key" }, 1],
  ["PEM with the chain in another order", "ca-first.pem", { keyPath: "host.key" }, 2],
  ["PEM and encrypted PKCS#8 key", "host.pem", { keyPath: "encrypted.key", password: "fixture" }, 1],
  [
    "PEM and traditional encrypted EC key",
    "host.pem",
    { keyPath: "traditional.key", password: "fixture" },
    1,
  ],
  ["DER and PKCS#8 key", "host.der", { keyPath: "host.pk8" }, 1],
  ["DER and SEC 1 key", "host.der", { keyPath: "sec1.der", format: "der" }, 1],
  ["DER and encrypted PKCS#8 key", "host.der", { keyPath: "encrypted.pk8", password: "fixture" }, 1],
  ["DER certificate and PEM key", "host.der", { keyPath: "host.key" }, 1],
];

for (const [what, path, settings, chain] of GOOD) {
  Deno.test(`loadTlsMaterial() reads ${what}`, async () => {
    const { material, messages } = await load(path, settings);
    assert.deepEqual(messages, []);
    assert.ok(material);
    const own = new X509Certificate(material.certificate);
    assert.equal(own.subject, HOST);
    assert.ok(own.checkPrivateKey(createPrivateKey(material.key)));
    assert.equal(material.certificate.match(/BEGIN CERTIFICATE/g)?.length, chain);
    assert.match(material.key, /^-----BEGIN PRIVATE KEY-----\n/);
    assert.deepEqual(material.anchors, []);
  });
}

for (
  const [what, keyPath, password] of [
    ["a traditional encrypted RSA key", "rsa-traditional.key", "fixture"],
    ["a PKCS#1 key in DER form", "pkcs1.der", undefined],
  ] as const
) {
  Deno.test(`loadTlsMaterial() reads ${what}`, async () => {
    const { material, messages } = await load("rsa.pem", { keyPath, password });
    assert.deepEqual(messages, []);
    assert.equal(createPrivateKey(material?.key ?? "").asymmetricKeyType, "rsa");
  });
}

const PASSWORD = "container.security.credential.password";
const JKS = "host.jks: expected PKCS#12, this is a Java key store; convert it: " +
  "keytool -importkeystore -srckeystore host.jks -destkeystore host.p12 -deststoretype pkcs12";

const USABLE_KEY = "expected a key of P-256, P-384, P-521 or Ed25519, or of RSA with 2048 to 4096 bits";

const BAD: [what: string, path: string, settings: Settings, message: string][] = [
  ["a missing file", "none.pem", {}, "cannot read none.pem: there is no such file"],
  ["a Java key store", "host.jks", { password: "fixture" }, JKS],
  [
    "a wrong password",
    "host.p12",
    { password: "Fixture" },
    "host.p12: expected the right password of the key store, or the file is damaged",
  ],
  ["no password", "host.p12", {}, `host.p12: expected ${PASSWORD} too, the key store is encrypted`],
  [
    "a key with another password",
    "host.p12",
    { password: "fixture", keyPassword: "another" },
    "host.p12: expected a key store whose key has the password of the store, without keyPassword",
  ],
  [
    "a store without key",
    "trust.p12",
    { password: "fixture" },
    "trust.p12: expected a key store with a private key, this one holds certificates only",
  ],
  [
    "a lone certificate in DER form",
    "host.der",
    {},
    "host.der: expected a PKCS#12 key store, this file cannot be read as one",
  ],
  [
    "a lone certificate in DER form, with format=der",
    "host.der",
    { format: "der" },
    "host.der: expected container.security.credential.keyPath too, DER has one key or certificate a file",
  ],
  [
    "a lone certificate",
    "host.pem",
    {},
    "host.pem: expected a private key in the same file, or container.security.credential.keyPath too",
  ],
  [
    "a key without a certificate",
    "host.key",
    {},
    "host.key: expected a certificate in PEM or DER form, this file has PRIVATE KEY",
  ],
  [
    "the key of another certificate",
    "host.pem",
    { keyPath: "other.key" },
    "host.pem, other.key: expected the certificate of the private key; they do not belong together",
  ],
  [
    "an encrypted key without password",
    "host.pem",
    { keyPath: "encrypted.key" },
    `host.pem, encrypted.key: expected ${PASSWORD} too, the private key is encrypted`,
  ],
  [
    "an encrypted key with the wrong password",
    "host.pem",
    { keyPath: "encrypted.key", password: "x" },
    "host.pem, encrypted.key: expected the right password of the key",
  ],
  [
    "a traditional key with the wrong password",
    "host.pem",
    { keyPath: "traditional.key", password: "x" },
    "host.pem, traditional.key: expected the right password of the key",
  ],
  [
    "a key with outdated encryption",
    "host.pem",
    { keyPath: "old.key", password: "fixture" },
    "host.pem, old.key: expected a private key with current encryption, convert it: " +
    "openssl pkcs8 -topk8 -v2 aes256 -in <old> -out <new>",
  ],
  [
    "a key in the form of OpenSSH, which openssl cannot read",
    "host.pem",
    { keyPath: "../../../fixtures/ssh_keys/locked_rsa2048", password: "fixture" },
    "host.pem, locked_rsa2048: expected a private key in PKCS#8 form, convert it: " +
    "cp <old> <new> && ssh-keygen -p -m PKCS8 -f <new>",
  ],
  [
    "a DER key with the wrong password",
    "host.der",
    { keyPath: "encrypted.pk8", password: "x" },
    "host.der, encrypted.pk8: expected a private key in DER form and its right password",
  ],
  [
    "a certificate in place of the key",
    "host.pem",
    { keyPath: "ca.pem" },
    "host.pem, ca.pem: expected a private key in PEM form",
  ],
  [
    "an RSA key above 4096 bits, with which our tokens could not be verified",
    "../../../model/fixtures/rsa_5120_host.pem",
    { keyPath: "../../../model/fixtures/rsa_5120_host.key" },
    `rsa_5120_host.pem, rsa_5120_host.key: ${USABLE_KEY}`,
  ],
  ...["rsa-1024", "secp256k1", "brainpoolP256r1"].map((name): typeof BAD[number] => [
    `a key of ${name}, with which TLS cannot be used`,
    `${name}.pem`,
    { keyPath: `${name}.key` },
    `${name}.pem, ${name}.key: ${USABLE_KEY}`,
  ]),
  [
    "something else",
    "make.sh",
    { password: "x" },
    "make.sh: expected a PKCS#12 key store, this file cannot be read as one",
  ],
];

for (const [what, path, settings, message] of BAD) {
  Deno.test(`loadTlsMaterial() refuses ${what}`, async () => {
    const { material, messages, diagnostics } = await load(path, settings);
    assert.equal(material, undefined);
    assert.deepEqual(messages, [
      `conf/container.properties:3: container.security.credential.path: ${message}`,
    ]);
    assert.deepEqual(diagnostics.map(({ severity }) => severity), ["error"]);
    assert.doesNotMatch(messages.join(), /[Ff]ixture\b/);
  });
}

Deno.test("loadTlsMaterial() names the key that names the missing file", async () => {
  const place = "conf/container.properties";
  const certificate = `${place}:3: ${ORIGIN.key}: cannot read none.pem: there is no such file`;
  const key = `${place}:4: ${KEY_ORIGIN.key}: cannot read none.key: there is no such file`;
  assert.deepEqual((await load("host.pem", { keyPath: "none.key" })).messages, [key]);
  assert.deepEqual((await load("none.pem", { keyPath: "host.key" })).messages, [certificate]);
  assert.deepEqual((await load("none.pem", { keyPath: "none.key" })).messages, [certificate, key]);
});

Deno.test("loadTlsMaterial() refuses an expired certificate, and one that is not valid yet", async () => {
  const { validToDate, validFromDate } = new X509Certificate(await Deno.readFile(join(FIXTURES, "host.pem")));
  const at = (date: Date, days: number) => load("bundle.pem", {}, date.getTime() + days * 86_400_000);
  const place = "conf/container.properties:3: container.security.credential.path: " +
    "the certificate of CN=auth.site-a.example, O=Site-A, C=DE in bundle.pem";
  const day = (date: Date) => date.toISOString().slice(0, 10);

  const expired = await at(validToDate, 0.001);
  assert.deepEqual(expired.messages, [`${place} has expired on ${day(validToDate)}`]);
  assert.match(expired.fixes.join(), /^renew bundle\.pem, .*openssl x509 -noout -dates -in bundle\.pem$/);
  assert.equal(expired.material, undefined);

  const early = await at(validFromDate, -1);
  assert.deepEqual(early.messages, [`${place} is not valid before ${day(validFromDate)}`]);
  assert.equal(early.material, undefined);

  const soon = await at(validToDate, -6.9);
  assert.deepEqual(soon.messages, [`${place} expires on ${day(validToDate)}`]);
  assert.deepEqual(soon.diagnostics.map(({ severity }) => severity), ["warning"]);
  assert.ok(soon.material);

  assert.deepEqual((await at(validToDate, -7.1)).messages, []);
});

Deno.test("loadTlsMaterial() reports the dates of a certificate without a subject", async () => {
  const notAfter = new Date(NOW + 3 * 86_400_000);
  const own = createAuthority({ subject: "CN=CA" }).issue({ subject: "", names: ["auth.example"], notAfter });
  const path = await Deno.makeTempFile();
  await Deno.writeTextFile(path, own.certificate + own.key);
  await Deno.chmod(path, 0o600);
  const { material, diagnostics } = await loadTlsMaterial({
    credential: {
      origin: ORIGIN,
      path,
      format: "auto",
      password: undefined,
      keyPath: undefined,
      keyOrigin: ORIGIN,
      keyPassword: undefined,
      keyAlias: undefined,
      reloadOnChange: true,
    },
    truststore: undefined,
  }, NOW);
  await Deno.remove(path);
  assert.ok(material);
  assert.match(diagnostics.map(formatDiagnostic).join(), /certificate of DNS:auth\.example in .* expires on/);
});

Deno.test("loadTlsMaterial() warns about a world-readable key, and about an alias", async () => {
  const file = await Deno.makeTempFile();
  await Deno.copyFile(join(FIXTURES, "host.p12"), file);
  await Deno.chmod(file, 0o644);
  const { material, diagnostics, files } = await loadTlsMaterial({
    credential: {
      origin: { file: "f", key: "k" },
      keyOrigin: { file: "f", key: "k" },
      path: file,
      format: "auto",
      password: "fixture",
      keyPath: undefined,
      keyPassword: undefined,
      keyAlias: "host",
      reloadOnChange: true,
    },
    truststore: undefined,
  }, NOW);
  await Deno.remove(file);
  assert.deepEqual(diagnostics.map(formatDiagnostic), [
    `f: k: every user of this machine can read the private key, expected: chmod o-r ${file}`,
    "f: k: keyAlias is ignored: the only key of the key store is used",
  ]);
  assert.ok(material);
  assert.deepEqual(files.credential, [file]);
});

for (
  const [usages, lacking] of [
    [undefined, []],
    [["serverAuth", "clientAuth"], []],
    [["serverAuth"], ["lacks clientAuth, so daemons refuse it"]],
    [["clientAuth"], ["lacks serverAuth, so clients refuse it"]],
  ] as const
) {
  Deno.test(`loadTlsMaterial() reports which peers refuse a certificate for ${usages?.join(" and ") ?? "all"}`, async () => {
    const file = await Deno.makeTempFile();
    const own = createAuthority({ subject: "CN=CA" }).issue({ subject: "CN=A", extendedKeyUsage: usages });
    await Deno.writeTextFile(file, own.certificate + own.key, { mode: 0o600 });
    const { material, diagnostics } = await loadTlsMaterial({
      credential: {
        origin: ORIGIN,
        keyOrigin: ORIGIN,
        path: file,
        format: "auto",
        password: undefined,
        keyPath: undefined,
        keyPassword: undefined,
        keyAlias: undefined,
        reloadOnChange: true,
      },
    }, Date.now());
    await Deno.remove(file);
    assert.ok(material);
    const remedy = "use a certificate for serverAuth and clientAuth";
    assert.deepEqual(
      diagnostics.map(({ severity, expected, fix }) => [severity, expected, fix]),
      lacking.map((text) => ["warning", `the extended key usage of ${file} ${text}`, remedy]),
    );
  });
}

Deno.test("loadTlsMaterial() loads nothing if nothing is configured", async () => {
  assert.deepEqual(await loadTlsMaterial({ credential: undefined, truststore: undefined }, NOW), {
    material: undefined,
    diagnostics: [],
    files: { credential: [], truststore: [], clients: [], providers: [], daemons: [] },
  });
});
