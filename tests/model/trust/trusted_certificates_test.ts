import assert from "node:assert/strict";
import { describePermission, sortTrust } from "../../../src/model/trust/trusted_certificates.ts";
import { createAuthority } from "../../pki/authority.ts";

const authority = createAuthority({ subject: "CN=CA" });
const lower = authority.subordinate({ subject: "CN=Lower" });
const entity = (extendedKeyUsage?: readonly ("clientAuth" | "serverAuth")[]) =>
  createAuthority({ subject: "CN=Daemon", ca: false, ...(extendedKeyUsage && { extendedKeyUsage }) });

const PERMITS: readonly (readonly [string, string, string])[] = [
  ["an authority", authority.certificate, "issues certificates of servers and clients"],
  ["an intermediate", lower.certificate, "issues certificates of servers and clients (intermediate)"],
  ["an end entity", entity().certificate, "itself only, of servers and clients"],
  ["a server", entity(["serverAuth"]).certificate, "itself only, of servers"],
  ["a client", entity(["clientAuth"]).certificate, "itself only, of clients"],
  [
    "neither",
    createAuthority({ subject: "CN=Nobody", ca: false, extendedKeyUsage: [] }).certificate,
    "itself only, of neither servers nor clients",
  ],
];
for (const [what, certificate, expected] of PERMITS) {
  Deno.test(`describePermission() of ${what} is "${expected}"`, () => {
    const { issuers, entities } = sortTrust([certificate]);
    const [trusted] = [...issuers, ...entities];
    assert(trusted !== undefined);
    assert.equal(describePermission(trusted), expected);
  });
}

Deno.test("sortTrust() separates issuers from certificates trusted only for themselves", () => {
  const { issuers, entities } = sortTrust([authority, lower, entity()].map(({ certificate }) => certificate));
  assert.deepEqual(issuers.map(({ certificate }) => certificate.subject), ["CN=CA", "CN=Lower"]);
  assert.deepEqual(entities.map(({ certificate }) => certificate.subject), ["CN=Daemon"]);
});
