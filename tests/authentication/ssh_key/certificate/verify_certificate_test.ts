import assert from "node:assert/strict";
import { parseAuthorities } from "../../../../src/authentication/ssh_key/authorized_keys.ts";
import { verifyCertificate } from "../../../../src/authentication/ssh_key/certificate/verify_certificate.ts";
import { readRevokedKeys } from "../../../../src/authentication/ssh_key/certificate/revoked_keys.ts";
import { certificate, certificateLine, IN_TIME, revokedList } from "./certificates.ts";

const CA = certificateLine("ca_ed25519");
const [NEW_YEAR, NEXT_YEAR] = [Date.UTC(2026, 0, 1) / 1000, Date.UTC(2027, 0, 1) / 1000];

interface Case {
  readonly what: string;
  readonly name: string;
  readonly options?: string;
  readonly now?: number;
  readonly address?: string | undefined;
  /** Principals, or the reason of the refusal. */
  readonly expected: readonly string[] | RegExp;
}

const CASES: readonly Case[] = [
  { what: "of a trusted authority", name: "by_ed25519", expected: ["ann"] },
  { what: "of another authority", name: "by_other", expected: /not among those that are trusted/ },
  { what: "in its first second", name: "by_ed25519", now: NEW_YEAR, expected: ["ann"] },
  { what: "before its first second", name: "by_ed25519", now: NEW_YEAR - 1, expected: /not valid yet/ },
  { what: "in its last second", name: "by_ed25519", now: NEXT_YEAR - 1, expected: ["ann"] },
  { what: "after its last second", name: "by_ed25519", now: NEXT_YEAR, expected: /has ended/ },
  { what: "for ever", name: "for_ever", expected: ["ann"] },
  {
    what: "for ever, where the lifetime is limited",
    name: "for_ever",
    options: "maxLifetime=30d",
    expected: /longer/,
  },
  {
    what: "of a year, where a day is allowed",
    name: "by_ed25519",
    options: "maxLifetime=24h",
    expected: /longer/,
  },
  {
    what: "of a day, where a day is allowed",
    name: "one_day",
    options: "maxLifetime=24h",
    expected: ["ann"],
  },
  {
    what: "of a day, where less is allowed",
    name: "one_day",
    options: "maxLifetime=23h",
    expected: /longer/,
  },
  { what: "with a command", name: "force_command", expected: /only one command/ },
  { what: "that asks for a PIN", name: "verify_required", expected: /PIN/ },
  { what: "with a critical option", name: "unknown_critical", expected: /critical option that is not known/ },
  { what: "with an extension", name: "unknown_extension", expected: ["ann"] },
  { what: "for this domain", name: "domain", options: "domain=EXAMPLE.org", expected: ["ann"] },
  { what: "for another domain", name: "domain", options: "domain=example.com", expected: /another domain/ },
  { what: "for no domain", name: "by_ed25519", options: "domain=example.org", expected: /for which domain/ },
  { what: "for a domain that is not required", name: "domain", expected: ["ann"] },
  { what: "from its network", name: "from_here", address: "192.0.2.9", expected: ["ann"] },
  { what: "from its IPv6 network", name: "from_here", address: "2001:db8::5", expected: ["ann"] },
  { what: "from elsewhere", name: "from_here", address: "192.0.3.9", expected: /not be used from there/ },
  { what: "from no address", name: "from_here", address: "", expected: /not be used from there/ },
  { what: "that is not in use", name: "from_here", address: undefined, expected: ["ann"] },
  {
    what: "from the authority's network",
    name: "by_ed25519",
    options: 'from="192.0.2.0/24"',
    expected: ["ann"],
  },
  {
    what: "from outside the authority's network",
    name: "by_ed25519",
    options: 'from="10.0.0.0/8"',
    expected: /from there/,
  },
  { what: "with two principals", name: "two_principals", expected: ["ann", "bob@myaccessid.org"] },
  {
    what: "with one permitted principal of two",
    name: "two_principals",
    options: 'principals="*@myaccessid.org"',
    expected: ["bob@myaccessid.org"],
  },
  {
    what: "with one excluded principal of two",
    name: "two_principals",
    options: 'principals="*,!a?n"',
    expected: ["bob@myaccessid.org"],
  },
  {
    what: "without a permitted principal",
    name: "two_principals",
    options: 'principals="root"',
    expected: /none of its principals/,
  },
];

for (const { what, name, options = "", now = IN_TIME, expected, ...rest } of CASES) {
  Deno.test(`verifyCertificate() on a certificate ${what}`, async () => {
    const { authorities, diagnostics } = await parseAuthorities(`${options} ${CA}`, "ca");
    assert.deepEqual(diagnostics, []);
    const clientAddress = "address" in rest ? rest.address : "192.0.2.1";
    const result = verifyCertificate(certificate(name), {
      authorities,
      revoked: undefined,
      now,
      clientAddress,
    });
    if (expected instanceof RegExp) {
      assert(result.kind === "refused", "it was accepted");
      assert.match(result.reason, expected);
    } else assert.deepEqual(result, { kind: "valid", principals: expected });
  });
}

Deno.test("verifyCertificate() refuses a revoked certificate", async () => {
  const { authorities } = await parseAuthorities(CA, "ca");
  const revoked = await readRevokedKeys(revokedList("id"));
  const verify = (name: string) =>
    verifyCertificate(certificate(name), { authorities, revoked, now: IN_TIME });
  assert.deepEqual(verify("by_ed25519"), { kind: "refused", reason: "it was revoked" });
  assert.deepEqual(verify("domain"), { kind: "valid", principals: ["ann"] });
});

Deno.test("verifyCertificate() refuses a certificate whose source addresses cannot be read, even if it is not in use", async () => {
  const { authorities } = await parseAuthorities(CA, "ca");
  const criticalOptions = new Map([["source-address", "192.0.2.0/24,nowhere"]]);
  for (const clientAddress of ["192.0.2.1", undefined]) {
    assert.deepEqual(
      verifyCertificate({ ...certificate("from_here"), criticalOptions }, {
        authorities,
        revoked: undefined,
        now: IN_TIME,
        clientAddress,
      }),
      { kind: "refused", reason: "its source addresses cannot be read" },
    );
  }
});
