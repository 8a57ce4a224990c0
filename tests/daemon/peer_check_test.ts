import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { certificateSubject } from "../../src/model/certificate_subject.ts";
import { checkPeer } from "../../src/daemon/peer_check.ts";
import { canonicalDn } from "../../src/model/distinguished_name.ts";
import { type Authority, createAuthority } from "../pki/authority.ts";
import * as der from "../pki/der.ts";

const NOW = Date.parse("2026-01-05T09:00:00Z");
const root = createAuthority({ subject: "CN=Root,O=Demo,C=EU" });
const middle = root.subordinate({ subject: "CN=Middle,O=Demo,C=EU" });
const lower = middle.subordinate({ subject: "CN=Lower" });
const deep = lower.subordinate({ subject: "CN=Lowest" });
const chain = [middle.certificate, deep.certificate, lower.certificate];
const oldRoot = createAuthority({ subject: "CN=Old Root,O=Demo,C=EU", version: 1 });

/** Returns the error of a chain, by default with the root as anchor; `undefined` if there is none. */
function diagnostic(
  sent: readonly string[],
  { anchors = [root.certificate], expectedDn, at = NOW }: {
    anchors?: readonly string[];
    expectedDn?: string;
    at?: number;
  } = {},
): string | undefined {
  return checkPeer(sent.map((pem) => new X509Certificate(pem)), { anchors, expectedDn, at });
}

const subject = "CN=UFTPD,O=Demo,C=EU";
const past = { notBefore: new Date("2020-01-01"), notAfter: new Date("2025-12-31") };
const future = { notBefore: new Date("2026-02-01"), notAfter: new Date("2030-12-31") };

Deno.test("checkPeer() accepts chains to an anchor", () => {
  const leaf = root.issue({ subject }).certificate;
  const alone = createAuthority({ subject, ca: false });
  const facts: [string, readonly string[], readonly string[]][] = [
    ["a version 3 certificate without extensions", [leaf], [root.certificate]],
    ["a certificate of a version 1 anchor", [oldRoot.issue({ subject }).certificate], [oldRoot.certificate]],
    ["a certificate without a subject", [
      root.issue({ subject: "", names: ["uftpd.example"] }).certificate,
    ], [root.certificate]],
    ["three intermediates, in any order", [deep.issue({ subject }).certificate, ...chain], [
      root.certificate,
    ]],
    ["a chain that ends with its root", [leaf, root.certificate], [root.certificate]],
    ["an intermediate sent with the leaf", [middle.issue({ subject }).certificate, middle.certificate], [
      root.certificate,
    ]],
    ["an intermediate that is an anchor itself", [middle.issue({ subject }).certificate], [
      middle.certificate,
    ]],
    ["a self-signed certificate that is an anchor", [alone.certificate], [alone.certificate]],
    ["the right one of two anchors with one name", [leaf], [root.impostor().certificate, root.certificate]],
    ["RSA keys", [createRsa.issue({ subject, keyType: "rsa-2048" }).certificate], [createRsa.certificate]],
  ];
  for (const [fact, sent, anchors] of facts) assert.equal(diagnostic(sent, { anchors }), undefined, fact);
});

const createRsa = createAuthority({ subject: "CN=RSA", keyType: "rsa-2048" });

Deno.test("checkPeer() refuses other chains, for both versions of certificates", () => {
  const unsigned = /no trusted authority signed the certificate of <C=EU, O=Demo, CN=UFTPD>/;
  for (const version of [1, 3] as const) {
    const facts: [string, readonly string[], RegExp][] = [
      ["expired", [root.issue({ subject, version, ...past }).certificate], /has expired on 2025-12-31/],
      ["not valid yet", [root.issue({ subject, version, ...future }).certificate], /not valid before/],
      [
        "signed by another key of the same name",
        [root.impostor().issue({ subject, version }).certificate],
        unsigned,
      ],
      ["signed by an unknown authority", [oldRoot.issue({ subject, version }).certificate], unsigned],
      ["an unknown authority's chain with our root", [
        root.impostor().issue({ subject, version }).certificate,
        root.certificate,
      ], unsigned],
      ["a chain without its intermediate", [middle.issue({ subject, version }).certificate], unsigned],
      [
        "an expired intermediate",
        (() => {
          const old = root.subordinate({ subject: "CN=Middle", ...past });
          return [old.issue({ subject, version }).certificate, old.certificate];
        })(),
        /<CN=Middle> has expired/,
      ],
      [
        "an intermediate that is not an authority",
        (() => {
          const no = root.subordinate({ subject: "CN=Middle", ca: false });
          return [no.issue({ subject, version }).certificate, no.certificate];
        })(),
        unsigned,
      ],
      [
        "a version 1 intermediate",
        (() => {
          const no = root.subordinate({ subject: "CN=Middle", version: 1 });
          return [no.issue({ subject, version }).certificate, no.certificate];
        })(),
        unsigned,
      ],
    ];
    for (const [fact, sent, expected] of facts) {
      assert.match(diagnostic(sent) ?? "accepted", expected, `${fact}, v${version}`);
    }
  }
  assert.match(diagnostic([]) ?? "accepted", /no certificate/);
  assert.match(diagnostic([root.issue({ subject }).certificate], { anchors: [] }) ?? "accepted", unsigned);
  assert.match(
    diagnostic([root.issue({ subject }).certificate], { anchors: ["x"] }) ?? "accepted",
    /cannot be checked/,
  );
});

Deno.test("checkPeer() refuses an anchor's signature if the anchor is not an authority, or has expired", () => {
  const leafAnchor = createAuthority({ subject: "CN=Leaf", ca: false });
  const oldAnchor = createAuthority({ subject: "CN=Leaf", ...past });
  for (const [anchor, expected] of [[leafAnchor, /no trusted authority/], [oldAnchor, /expired/]] as const) {
    const sent = [anchor.issue({ subject }).certificate];
    assert.match(diagnostic(sent, { anchors: [anchor.certificate] }) ?? "accepted", expected);
  }
});

Deno.test("checkPeer() checks purposes, path lengths, key usage and unknown critical extensions", () => {
  const leaf = (from: Authority, more = {}) => from.issue({ subject, ...more }).certificate;
  const critical = (id: string, value: string) =>
    der.sequence(der.objectIdentifier(id), der.boolean(true), der.octetString(Buffer.from(value, "hex")));
  const last = createAuthority({ subject: "CN=Last", pathLength: 0 });
  const below = last.subordinate({ subject: "CN=Below" });
  const mute = createAuthority({ subject: "CN=Mute", signsCertificates: false });
  const facts: [string, readonly string[], readonly string[], RegExp | undefined][] = [
    [
      "for clients",
      [leaf(root, { extendedKeyUsage: ["clientAuth"] })],
      [root.certificate],
      /not for TLS servers/,
    ],
    ["for servers", [leaf(root, { extendedKeyUsage: ["serverAuth"] })], [root.certificate], undefined],
    [
      "unknown critical extension",
      [leaf(root, { extensions: [critical("1.2.3.4", "0500")] })],
      [root.certificate],
      /demands/,
    ],
    [
      "duplicate extension",
      [
        leaf(root, { ca: false, extensions: [critical("2.5.29.19", "30030101ff")] }),
      ],
      [root.certificate],
      /demands/,
    ],
    ["pathLen 0", [leaf(last)], [last.certificate], undefined],
    ["pathLen 0 and one more", [leaf(below), below.certificate], [last.certificate], /no trusted/],
    ["an issuer whose key may not sign", [leaf(mute)], [mute.certificate], /no trusted/],
  ];
  for (const [fact, sent, anchors, expected] of facts) {
    const found = diagnostic(sent, { anchors });
    if (expected === undefined) assert.equal(found, undefined, fact);
    else assert.match(found ?? "accepted", expected, fact);
  }
});

Deno.test("checkPeer() bounds its work for cross-signed authorities of one name, and for many authorities", () => {
  const name = { subject: "CN=Same" };
  const many = Array.from({ length: 14 }, () => createAuthority(name).subordinate(name));
  const crossed = many.map(({ certificate }) => certificate);
  const leaf = many[0]?.issue({ subject }).certificate ?? "";
  assert.match(diagnostic([leaf, ...crossed]) ?? "accepted", /no trusted authority|too long/);
  const roots = Array.from({ length: 100 }, () => createAuthority(name).certificate);
  const forged = createAuthority(name).issue({ subject }).certificate;
  assert.match(diagnostic([forged], { anchors: roots }) ?? "accepted", /too long to check/);
});

Deno.test("checkPeer() verifies no signatures of unknown authorities, however many the peer sends", () => {
  const name = { subject: "CN=Same" };
  const links = [createAuthority(name)];
  while (links.length < 15) links.unshift(...links.slice(0, 1).map((last) => last.subordinate(name)));
  const sent = [...links.slice(0, 1).map((last) => last.issue({ subject }).certificate)];
  sent.push(...links.map(({ certificate }) => certificate));
  assert.match(diagnostic(sent) ?? "accepted", /no trusted authority signed/);
  const genuine = links.at(-1)?.certificate ?? "";
  assert.match(
    diagnostic(sent.slice(0, 6), { anchors: [genuine] }) ?? "accepted",
    /no trusted authority signed/,
  );
});

Deno.test("checkPeer() pins the subject as a name, not as text", () => {
  const sent = [root.issue({ subject }).certificate];
  for (const expectedDn of [subject, "cn=uftpd, o=DEMO, c=eu", "2.5.4.3=UFTPD,O=Demo,C=EU"]) {
    assert.equal(diagnostic(sent, { expectedDn }), undefined, expectedDn);
  }
  for (
    const expectedDn of ["CN=UFTPD", "C=EU,O=Demo,CN=UFTPD", "CN=UFTPD2,O=Demo,C=EU", "CN=Root,O=Demo,C=EU"]
  ) {
    assert.match(diagnostic(sent, { expectedDn }) ?? "accepted", /expected </, expectedDn);
  }
  assert.match(diagnostic(sent, { expectedDn: "nonsense" }) ?? "accepted", /expected <nonsense>/);
});

Deno.test("checkPeer() writes the subject of another certificate as a pinned name has to be", () => {
  const sent = [root.issue({ subject }).certificate];
  const [, name] =
    /certificate is for <(.*)>, expected </.exec(diagnostic(sent, { expectedDn: "CN=X" }) ?? "") ?? [];
  assert.equal(name, subject);
  assert.equal(diagnostic(sent, { expectedDn: name }), undefined);
});

Deno.test("checkPeer() checks date, anchors and name again for a chain that it has seen before", () => {
  const short = root.subordinate({ subject: "CN=Short,O=Demo,C=EU", notAfter: new Date("2026-01-31") });
  const sent = [short.issue({ subject }).certificate, short.certificate];
  const anchors = [root.certificate];
  for (let again = 0; again < 2; again++) {
    assert.equal(diagnostic(sent, { anchors }), undefined);
    assert.match(
      diagnostic(sent, { anchors, at: Date.parse("2026-02-01") }) ?? "accepted",
      /<C=EU, O=Demo, CN=Short> has expired/,
    );
    assert.match(
      diagnostic(sent, { anchors, at: Date.parse("2019-12-31") }) ?? "accepted",
      /not valid before/,
    );
    assert.match(diagnostic(sent, { anchors, expectedDn: "CN=X" }) ?? "accepted", /expected <CN=X>/);
    assert.equal(diagnostic(sent, { anchors, expectedDn: subject }), undefined);
    assert.match(diagnostic(sent, { anchors: [oldRoot.certificate] }) ?? "accepted", /no trusted authority/);
    assert.match(diagnostic(sent.slice(0, 1), { anchors }) ?? "accepted", /no trusted authority/);
  }
});

Deno.test("certificateSubject() distinguishes separators inside values from those between them", () => {
  for (
    const name of [
      subject,
      "CN=a\\,O=b,C=EU",
      "CN=a\\+OU=b,OU=x",
      "CN=line\\0aO=Demo,C=EU",
      "DC=example,DC=org",
    ]
  ) {
    const certificate = new X509Certificate(root.issue({ subject: name }).certificate);
    assert.equal(canonicalDn(certificateSubject(certificate)), canonicalDn(name), name);
  }
});
