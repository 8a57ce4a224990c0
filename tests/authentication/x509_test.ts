import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createPrivateKey, sign, X509Certificate } from "node:crypto";
import fc from "fast-check";
import type { AuthenticationResult } from "../../src/authentication/authenticator.ts";
import { parseConsignor, x509, type X509Options } from "../../src/authentication/x509.ts";
import type { Credentials } from "../../src/model/credentials.ts";
import { ANONYMOUS_DN, type Identity } from "../../src/model/identity.ts";
import { certificateFacts } from "../../src/model/trust/certificate_facts.ts";
import { referenceOf } from "../../src/model/trust/revocation.ts";
import { createAuthority } from "../pki/authority.ts";
import { testAuthenticator } from "./conformance.ts";
import { basic, bearer, NO_CREDENTIALS } from "./sample_credentials.ts";
import { processorTime } from "../model/processor_time.ts";

const NOW = Date.UTC(2026, 5, 1);
const SERVER = "CN=auth.site-a.example,O=Site-A,C=DE";
const ANN = "CN=Ann Example,O=Site-A,C=DE";
const AUTHORITY = createAuthority({ subject: "CN=Test CA" });
const GATEWAY = AUTHORITY.issue({ subject: "CN=gateway", keyType: "rsa-2048" });
const OTHER = AUTHORITY.issue({ subject: "CN=gateway", keyType: "rsa-2048" });

const DIRECT: X509Options = {
  name: "SUBJECT",
  gateway: undefined,
  serverName: () => SERVER,
  clock: () => NOW,
  clientTrust: () => undefined,
  derivedLifetime: undefined,
};
const BEHIND: X509Options = { ...DIRECT, gateway: { certificate: GATEWAY.certificate } };

function withCertificate(subject: string): Credentials {
  const pem = AUTHORITY.issue({ subject }).certificate;
  return { ...NO_CREDENTIALS, certificate: { subject, pem, path: "" } };
}

/** Returns the header as a gateway makes it. */
function consignorOf(dn: string, key = GATEWAY.key): string {
  const digest = createHash("sha1").update(dn, "utf8").digest();
  return `DN="${dn}";DSIG=${sign("sha1", digest, createPrivateKey(key)).toString("base64")}`;
}

function withConsignor(consignor: string): Credentials {
  return { ...NO_CREDENTIALS, consignor };
}

function ask(options: X509Options, credentials: Credentials): Promise<AuthenticationResult> {
  return x509(options).authenticate(credentials, new AbortController().signal);
}

const FOREIGN = { "a password": basic("ann", "sesame"), "a token": bearer("abc") };

const LOOKALIKE = { subject: "CN=Ann\u200b", pem: AUTHORITY.issue({ subject: ANN }).certificate, path: "" };

testAuthenticator({
  name: "x509() without gateway",
  create: () => x509(DIRECT),
  method: "X509",
  good: withCertificate(ANN),
  bad: {
    "the server's own name": withCertificate(SERVER),
    "the anonymous name": withCertificate(ANONYMOUS_DN),
    "a name that looks like another": { ...NO_CREDENTIALS, certificate: LOOKALIKE },
    "an unusable certificate": { ...NO_CREDENTIALS, unusableCertificate: "version 1" },
  },
  foreign: { ...FOREIGN, "a consignor": withConsignor(consignorOf(ANN)) },
});

testAuthenticator({
  name: "x509() behind a gateway",
  create: () => x509(BEHIND),
  method: "X509",
  good: withConsignor(consignorOf(ANN)),
  bad: {
    "a signature by another key": withConsignor(consignorOf(ANN, OTHER.key)),
    "a signature over another name": withConsignor(consignorOf("CN=Bob").replace("Bob", "Ann")),
    "the server's own name": withConsignor(consignorOf(SERVER)),
    "an invalid name": withConsignor(consignorOf("ann")),
    "a consignor without signature": withConsignor(`DN="${ANN}"`),
    "a consignor with an empty signature": withConsignor(`DN="${ANN}";DSIG=`),
    "a signature of one byte": withConsignor(`DN="${ANN}";DSIG=AA==`),
  },
  foreign: {
    ...FOREIGN,
    "the client's certificate, which is the gateway's": withCertificate(ANN),
    "an empty consignor": withConsignor(""),
  },
});

Deno.test("x509() reports a gateway's certificate as unusable: out of date, without an RSA key, or with one too large", async () => {
  const large = new URL("../model/fixtures/rsa_5120_host.", import.meta.url);
  const gateways = [
    AUTHORITY.issue({ subject: "CN=gateway", keyType: "rsa-2048", notAfter: new Date(NOW - 1) }),
    AUTHORITY.issue({ subject: "CN=gateway" }),
    {
      certificate: await Deno.readTextFile(`${large.pathname}pem`),
      key: await Deno.readTextFile(`${large.pathname}key`),
    },
  ];
  for (const { certificate, key } of gateways) {
    const gateway = { certificate };
    const result = await ask({ ...BEHIND, gateway }, withConsignor(consignorOf(ANN, key)));
    assert.match(
      result.kind === "refused" ? result.reason : "",
      /^the gateway's certificate vouches for nobody, expected one .* RSA key of at most 4096 bits$/,
    );
  }
  const other = await ask(BEHIND, withConsignor(consignorOf(ANN, OTHER.key)));
  assert.deepEqual(other, { kind: "refused", reason: "the consignor is not signed by the gateway" });
});

Deno.test("x509() reports which setting of the gateway is missing, and why a certificate is unusable", async () => {
  const unsigned = await ask(BEHIND, withConsignor(`DN="${ANN}"`));
  assert.match(unsigned.kind === "refused" ? unsigned.reason : "", /gateway\.signConsignorToken=true/);
  assert.deepEqual(await ask(DIRECT, { ...NO_CREDENTIALS, unusableCertificate: "version 1" }), {
    kind: "refused",
    reason: "version 1",
  });
});

Deno.test("x509() reads names with quotes and backslashes as the gateway writes them", async () => {
  for (
    const dn of [
      'CN=A\\"b\\",O=x',
      "CN=a\\,b,C=DE",
      'CN="quoted, value",C=DE',
      "CN=Müller,C=DE",
      'CN=x\\"\\;DSIG\\=y,C=DE',
    ]
  ) {
    const result = await ask(BEHIND, withConsignor(consignorOf(dn)));
    assert.ok(result.kind === "accepted", dn);
    assert.equal(result.identity.dn, dn);
  }
});

Deno.test("x509() refuses consignors while the gateway's certificate is unknown or out of date", async () => {
  const header = withConsignor(consignorOf(ANN));
  assert.equal((await ask({ ...DIRECT, gateway: { certificate: undefined } }, header)).kind, "refused");
  const { notBefore, notAfter } = { notBefore: Date.UTC(2019, 0, 1), notAfter: Date.UTC(2050, 0, 1) };
  for (const now of [notBefore, notAfter]) {
    assert.equal((await ask({ ...BEHIND, clock: () => now }, header)).kind, "refused");
  }
});

Deno.test("x509() refuses a gateway whose key is not RSA", async () => {
  const gateway = AUTHORITY.issue({ subject: "CN=gateway" });
  const options = { ...DIRECT, gateway: { certificate: gateway.certificate } };
  assert.equal((await ask(options, withConsignor(consignorOf(ANN, gateway.key)))).kind, "refused");
});

Deno.test("parseConsignor() reads both parts in either order, and requires both", () => {
  assert.deepEqual(parseConsignor('DN="CN=x";DSIG=QUJD'), { dn: "CN=x", signature: "QUJD" });
  assert.deepEqual(parseConsignor('DSIG=QUI=; DN="CN=x"'), { dn: "CN=x", signature: "QUI=" });
  const bad = [
    "DN=CN=x;DSIG=QUJD",
    'DN="";DSIG=QUJD',
    'DN="CN=x"',
    "DSIG=QUJD",
    'DN="CN=x";DSIG=QU JD',
    'DN="CN=x";DSIG=%%',
    'DN="CN=x" DSIG=QUJD',
    `DN="CN=${"x".repeat(8192)}";DSIG=QUJD`,
  ];
  for (const header of bad) assert.equal(parseConsignor(header), undefined, header);
});

Deno.test("parseConsignor() returns the parts of any consignor, and is quick for any header", async () => {
  const dn = fc.string({ minLength: 1, maxLength: 200 }).filter((text) => !text.includes('";'));
  fc.assert(fc.property(dn, fc.uint8Array({ minLength: 1 }), (name, bytes) => {
    const signature = Buffer.from(bytes).toString("base64");
    assert.deepEqual(parseConsignor(`DN="${name}";DSIG=${signature}`), { dn: name, signature });
  }));
  const took = await processorTime(() => {
    for (const piece of ['";DSIG=', '" ;', 'DN="', "=", "A"]) {
      parseConsignor(`DN="${piece.repeat(8000 / piece.length)}`);
    }
  });
  assert.ok(took < 500, `${took} ms`);
});

Deno.test("x509() knows the certificate of a login at an earlier release until it expires, is revoked, or its authority is removed", async () => {
  const notAfter = new Date(NOW + 60_000);
  const [own, others] = [AUTHORITY.issue({ subject: ANN, notAfter }), AUTHORITY.issue({ subject: ANN })];
  const listOf = (authority: typeof AUTHORITY, certificates: readonly string[], more?: object) =>
    authority.revoke(certificates, more).replaceAll(/-----.*-----|\s/g, "");
  const { issuer, serial } = referenceOf(new X509Certificate(own.certificate));
  const credential = `${issuer}.${serial}.${Math.floor(notAfter.getTime() / 1000)}`;
  const { signal } = new AbortController();
  const past = { nextUpdate: new Date(NOW - 1) };
  const stranger = createAuthority({ subject: "CN=Another CA" });
  const cases: [what: string, kind: string, options: Partial<X509Options>][] = [
    ["no list", "cannot tell", {}],
    ["expired", "gone", { clock: () => NOW + 61_000 }],
    ["in its last second", "cannot tell", { clock: () => NOW + 60_000 }],
    ["revoked", "gone", revoking("IF_VALID", listOf(AUTHORITY, [own.certificate]))],
    ["another is revoked", "cannot tell", revoking("REQUIRE", listOf(AUTHORITY, [others.certificate]))],
    ["another authority's list", "cannot tell", revoking("IF_VALID", listOf(stranger, [own.certificate]))],
    ["no list of its authority", "gone", revoking("REQUIRE", listOf(stranger, []))],
    [
      "a list that has ended",
      "cannot tell",
      revoking("IF_VALID", listOf(AUTHORITY, [own.certificate], past)),
    ],
    ["a list that has ended where one is required", "gone", revoking("REQUIRE", listOf(AUTHORITY, [], past))],
  ];
  for (const [what, kind, options] of cases) {
    const method = x509({ ...DIRECT, ...options });
    const accountStatus = await method.accountStatusOf?.({ dn: ANN, credential }, signal);
    assert.equal(accountStatus?.kind, kind, what);
  }
  for (const [what, kind, anchors] of ANCHORS) {
    const method = x509({ ...DIRECT, clientTrust: () => ({ anchors }) });
    const status = (login: Partial<Identity>) =>
      method.accountStatusOf?.({ dn: ANN, credential: login.credential }, signal);
    assert.equal((await status({ credential: `${credential}.${KEY_DIGEST}` }))?.kind, kind, what);
    assert.equal((await status({ credential }))?.kind, "cannot tell", "an unknown authority");
  }
  const unreadable = await x509(DIRECT).accountStatusOf?.({ dn: ANN, credential: "unreadable" }, signal);
  assert.equal(unreadable?.kind, "gone");
});

const KEY_DIGEST = certificateFacts(new X509Certificate(AUTHORITY.certificate)).keyDigest;
const STRANGER = createAuthority({ subject: "CN=Test CA" });
const ANCHORS: readonly (readonly [what: string, kind: string, anchors: readonly string[]])[] = [
  ["its authority", "cannot tell", [STRANGER.certificate, AUTHORITY.certificate]],
  ["another of the same name", "gone", [STRANGER.certificate]],
  ["none", "gone", []],
];

function revoking(mode: "IF_VALID" | "REQUIRE", list: string): Partial<X509Options> {
  const revocation = { mode, lists: [list] };
  return { clientTrust: () => ({ anchors: [AUTHORITY.certificate], revocation }) };
}
