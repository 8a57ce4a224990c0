import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { readUserCertificate } from "../../../../src/authentication/ssh_key/certificate/user_certificate.ts";
import {
  decodePublicKey,
  isSshKeyType,
  UnusableKey,
} from "../../../../src/authentication/ssh_key/public_key.ts";
import { publicKeyWords, wireString } from "../user_keys.ts";
import { certificate, certificateLine } from "./certificates.ts";
import { testAuthority } from "./signed_certificate.ts";

for (const authority of ["ed25519", "rsa3072", "ecdsa256", "ecdsa384", "ecdsa521"]) {
  Deno.test(`readUserCertificate() verifies the signature of an authority with ${authority}`, () => {
    const { keyId, principals, authority: signer } = certificate(`by_${authority}`);
    assert.equal(keyId, `by_${authority}`);
    assert.deepEqual(principals, ["ann"]);
    const [type = "", blob = ""] = certificateLine(`ca_${authority}`).split(" ");
    assert(isSshKeyType(type));
    assert.equal(signer.fingerprint, decodePublicKey(type, blob).fingerprint);
  });
}

for (const key of ["rsa2048", "ecdsa256", "ecdsa384", "ecdsa521"]) {
  Deno.test(`readUserCertificate() reads the certified ${key} key like the plain one`, () => {
    const [type, blob] = publicKeyWords(`user_${key}`);
    assert(isSshKeyType(type));
    const plain = decodePublicKey(type, blob);
    const { publicKey } = certificate(`of_${key}`);
    assert.deepEqual({ ...publicKey, key: publicKey.key.export({ format: "jwk" }) }, {
      ...plain,
      key: plain.key.export({ format: "jwk" }),
    });
  });
}

Deno.test("readUserCertificate() reads the fields of a certificate as ssh-keygen -L prints them", () => {
  const { serial, keyId, principals, validAfter, validBefore, extensions, criticalOptions } = certificate(
    "domain",
  );
  assert.deepEqual({ serial, keyId, principals, validAfter, validBefore }, {
    serial: 23n,
    keyId: "domain",
    principals: ["ann"],
    validAfter: Date.UTC(2026, 0, 1) / 1000,
    validBefore: Date.UTC(2027, 0, 1) / 1000,
  });
  assert.deepEqual([...extensions], [
    ["permit-X11-forwarding", ""],
    ["permit-agent-forwarding", ""],
    ["permit-port-forwarding", ""],
    ["permit-pty", ""],
    ["permit-user-rc", ""],
    ["ssh-domain-grant@core.aai.geant.org", "example.org"],
  ]);
  assert.equal(criticalOptions.size, 0);
  assert.deepEqual([...certificate("from_here").criticalOptions], [[
    "source-address",
    "192.0.2.0/24,2001:db8::/32",
  ]]);
  const { validAfter: from, validBefore: to } = certificate("for_ever");
  assert.deepEqual([from, to], [0, Infinity]);
});

Deno.test("readUserCertificate() accepts RSA signatures only with SHA-2", () => {
  assert.equal(certificate("rsa_by_sha256").keyId, "rsa_by_sha256");
  assert.throws(() => certificate("rsa_by_sha1"), /weak algorithm/);
});

const AUTHORITY = testAuthority();
/** Names of 256 principals. */
const MANY = Array.from({ length: 256 }, (_, i) => `p${i}`);
const OPTION = Buffer.concat([wireString("force-command"), wireString(wireString("true"))]);
/** Makes a certificate with these critical options. */
const withOptions = (...options: readonly Buffer[]) =>
  AUTHORITY.certify(
    ["ann"],
    1,
    undefined,
    (body) => Buffer.concat([body.subarray(0, -12), wireString(Buffer.concat(options)), Buffer.alloc(8)]),
  );

Deno.test("readUserCertificate() accepts up to 256 principals, and each option once", () => {
  assert.deepEqual(readUserCertificate(AUTHORITY.certify(MANY)).principals, MANY);
  assert.deepEqual([...readUserCertificate(withOptions(OPTION)).criticalOptions], [[
    "force-command",
    "true",
  ]]);
});

const BAD: [what: string, line: string, message: RegExp][] = [
  ["a plain key", certificateLine("ca_ed25519"), /expected an OpenSSH certificate/],
  ["nothing", "", /expected an OpenSSH certificate/],
  ["a private key", "-----BEGIN OPENSSH PRIVATE KEY-----", /expected an OpenSSH certificate/],
  ["a certificate for a host", certificateLine("for_host"), /not one for a user/],
  ["a certificate without principals", certificateLine("no_principals"), /names no principals/],
  ["an empty principal", AUTHORITY.certify(["ann", ""]), /a principal without a name/],
  ["257 principals", AUTHORITY.certify([...MANY, "ann"]), /too many principals/],
  ["an option given twice", withOptions(OPTION, OPTION), /an option twice/],
  ["more than one line", `${AUTHORITY.certify(["ann"])} ann\nmore`, /one certificate on one line/],
  ["a certificate of a weak RSA key", certificateLine("weak_key"), /RSA key of 1024 bits/],
  ["a certificate of a DSA key", certificateLine("dsa_key"), /type of the certificate is not supported/],
  [
    "another type before it",
    certificateLine("by_ed25519").replace("ssh-ed25519", "ssh-rsa"),
    /not of the type/,
  ],
  ["a type without a key", "ssh-ed25519-cert-v01@openssh.com", /not in base64/],
  ["no base64", "ssh-ed25519-cert-v01@openssh.com ***", /not in base64/],
  ["a long line", `ssh-ed25519-cert-v01@openssh.com ${"A".repeat(20_000)}`, /too long/],
  ["a prototype's name", "__proto__-cert-v01@openssh.com AAAA", /not supported/],
];
for (const [what, line, message] of BAD) {
  Deno.test(`readUserCertificate() refuses ${what}`, () => {
    assert.throws(
      () => readUserCertificate(line),
      (error) => error instanceof UnusableKey && message.test(error.message),
    );
  });
}

Deno.test("readUserCertificate() accepts no certificate with one changed bit, or with missing or additional bytes", () => {
  const [type = "", base64 = ""] = certificateLine("domain").split(" ");
  const blob = Buffer.from(base64, "base64");
  const refuses = (bytes: Uint8Array) =>
    assert.throws(() => readUserCertificate(`${type} ${Buffer.from(bytes).toString("base64")}`), UnusableKey);
  fc.assert(fc.property(fc.nat({ max: blob.length - 1 }), fc.nat({ max: 7 }), (at, bit) => {
    const changed = Buffer.from(blob);
    changed[at] = (changed[at] ?? 0) ^ (1 << bit);
    refuses(changed);
  }));
  fc.assert(fc.property(fc.nat({ max: blob.length - 1 }), (length) => refuses(blob.subarray(0, length))));
  refuses(Buffer.concat([blob, Buffer.from([0])]));
});
