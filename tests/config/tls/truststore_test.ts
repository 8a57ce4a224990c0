import assert from "node:assert/strict";
import { assertRemedies } from "../../fixtures/remedies.ts";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { loadPublicRoots, loadTruststore } from "../../../src/config/tls/truststore.ts";
import type { TruststoreConfig } from "../../../src/config/service_config.ts";
import { formatDiagnostic } from "../../../src/model/diagnostic.ts";
import { createAuthority } from "../../pki/authority.ts";

const FIXTURES = join(import.meta.dirname ?? "", "fixtures");
const NOW = Date.UTC(2030, 0, 1);
const COMMON = {
  updateIntervalSeconds: 600,
  origin: { file: "f", line: 1, key: "k" },
  revocation: undefined,
};
const CA = "C=DE\nO=Site-A\nCN=Test CA";
const RSA = "C=DE\nO=Site-A\nCN=rsa.site-a.example";
const HOST = "C=DE\nO=Site-A\nCN=auth.site-a.example";

function directory(...names: string[]): TruststoreConfig {
  return {
    ...COMMON,
    type: "directory",
    encoding: "PEM",
    locations: names.map((name) => join(FIXTURES, name)),
  };
}

function keystore(name: string, password = "fixture"): TruststoreConfig {
  return { ...COMMON, type: "keystore", path: join(FIXTURES, name), password, format: "auto" };
}

async function load(config: TruststoreConfig, now = NOW) {
  const { anchors, diagnostics, files } = await loadTruststore(config, now);
  assertRemedies(diagnostics);
  return {
    subjects: anchors.map((pem) => new X509Certificate(pem).subject),
    messages: diagnostics.map((diagnostic) =>
      `${diagnostic.severity} ${formatDiagnostic(diagnostic)}`.replaceAll(`${FIXTURES}/`, "")
    ),
    files: files.map((file) => file.replace(`${FIXTURES}/`, "")),
  };
}

const GOOD: [what: string, config: TruststoreConfig, subjects: string[], files: string[]][] = [
  ["a PEM file", directory("ca.pem"), [CA], ["ca.pem"]],
  ["several certificates of one PEM file", directory("ca-first.pem"), [CA, HOST], ["ca-first.pem"]],
  ["a DER file", directory("ca.der"), [CA], ["ca.der"]],
  ["a duplicate certificate once", directory("ca.pem", "ca.der"), [CA], ["ca.pem", "ca.der"]],
  ["a pattern", directory("??.pem"), [CA], ["ca.pem", FIXTURES]],
  ["certificates next to a key", directory("bundle.pem"), [HOST, CA], ["bundle.pem"]],
  ["PKCS#12 with AES", keystore("trust.p12"), [CA, RSA], ["trust.p12"]],
  ["PKCS#12 with RC2 of 40 bits", keystore("trust-rc2-40.p12"), [CA, RSA], ["trust-rc2-40.p12"]],
  ["PKCS#12 with RC2 of 128 bits", keystore("trust-rc2-128.p12"), [CA, RSA], ["trust-rc2-128.p12"]],
  ["PKCS#12 with 3DES", keystore("trust-3des.p12"), [CA, RSA], ["trust-3des.p12"]],
  ["PKCS#12 without encryption", keystore("trust-plain.p12"), [CA, RSA], ["trust-plain.p12"]],
  ["PKCS#12 made by keytool", keystore("trust-keytool.p12"), [CA], ["trust-keytool.p12"]],
  ["no chain of a key in PKCS#12", keystore("host.p12"), [HOST], ["host.p12"]],
  ["PKCS#12 with a key and a trusted certificate", keystore("trust-and-key.p12"), [HOST, RSA], [
    "trust-and-key.p12",
  ]],
];

for (const [what, config, subjects, files] of GOOD) {
  Deno.test(`loadTruststore() reads ${what}`, async () => {
    assert.deepEqual(await load(config), { subjects, messages: [], files });
  });
}

const WRONG_PASSWORD = "expected the right password of the key store, or the file is damaged";

const BAD: [what: string, config: TruststoreConfig, messages: string[]][] = [
  ["a missing file", directory("none.pem"), [
    "error f:1: k: none.pem: cannot read it: there is no such file",
  ]],
  ["a pattern that matches no files", directory("none*.pem"), [
    "warning f:1: k: there are no files like none*.pem",
    "error f:1: k: expected at least one trusted certificate",
  ]],
  ["a file without a certificate", directory("host.key"), [
    "error f:1: k: host.key: expected a certificate in PEM or DER form, this file has PRIVATE KEY",
  ]],
  ["a PKCS#7 bundle", directory("pkcs7.pem"), [
    "error f:1: k: pkcs7.pem: expected a certificate in PEM or DER form, this file has PKCS7",
  ]],
  ["a Java key store", keystore("trust.jks"), [
    "error f:1: k: trust.jks: expected PKCS#12, this is a Java key store; convert it: keytool -importkeystore " +
    "-srckeystore trust.jks -destkeystore trust.p12 -deststoretype pkcs12",
  ]],
  ["a wrong password", keystore("trust.p12", "x"), [`error f:1: k: trust.p12: ${WRONG_PASSWORD}`]],
  ["a wrong password for unencrypted certificates", keystore("trust-plain.p12", "x"), [
    `error f:1: k: trust-plain.p12: ${WRONG_PASSWORD}`,
  ]],
  ["a script as a key store", keystore("make.sh"), [
    "error f:1: k: make.sh: expected a PKCS#12 key store, this file cannot be read as one",
  ]],
  ["a PEM file as a key store", keystore("ca.pem"), [
    "error f:1: k: ca.pem: expected a PKCS#12 key store, this file cannot be read as one",
  ]],
];

for (const [what, config, messages] of BAD) {
  Deno.test(`loadTruststore() refuses ${what}`, async () => {
    const loaded = await load(config);
    assert.deepEqual(loaded.messages, messages);
    assert.deepEqual(loaded.subjects, []);
  });
}

Deno.test("loadTruststore() skips unusable files that a pattern matches, with a warning", async () => {
  const { subjects, messages } = await load(directory("?a.*"));
  assert.deepEqual(subjects, [CA]);
  assert.deepEqual(messages, [
    "warning f:1: k: ca.key: expected a certificate in PEM or DER form, this file has PRIVATE KEY",
  ]);
});

Deno.test("loadTruststore() does not trust certificates outside their validity", async () => {
  const { validToDate } = new X509Certificate(await Deno.readFile(join(FIXTURES, "ca.pem")));
  const { subjects, messages } = await load(directory("ca.pem"), validToDate.getTime() + 1);
  assert.deepEqual(subjects, []);
  assert.deepEqual(messages, [
    "warning f:1: k: not trusted, CN=Test CA, O=Site-A, C=DE in ca.pem " +
    `has expired on ${validToDate.toISOString().slice(0, 10)}`,
    "error f:1: k: expected a trusted certificate that is valid",
  ]);
});

Deno.test("loadTruststore() reads an OpenSSL directory", async () => {
  const path = await Deno.makeTempDir();
  await Deno.copyFile(join(FIXTURES, "ca.pem"), join(path, "1a2b3c4d.0"));
  await Deno.copyFile(join(FIXTURES, "rsa.pem"), join(path, "1a2b3c4d.1"));
  await Deno.copyFile(join(FIXTURES, "host.pem"), join(path, "1a2b3c4d.r0"));
  await Deno.copyFile(join(FIXTURES, "host.pem"), join(path, "host.pem"));
  const { subjects, messages, files } = await load({ ...COMMON, type: "openssl", path });
  await Deno.remove(path, { recursive: true });
  assert.deepEqual(messages, []);
  assert.deepEqual(subjects, [CA, RSA]);
  assert.deepEqual(files, [join(path, "1a2b3c4d.0"), join(path, "1a2b3c4d.1"), path]);
});

Deno.test("loadTruststore() reports files with name spaces, which it does not evaluate", async () => {
  const path = await Deno.makeTempDir();
  await Deno.copyFile(join(FIXTURES, "ca.pem"), join(path, "1a2b3c4d.0"));
  for (const name of ["1a2b3c4d.signing_policy", "1a2b3c4d.namespaces"]) {
    await Deno.writeTextFile(join(path, name), "");
    const found = async (nameSpaces: { nameSpaces?: "error" | "warning" }) =>
      (await load({ ...COMMON, type: "openssl", path, ...nameSpaces })).messages;
    for (const nameSpaces of ["error", "warning"] as const) {
      const text =
        `${nameSpaces} f:1: k: name spaces as in ${path}/${name} are not evaluated: each authority of ` +
        "the folder could certify any name";
      assert.deepEqual(await found({ nameSpaces }), [text]);
    }
    assert.deepEqual(await found({}), []);
    await Deno.remove(join(path, name));
  }
  await Deno.remove(path, { recursive: true });
});

Deno.test("loadTruststore() reports folders that exist and cannot be read, and goes on watching them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "authserver-trust-" });
  try {
    await Deno.symlink("loop", join(folder, "loop"));
    const config = directory("ca.pem", "*.none");
    assert(config.type === "directory");
    const locations = [...config.locations.slice(0, 1), join(folder, "loop/*.pem")];
    const revocation = {
      mode: "IF_VALID",
      locations: [join(folder, "loop/*.crl")],
      origin: config.origin,
    } as const;
    const { messages, subjects, files } = await load({ ...config, locations, revocation });
    assert.deepEqual(subjects, [CA]);
    assert.deepEqual(messages.map((message) => message.replace(/(it: ).*/, "$1…")), [
      `error f:1: k: ${folder}/loop/*.pem: cannot read it: …`,
      `warning f:1: k: there are no files like ${folder}/loop/*.pem`,
      `error f:1: k: ${folder}/loop/*.crl: cannot read it: …`,
    ]);
    assert(files.includes(join(folder, "loop")));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const ORIGIN = { file: "conf/container.properties", line: 3, key: "container.security.truststore" };
const [one, two] = ["CN=A", "CN=B"].map((subject) => createAuthority({ subject }).certificate);

const BUNDLES: readonly (readonly [string, readonly (string | undefined)[], number, RegExp | undefined])[] = [
  ["the first existing file", [undefined, `${one}${two}`, one], 2, undefined],
  ["one certificate", [one], 1, undefined],
  ["no certificate", ["nothing\n"], 0, /^expected certificates in .*1$/],
  ["half a certificate", [one?.slice(0, 200)], 0, /^expected certificates in .*1$/],
  [
    "an invalid certificate",
    ["-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"],
    0,
    /1: /,
  ],
  ["no file", [undefined], 0, /install the package ca-certificates$/],
];
for (const [what, texts, count, expected] of BUNDLES) {
  Deno.test(`loadPublicRoots() of ${what} finds ${count}`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "authserver-roots-" });
    try {
      const paths = texts.map((_, i) => `${folder}/${i + 1}`);
      for (const [i, text] of texts.entries()) {
        if (text !== undefined) await Deno.writeTextFile(`${folder}/${i + 1}`, text);
      }
      const { roots, diagnostics, files } = await loadPublicRoots(ORIGIN, paths);
      assert.equal(roots.length, count);
      assert.equal(diagnostics.length, expected === undefined ? 0 : 1);
      for (const diagnostic of diagnostics) {
        assert.match(diagnostic.expected, expected ?? /never/);
        assert.deepEqual([diagnostic.severity, diagnostic.line, diagnostic.key], ["error", 3, ORIGIN.key]);
      }
      const read = paths.filter((_, i) => texts[i] !== undefined).slice(0, 1);
      assert.deepEqual(files, read);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
