import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { findPath } from "../../../src/model/trust/certificate_path.ts";
import { createAuthority } from "../../pki/authority.ts";
import * as der from "../../pki/der.ts";

const AT = Date.UTC(2027, 0, 1);
const root = createAuthority({ subject: "CN=Root" });
const lower = root.subordinate({ subject: "CN=Lower", pathLength: 0 });
const lowest = lower.subordinate({ subject: "CN=Lowest" });
const subject = "CN=Leaf,O=Site";

/** Returns an unknown extension. */
const unheardOf = (critical: boolean) =>
  der.sequence(
    der.objectIdentifier("1.3.6.1.4.1.99999.1"),
    ...(critical ? [der.boolean(true)] : []),
    der.octetString(Uint8Array.of(0x05, 0x00)),
  );

/** Returns the names on the path, or the reason why there is no path. */
function path(shown: readonly string[], anchors: readonly string[] = [root.certificate]): string[] | string {
  const way = findPath(shown.map((pem) => new X509Certificate(pem)), {
    anchors,
    purpose: "clientAuth",
    at: AT,
  });
  return typeof way === "string"
    ? way
    : way.map(({ certificate }) => certificate.subject.replaceAll("\n", ","));
}

const WAYS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["of the anchor", [root.issue({ subject }).certificate], ["O=Site,CN=Leaf", "CN=Root"]],
  ["behind an intermediate", [lower.issue({ subject }).certificate, lower.certificate], [
    "O=Site,CN=Leaf",
    "CN=Lower",
    "CN=Root",
  ]],
  ["with an extension that is not critical", [
    root.issue({ subject, extensions: [unheardOf(false)] }).certificate,
  ], [
    "O=Site,CN=Leaf",
    "CN=Root",
  ]],
];
for (const [what, shown, names] of WAYS) {
  Deno.test(`findPath() finds the path of a certificate ${what}`, () => assert.deepEqual(path(shown), names));
}

const NONE: readonly (readonly [string, readonly string[], RegExp])[] = [
  ["no certificate", [], /^no certificate was shown$/],
  [
    "an unknown critical extension",
    [root.issue({ subject, extensions: [unheardOf(true)] }).certificate],
    /^the certificate of <?O?.*Leaf.* makes critical demands that are not evaluated$/,
  ],
  [
    "an unknown critical extension of an intermediate",
    (({ certificate, issue }) => [issue({ subject }).certificate, certificate])(
      root.subordinate({ subject: "CN=Odd", extensions: [unheardOf(true)] }),
    ),
    /Odd.* makes critical demands that are not evaluated$/,
  ],
  [
    "more intermediates than the first permits",
    [lowest.issue({ subject }).certificate, lowest.certificate, lower.certificate],
    /^no trusted authority signed the certificate of /,
  ],
  [
    "a missing intermediate",
    [lower.issue({ subject }).certificate],
    /^no trusted authority signed .*CN=Lower/,
  ],
  [
    "another purpose",
    [root.issue({ subject, extendedKeyUsage: ["serverAuth"] }).certificate],
    /is not for TLS clients$/,
  ],
  [
    "an expired certificate",
    [root.issue({ subject, notAfter: new Date(AT - 1) }).certificate],
    /Leaf.* expired/,
  ],
  [
    "an impostor's signature",
    [root.impostor().issue({ subject }).certificate],
    /^no trusted authority signed/,
  ],
];
for (const [what, shown, expected] of NONE) {
  Deno.test(`findPath() finds no path with ${what}, and reports why`, () => {
    const diagnostic = path(shown);
    assert.match(typeof diagnostic === "string" ? diagnostic : `found ${diagnostic}`, expected);
  });
}

Deno.test("findPath() trusts a certificate that may not issue, but nothing that it issued", () => {
  const entity = createAuthority({ subject: "CN=Daemon", ca: false });
  assert.deepEqual(path([entity.certificate], [entity.certificate]), ["CN=Daemon"]);
  assert.equal(typeof path([entity.issue({ subject }).certificate], [entity.certificate]), "string");
});

Deno.test("findPath() matches names and keys together, and visits each certificate once", () => {
  const leaf = lower.issue({ subject }).certificate;
  const diagnostic = path([leaf], [lower.renewed({ subject: "CN=Other", pathLength: undefined })]);
  assert.match(String(diagnostic), /^no trusted authority signed/);

  const expired = root.subordinate({ subject: "CN=Old", notAfter: new Date(AT - 1) });
  const renewed = Array.from({ length: 4 }, () => expired.renewed({ notAfter: new Date(AT + 1) }));
  const shown = [expired.issue({ subject }).certificate, expired.certificate, ...renewed];
  assert.match(String(path(shown)), /^no trusted authority signed/, "not too many signatures");
});
