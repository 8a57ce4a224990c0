import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import {
  readRevokedKeys,
  SerialRanges,
} from "../../../../src/authentication/ssh_key/certificate/revoked_keys.ts";
import { UnusableKey } from "../../../../src/authentication/ssh_key/public_key.ts";
import { publicLine, wireString } from "../user_keys.ts";
import { certificate, certificateLine, revokedList } from "./certificates.ts";

const TABLE: [list: string, revoked: string[], left: string[]][] = [
  ["key", ["by_ed25519", "by_rsa3072"], ["of_ecdsa256"]],
  ["sha1", ["by_ed25519", "by_other"], ["of_rsa2048"]],
  ["sha256", ["by_ed25519"], ["of_ecdsa384"]],
  ["serials", ["by_ed25519"], ["by_rsa3072", "by_ecdsa256", "of_rsa2048"]], // 3 is another authority's
  ["bitmap", ["of_ecdsa256", "of_ecdsa384", "of_ecdsa521"], ["of_rsa2048", "by_other", "by_ecdsa256"]],
  ["id", ["by_ed25519"], ["by_rsa3072", "domain"]],
  ["authority", ["by_ed25519", "of_rsa2048"], ["by_other", "by_ecdsa256"]],
  ["empty", [], ["by_ed25519"]],
];
for (const [list, revoked, left] of TABLE) {
  Deno.test(`RevokedKeys revokes exactly what ssh-keygen put on the list ${list}.krl`, async () => {
    const keys = await readRevokedKeys(revokedList(list));
    for (const name of revoked) assert(keys.revokes(certificate(name)), name);
    for (const name of left) assert(!keys.revokes(certificate(name)), name);
    assert.equal(keys.size > 0, revoked.length > 0);
  });
}

Deno.test("readRevokedKeys() reads public keys, one a line", async () => {
  const text = `# gone\n\n${publicLine("user_ecdsa256")}\r\n${certificateLine("ca_other")}\n${
    publicLine("old_dsa")
  }\n`;
  const keys = await readRevokedKeys(new TextEncoder().encode(text));
  assert.equal(keys.size, 3);
  assert(keys.revokes(certificate("of_ecdsa256")));
  assert(keys.revokes(certificate("by_other")));
  assert(!keys.revokes(certificate("by_ed25519")));
});

function list(...sections: Uint8Array[]): Uint8Array {
  const head = Buffer.alloc(28);
  head.writeUInt32BE(1);
  return Buffer.concat([Buffer.from("SSHKRL\n\0"), head, wireString(""), wireString(""), ...sections]);
}

const section = (type: number, content: Uint8Array) =>
  Buffer.concat([Buffer.from([type]), wireString(content)]);
const number = (value: bigint) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
};

Deno.test("readRevokedKeys() ignores signatures and extensions that are not critical", async () => {
  const extension = (critical: number) =>
    Buffer.concat([wireString("x@y"), Buffer.from([critical]), wireString("z")]);
  const signed = Buffer.concat([section(4, wireString("key")), wireString("signature")]);
  const keys = await readRevokedKeys(list(section(255, extension(0)), signed));
  assert.equal(keys.size, 0);
  await assert.rejects(readRevokedKeys(list(section(255, extension(1)))), /unknown critical extension/);
});

Deno.test("readRevokedKeys() revokes serials of any authority if the list names none", async () => {
  const range = section(0x21, Buffer.concat([number(1n), number(2n)]));
  const keys = await readRevokedKeys(
    list(section(1, Buffer.concat([wireString(""), wireString(""), range]))),
  );
  assert(keys.revokes(certificate("by_ed25519")));
  assert(keys.revokes(certificate("by_rsa3072")));
  assert(!keys.revokes(certificate("by_ecdsa256")));
});

/** Bitmap one byte longer than the limit of 2^26 serials. */
const LONG_BITMAP = Buffer.concat([number(1n), wireString(Buffer.alloc(2 ** 23 + 1))]);

function serials(part: Uint8Array): Uint8Array {
  return list(section(1, Buffer.concat([wireString(""), wireString(""), part])));
}

const BAD: [what: string, bytes: Uint8Array, message: RegExp][] = [
  ["a list of more than 32 MiB", Buffer.concat([list(), Buffer.alloc(32 * 1024 * 1024)]), /too long/],
  [
    "a bitmap of too many serials",
    list(section(1, Buffer.concat([wireString(""), wireString(""), section(0x22, LONG_BITMAP)]))),
    /bitmap of serials is too long/,
  ],
  // ssh-keygen(1) refuses these as well.
  ["a reversed range", serials(section(0x21, Buffer.concat([10n, 5n].map(number)))), /range of serials/],
  ["a range from 0", serials(section(0x21, Buffer.concat([0n, 5n].map(number)))), /range of serials/],
  ["serial 0", serials(section(0x20, number(0n))), /range of serials/],
  [
    "a bitmap beyond 64 bits",
    serials(section(0x22, Buffer.concat([number(2n ** 64n - 2n), wireString(Buffer.of(8))]))),
    /range of serials/,
  ],
  ["a later version", Buffer.from(list()).fill(2, 11, 12), /not of version 1/],
  ["an unknown section", list(section(9, wireString(""))), /section of unknown type 9/],
  [
    "an unknown part",
    list(section(1, Buffer.concat([wireString(""), wireString(""), section(0x30, Buffer.alloc(0))]))),
    /part of unknown type 48/,
  ],
  ["a digest of the wrong length", list(section(5, wireString("short"))), /5 bytes, expected 32/],
  ["a truncated list", revokedList("bitmap").subarray(0, -3), /cut off/],
  ["a list that is truncated in its header", revokedList("bitmap").subarray(0, 20), /cut off/],
  ["a line that is not a key", new TextEncoder().encode("\nssh-ed25519 AAAA\n"), /^line 2: /],
  [
    "a certificate on a line",
    new TextEncoder().encode(certificateLine("domain")),
    /line 1: .*found a certificate/,
  ],
  [
    "a line of another type",
    new TextEncoder().encode(publicLine("user_ed25519").replace("ed25519", "rsa")),
    /not of the type/,
  ],
];
for (const [what, bytes, message] of BAD) {
  Deno.test(`readRevokedKeys() refuses ${what} instead of reading a part`, async () => {
    await assert.rejects(
      readRevokedKeys(bytes),
      (error) => error instanceof UnusableKey && message.test(error.message),
    );
  });
}

Deno.test("SerialRanges has exactly the added serials, in any order", () => {
  const range = fc.tuple(fc.bigInt(1n, 60n), fc.bigInt(0n, 6n)).map(([from, more]) => ({
    from,
    to: from + more,
  }));
  fc.assert(fc.property(fc.array(range, { maxLength: 12 }), fc.boolean(), (ranges, inOrder) => {
    if (inOrder) ranges.sort((one, other) => Number(one.from - other.from));
    const serials = new SerialRanges();
    for (const { from, to } of ranges) serials.add(from, to);
    for (let n = 0n; n < 70n; n++) {
      assert.equal(serials.has(n), ranges.some(({ from, to }) => from <= n && n <= to), `${n}`);
    }
  }));
});

Deno.test("readRevokedKeys() reads each form of 64-bit serials up to the last one, and no neighbour", async () => {
  const large = 2n ** 63n + 5n;
  const forms: [what: string, part: Uint8Array, revoked: bigint[]][] = [
    ["serials", section(0x20, Buffer.concat([7n, 9n, large].map(number))), [7n, 9n, large]],
    ["a range", section(0x21, Buffer.concat([7n, large].map(number))), [7n, 8n, 2n ** 40n, large]],
    ["a bitmap", section(0x22, Buffer.concat([number(large), wireString(Buffer.from([0x81, 0x06]))])), [
      large + 1n,
      large + 2n,
      large + 8n,
      large + 15n,
    ]],
  ];
  for (const [what, part, revoked] of forms) {
    const keys = await readRevokedKeys(
      list(section(1, Buffer.concat([wireString(""), wireString(""), part]))),
    );
    const revokes = (serial: bigint) => keys.revokes({ ...certificate("by_ed25519"), serial });
    for (const serial of revoked) assert(revokes(serial), `${what}: ${serial}`);
    const ends = [revoked[0] ?? 0n, revoked.at(-1) ?? 0n];
    for (const serial of [(ends[0] ?? 0n) - 1n, (ends[1] ?? 0n) + 1n, 0n]) {
      assert(!revokes(serial), `${what}: ${serial}`);
    }
  }
});
