import assert from "node:assert/strict";
import type { CertificateStore } from "../../src/authentication/authenticator.ts";
import type { UserCertificate } from "../../src/authentication/ssh_key/certificate/user_certificate.ts";
import { UnusableKey } from "../../src/authentication/ssh_key/public_key.ts";
import type { Call } from "../../src/resource/call.ts";
import { forgetCertificate, uploadCertificate } from "../../src/resource/ssh_certificate.ts";
import { certificate } from "../authentication/ssh_key/certificate/certificates.ts";
import { call } from "./sample_call.ts";

const CERTIFICATE = certificate("by_ed25519");

function desk(desk: Partial<CertificateStore>): CertificateStore {
  return {
    upload: () => assert.fail("nothing is shown"),
    forget: () => assert.fail("nothing is forgotten"),
    simulate: () => assert.fail("nothing is foreseen"),
    ...desk,
  };
}
const taking = (certificate: UserCertificate) =>
  desk({ upload: () => Promise.resolve({ kind: "stored", certificate, principals: ["ann"] }) });
const refusing = (reason: string) => desk({ upload: () => Promise.resolve({ kind: "refused", reason }) });

function parts(...stores: readonly CertificateStore[]) {
  const counted: string[] = [];
  return {
    counted,
    stores,
    admit: () => ({
      succeeded: () => void counted.push("succeeded"),
      failed: () => void counted.push("failed"),
      undecided: () => void counted.push("undecided"),
    }),
  };
}

function showing(query = ""): Call {
  const base = call();
  const body = new TextEncoder().encode(CERTIFICATE.line);
  return { ...base, query: new URLSearchParams(query), request: { ...base.request, method: "PUT", body } };
}

const TIMES: readonly (readonly [after: number, before: number, shown: readonly (string | undefined)[]])[] = [
  [0, Infinity, ["1970-01-01T00:00:00.000Z", undefined]],
  [1_767_604_500, 1_767_608_100, ["2026-01-05T09:15:00.000Z", "2026-01-05T10:15:00.000Z"]],
  [0, 8.64e12, ["1970-01-01T00:00:00.000Z", "+275760-09-13T00:00:00.000Z"]],
];
for (const [validAfter, validBefore, shown] of TIMES) {
  Deno.test(`uploadCertificate() reports a certificate from ${validAfter} to ${validBefore} s`, async () => {
    const asked = parts(taking({ ...CERTIFICATE, validAfter, validBefore }));
    const { status, body } = await uploadCertificate(showing(), asked);
    const told = JSON.parse(String(body));
    assert.deepEqual([status, told.principals, told.keyId], [200, ["ann"], CERTIFICATE.keyId]);
    assert.deepEqual([told.validAfter, told.validBefore], shown);
    assert.match(told.key, /^SHA256:[\w+/]{43}$/);
    assert.deepEqual(asked.counted, ["succeeded"]);
  });
}

Deno.test("uploadCertificate() tries each authenticator, and reports why the last one refused", async () => {
  const second = await uploadCertificate(showing(), parts(refusing("no"), taking(CERTIFICATE)));
  assert.equal(second.status, 200);
  const asked = parts(refusing("first"), refusing("last"));
  await assert.rejects(
    uploadCertificate(showing(), asked),
    (error: Error) =>
      "code" in error && error.code === "ERR_CERTIFICATE_REFUSED" && /last/.test(error.message),
  );
  assert.deepEqual(asked.counted, ["failed"]);
});

Deno.test("uploadCertificate() names the user whose own authorities count", async () => {
  const owners: unknown[] = [];
  const noting = desk({
    upload: (_line, owner) => {
      owners.push(owner?.account);
      return Promise.resolve({ kind: "stored", certificate: CERTIFICATE, principals: ["ann"] });
    },
  });
  await uploadCertificate(showing(), parts(noting));
  await uploadCertificate(showing("user=ben"), parts(noting));
  assert.deepEqual(owners, [undefined, "ben"]);
});

Deno.test("forgetCertificate() makes every authenticator forget a certificate", async () => {
  const forgetting = (was: boolean) => desk({ forget: () => Promise.resolve(was) });
  for (const stores of [[true, false], [false, true]]) {
    const { status, body } = await forgetCertificate(showing(), parts(...stores.map(forgetting)));
    assert.deepEqual([status, body], [204, null]);
  }
  await assert.rejects(forgetCertificate(showing(), parts(forgetting(false))), { code: "ERR_NOT_FOUND" });
  const unreadable = desk({ forget: () => Promise.reject(new UnusableKey("no certificate")) });
  await assert.rejects(forgetCertificate(showing(), parts(unreadable)), { code: "ERR_CERTIFICATE_REFUSED" });
});
