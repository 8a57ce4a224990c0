import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import process from "node:process";
import fc from "fast-check";
import { findPath } from "../../../src/model/trust/certificate_path.ts";
import { readRevocationList, type Revocation } from "../../../src/model/trust/revocation.ts";
import { createAuthority } from "../../pki/authority.ts";
import * as der from "../../pki/der.ts";

const NOW = Date.parse("2026-01-05T09:00:00Z");
const root = createAuthority({ subject: "CN=Root,O=Demo,C=EU" });
const middle = root.subordinate({ subject: "CN=Middle,O=Demo,C=EU" });
const leaf = root.issue({ subject: "CN=Ann" }).certificate;
const below = middle.issue({ subject: "CN=Ben" }).certificate;
const old = { thisUpdate: new Date("2025-01-01"), nextUpdate: new Date("2025-12-31") };

function base64(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s+/g, "");
}

/** Returns the error of a certificate with these revocation lists; `undefined` if it is valid. */
function diagnostic(
  sent: readonly string[],
  mode: Revocation["mode"],
  ...lists: readonly string[]
): string | undefined {
  const way = findPath(sent.map((pem) => new X509Certificate(pem)), {
    anchors: [root.certificate],
    purpose: "clientAuth",
    revocation: { mode, lists: lists.map(base64) },
    at: NOW,
  });
  return typeof way === "string" ? way : undefined;
}

const REVOKED = /the certificate of <[^>]+> was revoked by its authority/;
const UNKNOWN = /the certificate of <[^>]+> cannot be held against a valid revocation list of its authority/;

const FACTS: readonly [
  fact: string,
  sent: readonly string[],
  lists: readonly string[],
  ifValid: RegExp | undefined,
  require: RegExp | undefined,
][] = [
  ["a certificate that is on the list", [leaf], [root.revoke([below, leaf])], REVOKED, REVOKED],
  ["a certificate that is not on the list", [leaf], [root.revoke([below])], undefined, undefined],
  ["an empty list", [leaf], [root.revoke([])], undefined, undefined],
  ["no list", [leaf], [], undefined, UNKNOWN],
  ["a list that is out of date", [leaf], [root.revoke([leaf], old)], undefined, UNKNOWN],
  [
    "a list that is not valid yet",
    [leaf],
    [root.revoke([leaf], { thisUpdate: new Date("2027-01-01") })],
    undefined,
    UNKNOWN,
  ],
  ["a forged list", [leaf], [root.impostor().revoke([leaf])], undefined, UNKNOWN],
  [
    "an older list beside a newer one",
    [leaf],
    [root.revoke([leaf], old), root.revoke([])],
    undefined,
    undefined,
  ],
  ["two lists, one of which names it", [leaf], [root.revoke([]), root.revoke([leaf])], REVOKED, REVOKED],
  [
    "a revoked intermediate",
    [below, middle.certificate],
    [root.revoke([middle.certificate]), middle.revoke([])],
    REVOKED,
    REVOKED,
  ],
  [
    "a certificate revoked by an intermediate",
    [below, middle.certificate],
    [root.revoke([]), middle.revoke([below])],
    REVOKED,
    REVOKED,
  ],
  ["an intermediate without a list", [below, middle.certificate], [root.revoke([])], undefined, UNKNOWN],
];

for (const [fact, sent, lists, ifValid, require] of FACTS) {
  for (const [mode, expected] of [["IF_VALID", ifValid], ["REQUIRE", require]] as const) {
    Deno.test(`findPath() with ${mode}, ${fact}: ${expected === undefined ? "a path" : "no path"}`, () => {
      const found = diagnostic(sent, mode, ...lists);
      if (expected === undefined) assert.equal(found, undefined);
      else assert.match(found ?? "", expected);
    });
  }
}

Deno.test("findPath() with REQUIRE accepts no list of an authority whose key usage lacks cRLSign", () => {
  const mute = root.subordinate({ subject: "CN=Mute,O=Demo,C=EU", signsLists: false });
  const [ann, ben] = [mute.issue({ subject: "CN=Ann" }), mute.issue({ subject: "CN=Ben" })];
  const lists = [root.revoke([]), mute.revoke([ann.certificate])];
  const sent = [ben.certificate, mute.certificate];
  assert.match(diagnostic(sent, "REQUIRE", ...lists) ?? "", UNKNOWN);
  assert.equal(diagnostic(sent, "IF_VALID", ...lists), undefined);
  assert.match(diagnostic([ann.certificate, mute.certificate], "IF_VALID", ...lists) ?? "", REVOKED);
});

Deno.test("findPath() accepts lists signed with RSA and Ed25519", () => {
  for (const keyType of ["rsa-2048", "ed25519"] as const) {
    const authority = createAuthority({ subject: "CN=Other", keyType });
    const own = authority.issue({ subject: "CN=Ann" }).certificate;
    const way = findPath([new X509Certificate(own)], {
      anchors: [authority.certificate],
      purpose: "serverAuth",
      revocation: { mode: "IF_VALID", lists: [base64(authority.revoke([own]))] },
      at: NOW,
    });
    assert.match(String(way), REVOKED, keyType);
  }
});

Deno.test("readRevocationList() refuses lists that cover only some certificates", () => {
  const partial = der.sequence(
    der.objectIdentifier("2.5.29.28"),
    der.boolean(true),
    der.octetString(der.sequence()),
  );
  const list = Uint8Array.fromBase64(base64(root.revoke([leaf], { extensions: [partial] })));
  assert.throws(() => readRevocationList(list), /not cover exactly the certificates/);
});

Deno.test("readRevocationList() reads a damaged list or throws a TypeError", () => {
  const whole = Uint8Array.fromBase64(base64(root.revoke([leaf, below])));
  fc.assert(fc.property(fc.nat(whole.length - 1), fc.nat(255), fc.nat(whole.length), (at, byte, length) => {
    const damaged = whole.with(at, byte).subarray(0, length);
    try {
      readRevocationList(damaged);
    } catch (error) {
      assert(error instanceof TypeError);
    }
  }));
});

const WHEN = new Date("2025-06-01");
const REASON = der.sequence(der.objectIdentifier("2.5.29.21"), der.octetString(Buffer.of(0x0a, 1, 1)));

/** Returns an unsigned list of certificates by serial number, with these extensions of each entry. */
function listOf(serials: readonly Uint8Array[], ...extensions: readonly Uint8Array[]): Buffer {
  return listOfEntries(Buffer.concat(serials.map((serial) => entryOf(serial, ...extensions))));
}

function entryOf(serial: Uint8Array, ...extensions: readonly Uint8Array[]): Buffer {
  const more = extensions.length > 0 ? [der.sequence(...extensions)] : [];
  return der.sequence(der.integer(serial), der.time(WHEN), ...more);
}

function listOfEntries(entries: Buffer, from = der.time(WHEN)): Buffer {
  const all = der.sequence(entries);
  const nothing = der.sequence();
  const content = der.sequence(nothing, nothing, from, der.time(WHEN), all);
  return der.sequence(content, nothing, der.bitString(Buffer.alloc(64)));
}

Deno.test("readRevocationList() refuses a list without a readable start", () => {
  const time = der.time(WHEN);
  const text = Buffer.from(time).fill(0x0c, 0, 1);
  for (
    const from of [text, Buffer.from(time).fill("99", 4, 6), Buffer.from(time).fill("z", time.length - 1)]
  ) {
    assert.throws(() => readRevocationList(listOfEntries(Buffer.alloc(0), from)), /no revocation list/);
  }
  readRevocationList(listOfEntries(Buffer.alloc(0), time));
});

Deno.test("readRevocationList() finds serial numbers of any length, repeatedly", () => {
  const { serials } = readRevocationList(
    listOf([Buffer.of(1), Buffer.of(0x80), Buffer.of(1, 0), Buffer.alloc(20, 0xff)], REASON),
  );
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(
      ["01", "80", "0100", "ff".repeat(20)].map((serial) => serials.has(serial)),
      [true, true, true, true],
    );
    assert.deepEqual(["02", "", "00", "0001", "ff", "80ff"].filter((serial) => serials.has(serial)), []);
  }
});

Deno.test("readRevocationList() refuses lists with entries of other authorities, at any position", () => {
  const issuer = der.sequence(der.objectIdentifier("2.5.29.29"), der.boolean(true), der.octetString(REASON));
  assert.throws(() => readRevocationList(listOf([Buffer.of(1)], REASON, issuer)), /other authorities/);
});

Deno.test("readRevocationList() uses less than 100 ms of processor time to read and search 100,000 entries", () => {
  const serial = (i: number) => Buffer.from(i.toString().padStart(8, "0"));
  const entry = entryOf(serial(0), REASON);
  const entries = Buffer.alloc(100_000 * entry.length);
  for (let i = 0; i < 100_000; i++) {
    entry.copy(entries, i * entry.length);
    serial(i).copy(entries, i * entry.length + entry.indexOf(serial(0)));
  }
  const list = listOfEntries(entries);
  const times = 3;
  const before = process.threadCpuUsage();
  for (let time = 0; time < times; time++) {
    const read = readRevocationList(list).serials;
    assert(read.has(serial(99_999).toString("hex")));
    assert(!read.has(serial(100_000).toString("hex")));
  }
  const { user, system } = process.threadCpuUsage(before);
  const ms = (user + system) / 1000 / times;

  assert(ms < 100, `took ${ms} ms`);
});
