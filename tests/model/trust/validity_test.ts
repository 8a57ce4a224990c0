import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { describeValidity, isValidAt, validityOf } from "../../../src/model/trust/validity.ts";
import { createAuthority } from "../../pki/authority.ts";

const DAY = 86_400_000;
const FROM = Date.parse("2026-01-01T00:00:00Z");
const TO = Date.parse("2026-12-31T00:00:00Z");
const DATES = { from: FROM, to: TO };

Deno.test("validityOf() tells the dates of a certificate", () => {
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

Deno.test("dates that cannot be read are never valid", () => {
  for (const dates of [{ from: NaN, to: TO }, { from: FROM, to: NaN }]) {
    assert.equal(isValidAt(dates, FROM), false);
    assert.throws(() => describeValidity(dates, FROM), RangeError);
  }
});
