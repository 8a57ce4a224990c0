import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import {
  certificateFacts,
  describeValidity,
  endsSoon,
  isValidAt,
  permits,
  usableKeyOf,
  validityOf,
} from "../../../src/model/trust/certificate_facts.ts";
import { createAuthority } from "../../pki/authority.ts";
import { trustedIssuerOf } from "../../../src/authentication/issued_token/issuer.ts";
import { mayUse } from "../../../src/authentication/unity/signed_element.ts";

const authority = createAuthority({ subject: "CN=Test CA" });
const factsOf = (pem: string) => certificateFacts(new X509Certificate(pem));

Deno.test("certificateFacts() describes an authority and a server", () => {
  const own = factsOf(authority.certificate);
  assert.deepEqual([own.version, own.authority, own.hasUnsupportedExtensions, own.hasWellFormedKey], [
    3,
    true,
    false,
    true,
  ]);
  const issued = factsOf(authority.issue({ subject: "CN=localhost", names: ["localhost"] }).certificate);
  assert.notEqual(issued.authority, true);
  assert.deepEqual([issued.version, issued.hasUnsupportedExtensions, issued.hasWellFormedKey], [
    3,
    false,
    true,
  ]);
  for (const purpose of ["serverAuth", "clientAuth"] as const) assert.ok(permits(issued, purpose), purpose);
});

Deno.test("certificateFacts() reads a version 1 certificate, which has no extensions", () => {
  const { certificate } = authority.issue({ subject: "CN=old", version: 1 });
  const facts = factsOf(certificate);
  assert.deepEqual([facts.version, facts.authority, facts.purposes], [1, undefined, undefined]);
  assert.ok(facts.hasWellFormedKey);
});

Deno.test("permits() follows the extended key usage of a certificate, if it has one", () => {
  const of = (...extendedKeyUsage: readonly ("clientAuth" | "serverAuth")[]) => {
    const facts = factsOf(authority.issue({ subject: "CN=x", extendedKeyUsage }).certificate);
    return [permits(facts, "serverAuth"), permits(facts, "clientAuth")];
  };
  assert.deepEqual(of("serverAuth"), [true, false]);
  assert.deepEqual(of("clientAuth"), [false, true]);
  assert.deepEqual(of("clientAuth", "serverAuth"), [true, true]);
});

Deno.test("certificateFacts() returns path length and key usage of an authority", () => {
  const { certificate } = authority.subordinate({ subject: "CN=Sub", pathLength: 2 });
  const facts = factsOf(certificate);
  assert.deepEqual([facts.authority, facts.pathLength, facts.signsCertificates], [true, 2, true]);
  const mute = factsOf(authority.subordinate({ subject: "CN=Mute", signsCertificates: false }).certificate);
  assert.deepEqual([mute.pathLength, mute.signsCertificates], [undefined, false]);
});

const DAY = 86_400_000;
const FROM = Date.parse("2026-01-01T00:00:00Z");
const TO = Date.parse("2026-12-31T00:00:00Z");
const DATES = { from: FROM, to: TO };

Deno.test("validityOf() returns the dates of a certificate", () => {
  const { certificate } = createAuthority({ subject: "CN=x" })
    .issue({ subject: "CN=y", notBefore: new Date(FROM), notAfter: new Date(TO) });
  assert.deepEqual(validityOf(new X509Certificate(certificate)), DATES);
});

for (
  const [at, kind, text] of [
    [FROM - 1, "invalid", "is not valid before 2026-01-01"],
    [FROM, "valid", "is valid until 2026-12-31"],
    [TO - 7 * DAY, "valid", "is valid until 2026-12-31"],
    [TO - 7 * DAY + 1, "ending", "expires on 2026-12-31"],
    [TO, "ending", "expires on 2026-12-31"],
    [TO + 1, "invalid", "has expired on 2026-12-31"],
  ] as const
) {
  Deno.test(`a certificate ${text} (${kind}), seen at ${new Date(at).toISOString()}`, () => {
    assert.deepEqual(describeValidity(DATES, at), { kind, text });
    assert.equal(isValidAt(DATES, at), kind !== "invalid");
  });
}

Deno.test("isValidAt() treats unreadable dates as invalid", () => {
  for (const dates of [{ from: NaN, to: TO }, { from: FROM, to: NaN }]) {
    assert.equal(isValidAt(dates, FROM), false);
    assert.throws(() => describeValidity(dates, FROM), RangeError);
  }
});

const FIXTURES = new URL("../fixtures/", import.meta.url);
const text = (bits: number) => Deno.readTextFileSync(new URL(`rsa_${bits}_ca.pem`, FIXTURES));

Deno.test("usableKeyOf() returns keys whose signatures we can verify", () => {
  for (const keyType of ["rsa-2048", "ec-p256"] as const) {
    const { certificate } = createAuthority({ subject: "CN=A", keyType });
    assert(usableKeyOf(new X509Certificate(certificate)) !== undefined);
  }
  for (const bits of [5120, 8192]) assert.equal(usableKeyOf(new X509Certificate(text(bits))), undefined);
});

Deno.test("a token issuer or assertion signer with an RSA key above 4096 bits is refused with a clear error", () => {
  assert.throws(
    () => trustedIssuerOf(text(5120)),
    /the key of CN=.* signs no tokens: .* RSA with 2048 to 4096 bits/,
  );
  const signer = new X509Certificate(text(8192));
  assert.equal(mayUse(signer, { keyType: "rsa", hash: "sha256" }), false);
});

Deno.test("endsSoon() uses the given days, or the last third of a short-lived certificate", () => {
  assert.equal(endsSoon(DATES, TO - 14 * DAY, 14), false);
  assert.equal(endsSoon(DATES, TO - 14 * DAY + 1, 14), true);
  const day = { from: TO - DAY, to: TO };
  assert.equal(endsSoon(day, TO - DAY / 3, 14), false);
  assert.equal(endsSoon(day, TO - DAY / 3 + 1, 14), true);
  assert.equal(describeValidity(day, TO - DAY / 2).kind, "valid");
});
