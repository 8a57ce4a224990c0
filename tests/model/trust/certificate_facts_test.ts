import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { certificateFacts, permits } from "../../../src/model/trust/certificate_facts.ts";
import { createAuthority } from "../../pki/authority.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const factsOf = (pem: string) => certificateFacts(new X509Certificate(pem));

Deno.test("certificateFacts() of an authority and of a server", () => {
  const own = factsOf(authority.certificate);
  assert.deepEqual([own.version, own.authority, own.hasUnknownDemands, own.hasWellFormedKey], [
    3,
    true,
    false,
    true,
  ]);
  const issued = factsOf(authority.issue({ subject: "CN=localhost", names: ["localhost"] }).certificate);
  assert.notEqual(issued.authority, true);
  assert.deepEqual([issued.version, issued.hasUnknownDemands, issued.hasWellFormedKey], [3, false, true]);
  for (const purpose of ["serverAuth", "clientAuth"] as const) assert.ok(permits(issued, purpose), purpose);
});

Deno.test("certificateFacts() of a certificate of version 1, which says nothing", () => {
  const { certificate } = authority.issue({ subject: "CN=old", version: 1 });
  const facts = factsOf(certificate);
  assert.deepEqual([facts.version, facts.authority, facts.purposes], [1, undefined, undefined]);
  assert.ok(facts.hasWellFormedKey);
});

Deno.test("permits() goes by what a certificate says that it is for, if it says so", () => {
  const of = (...extendedKeyUsage: readonly ("clientAuth" | "serverAuth")[]) => {
    const facts = factsOf(authority.issue({ subject: "CN=x", extendedKeyUsage }).certificate);
    return [permits(facts, "serverAuth"), permits(facts, "clientAuth")];
  };
  assert.deepEqual(of("serverAuth"), [true, false]);
  assert.deepEqual(of("clientAuth"), [false, true]);
  assert.deepEqual(of("clientAuth", "serverAuth"), [true, true]);
});

Deno.test("certificateFacts() tells how far an authority's word goes", () => {
  const { certificate } = authority.subordinate({ subject: "CN=Sub", pathLength: 2 });
  const facts = factsOf(certificate);
  assert.deepEqual([facts.authority, facts.pathLength, facts.signsCertificates], [true, 2, true]);
  const mute = factsOf(authority.subordinate({ subject: "CN=Mute", signsCertificates: false }).certificate);
  assert.deepEqual([mute.pathLength, mute.signsCertificates], [undefined, false]);
});
