import assert from "node:assert/strict";
import { authorityInLine, parseAuthorities } from "../../../../src/authentication/ssh_key/authorized_keys.ts";
import { certificate, certificateLine } from "./certificates.ts";

const KEY = certificateLine("ca_ed25519");
const OTHER = certificateLine("ca_other");

async function only(text: string) {
  const { authorities, diagnostics } = await parseAuthorities(text, "ssh_ca.pub");
  assert.deepEqual(diagnostics, []);
  assert.equal(authorities.size, 1);
  const [authority] = authorities.values();
  assert(authority !== undefined);
  return authority;
}

Deno.test("parseAuthorities() reads plain lines and lines with the marker of known_hosts", async () => {
  for (
    const line of [
      KEY,
      `cert-authority ${KEY}`,
      `@cert-authority ${KEY}`,
      `@cert-authority *.example.org ${KEY}`,
      `\ufeff# authorities\n\n  ${KEY}\r\n`,
    ]
  ) {
    const { publicKey, ...conditions } = await only(line);
    assert.equal(publicKey.fingerprint, certificate("by_ed25519").authority.fingerprint);
    assert.deepEqual(conditions, {
      principals: undefined,
      domain: undefined,
      maxLifetime: undefined,
      from: undefined,
    });
  }
});

Deno.test("parseAuthorities() reads the conditions of an authority, in any case, in quotes or without", async () => {
  const options =
    'cert-authority,principals="*@myaccessid.org,!root*",domain="Example.ORG",maxLifetime=24h,from="192.0.2.0/24"';
  const { principals, domain, maxLifetime, from } = await only(`${options} ${KEY}`);
  assert.deepEqual({ principals, domain, maxLifetime }, {
    principals: ["*@myaccessid.org", "!root*"],
    domain: "example.org",
    maxLifetime: 86_400,
  });
  assert.equal(from?.length, 1);
  assert.equal((await only(`MAXLIFETIME="12h" ${KEY}`)).maxLifetime, 43_200);
});

const BAD: [line: string, expected: RegExp][] = [
  ["hello", /no key type|expected options/],
  ["ssh-ed25519", /not in base64/],
  ["ssh-dss AAAA", /expected options if any, then a key type/],
  [certificateLine("domain"), /expected options if any, then a key type/],
  [`command="x" ${KEY}`, /unknown option, expected cert-authority, principals/],
  [`principals ${KEY}`, /option principals: expected names or patterns/],
  [`principals="" ${KEY}`, /option principals: expected names or patterns/],
  [`cert-authority="yes" ${KEY}`, /option cert-authority: expected no value/],
  [`maxLifetime=soon ${KEY}`, /option maxlifetime: expected a time such as 24h/],
  [`from="a/b" ${KEY}`, /option from: expected addresses/],
  [`domain=a,domain=b ${KEY}`, /option domain: given twice/],
  [`domain="a"b ${KEY}`, /options cannot be read/],
  [`domain=a,,maxLifetime=1h ${KEY}`, /options cannot be read/],
  [`@cert-authority`, /no key type/],
  ["x".repeat(20_000), /too long/],
];
for (const [line, expected] of BAD) {
  Deno.test(`parseAuthorities() refuses the line ${line.slice(0, 40)}`, async () => {
    const { authorities, diagnostics } = await parseAuthorities(`# first\n${line}\n${OTHER}\n`, "ssh_ca.pub");
    assert.equal(authorities.size, 1);
    const [diagnostic] = diagnostics;
    assert.equal(diagnostics.length, 1);
    assert.deepEqual([diagnostic?.severity, diagnostic?.file, diagnostic?.line], ["error", "ssh_ca.pub", 2]);
    assert.match(diagnostic?.expected ?? "", expected);
    assert(!diagnostic?.expected.includes("AAAAC3"), "nothing of the line is repeated");
  });
}

Deno.test("parseAuthorities() uses the first of two lines of an authority, and reports the second", async () => {
  const { authorities, diagnostics } = await parseAuthorities(`domain=a ${KEY}\n${KEY}\n`, "ssh_ca.pub");
  assert.deepEqual([...authorities.values()].map(({ domain }) => domain), ["a"]);
  assert.deepEqual(diagnostics.map(({ line }) => line), [2]);
});

Deno.test("authorityInLine() finds an authority in a line of a user's keys, if the line is marked and not too long", () => {
  const line = (comment: string) => `cert-authority ${KEY} ${comment}`;
  assert.equal(
    authorityInLine(line("ann"))?.publicKey.fingerprint,
    certificate("by_ed25519").authority.fingerprint,
  );
  assert.equal(authorityInLine(KEY), undefined);
  assert.equal(authorityInLine(line("a".repeat(20_000))), undefined);
});
