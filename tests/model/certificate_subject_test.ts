import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { certificateName, certificateSubject } from "../../src/model/certificate_subject.ts";
import { sameName } from "../../src/model/distinguished_name.ts";
import { createAuthority } from "../pki/authority.ts";

const AUTHORITY = createAuthority({ subject: "CN=Test CA" });

function subjectOf(subject: string): string {
  return certificateSubject(AUTHORITY.issue({ subject }).certificate);
}

const NAMES: [string, string][] = [
  ["CN=auth.site-a.example,O=Site-A,C=DE", "CN=auth.site-a.example,O=Site-A,C=DE"],
  ["CN=Ann Example, OU=Lab 2, O=Site-A, C=DE", "CN=Ann Example,OU=Lab 2,O=Site-A,C=DE"],
  ["CN=Müller\\, Ann,C=DE", "CN=Müller\\, Ann,C=DE"],
  ['CN=a\\+b\\=c\\\\d\\;e\\<f\\>\\"g,C=DE', 'CN=a\\+b\\=c\\\\d\\;e\\<f\\>\\"g,C=DE'],
  ["CN=\\#1\\20,C=DE", "CN=\\#1\\ ,C=DE"],
  ["UID=ann,DC=site,DC=example", "UID=ann,DC=site,DC=example"],
  ["ST=Bavaria,L=Munich,STREET=Main 1,C=DE", "ST=Bavaria,L=Munich,STREET=Main 1,C=DE"],
];

for (const [given, expected] of NAMES) {
  Deno.test(`certificateSubject() writes ${given} as RFC 2253 does`, () => {
    assert.equal(subjectOf(given), expected);
    assert.ok(sameName(expected, given));
  });
}

Deno.test("certificateSubject() escapes values that look like several parts of a name", () => {
  const subject = subjectOf("O=x\\, CN\\=Admin\\, O\\=Site-A,C=DE");
  assert.ok(sameName(subject, "O=x\\, CN\\=Admin\\, O\\=Site-A,C=DE"));
  assert.ok(!sameName(subject, "O=x,CN=Admin,O=Site-A,C=DE"));
  const lines = subjectOf("CN=ann\\0aO=Site-B,C=DE");
  assert.equal(lines, "CN=ann\\0aO\\=Site-B,C=DE");
});

Deno.test("certificateSubject() writes types without keyword by number, with the encoding of the value", () => {
  const subject = subjectOf("EMAILADDRESS=ann@site-a.example,CN=Ann");
  assert.match(subject, /^1\.2\.840\.113549\.1\.9\.1=#[0-9a-f]+,CN=Ann$/);
  assert.ok(sameName(subject, "EMAILADDRESS=ann@site-a.example,CN=Ann"));
});

Deno.test("certificateSubject() reads PEM, DER, a parsed certificate, and version 1", () => {
  const { certificate } = AUTHORITY.issue({ subject: "CN=Old,C=DE", version: 1 });
  const parsed = new X509Certificate(certificate);
  for (const form of [certificate, parsed, new Uint8Array(parsed.raw)]) {
    assert.equal(certificateSubject(form), "CN=Old,C=DE");
  }
});

Deno.test("certificateSubject() throws for input that is not a certificate", () => {
  for (const text of ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"]) {
    assert.throws(() => certificateSubject(text));
  }
});

Deno.test("certificateName() returns an alternative name if there is no subject", () => {
  const name = (subject: string, names?: string[]) =>
    certificateName(AUTHORITY.issue({ subject, ...(names && { names }) }).certificate);
  assert.equal(name("CN=a,O=b", ["c.example"]), "CN=a,O=b");
  assert.equal(name("", ["c.example", "d.example"]), "CN=c.example");
  assert.equal(name("", ["192.0.2.1"]), "CN=192.0.2.1");
  assert.equal(name(""), "");
});
