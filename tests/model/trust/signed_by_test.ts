import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { findPath } from "../../../src/model/trust/certificate_path.ts";
import { isSignedBy } from "../../../src/model/trust/signed_by.ts";
import { createAuthority } from "../../pki/authority.ts";

const FIXTURES = new URL("../fixtures/", import.meta.url);
const read = (name: string) => new X509Certificate(Deno.readTextFileSync(new URL(name, FIXTURES)));

/** Authorities with RSA keys that `verify()` of the platform refuses, and a certificate signed by each. */
const large = ([5120, 8192] as const).map((bits) => ({
  bits,
  authority: read(`rsa_${bits}_ca.pem`),
  leaf: read(`rsa_${bits}_leaf.pem`),
}));

Deno.test("isSignedBy() verifies signatures of RSA keys up to 8192 bits", () => {
  for (const { bits, authority, leaf } of large) {
    assert(isSignedBy(authority, authority), `${bits}`);
    assert(isSignedBy(leaf, authority), `${bits}`);
    for (const other of large) assert.equal(isSignedBy(leaf, other.authority), other.bits === bits);
    const way = findPath([leaf], {
      anchors: [authority.toString()],
      purpose: "serverAuth",
      at: Date.parse("2027-01-01"),
    });
    assert.equal(way.length, 2, String(way));
  }
});

Deno.test("isSignedBy() takes no signature for another's, or for changed content", () => {
  for (const { authority, leaf } of large) {
    for (let at = 0; at < leaf.raw.length; at += 41) {
      const bytes = Buffer.from(leaf.raw);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      let changed;
      try {
        changed = new X509Certificate(bytes);
      } catch {
        continue; // no certificate any more
      }
      assert.equal(isSignedBy(changed, authority), false, `byte ${at}`);
    }
    const stranger = new X509Certificate(createAuthority({ subject: "CN=x" }).certificate);
    assert.equal(isSignedBy(stranger, authority), false);
    assert.equal(isSignedBy(leaf, stranger), false);
  }
});
