import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createPublicKey } from "node:crypto";
import fc from "fast-check";
import {
  decodePublicKey,
  isSshKeyType,
  UnusableKey,
} from "../../../src/authentication/ssh_key/public_key.ts";
import { privateKey, publicKeyWords, SHEET_KEY_LINE, wireString } from "./user_keys.ts";

const KEYS = [
  "user_rsa2048",
  "user_rsa3072",
  "user_ecdsa256",
  "user_ecdsa384",
  "user_ecdsa521",
  "user_ed25519",
];

for (const name of KEYS) {
  Deno.test(`decodePublicKey() reads ${name} as the public half of its private key`, () => {
    const [type, blob] = publicKeyWords(name);
    assert.ok(isSshKeyType(type));
    const decoded = decodePublicKey(type, blob);
    assert.equal(decoded.type, type);
    const expected = createPublicKey(privateKey(name)).export({ format: "jwk" });
    assert.deepEqual(decoded.key.export({ format: "jwk" }), expected);
  });
}

Deno.test("decodePublicKey() gives the fingerprint that ssh-keygen prints", () => {
  const [, blob = ""] = SHEET_KEY_LINE.split(" ");
  const { fingerprint } = decodePublicKey("ssh-ed25519", blob);
  assert.equal(fingerprint, "tZBYnI0NQaDrkwbww1eMc1GE1VK1bnBq1wKhCSPbBeA=");
});

Deno.test("isSshKeyType() accepts neither DSA, certificates and FIDO keys nor inherited property names", () => {
  const others = [
    "ssh-dss",
    "ssh-ed25519-cert-v01@openssh.com",
    "sk-ssh-ed25519@openssh.com",
    "rsa",
    "__proto__",
    "toString",
  ];
  for (const word of others) assert.equal(isSshKeyType(word), false, word);
});

const ed = wireString("ssh-ed25519");
const point = Buffer.from(publicKeyWords("user_ecdsa256")[1], "base64").subarray(-65);
const modulus = Buffer.from(publicKeyWords("user_rsa2048")[1], "base64").subarray(-257);
const rsa = wireString("ssh-rsa");
const e65537 = wireString(Buffer.from([1, 0, 1]));

function ecdsa(type: string, curve: string, content: Uint8Array): Buffer {
  return Buffer.concat([wireString(type), wireString(curve), wireString(content)]);
}

const offCurve = Buffer.from(point);
offCurve[64] = (offCurve[64] ?? 0) ^ 1;

const BAD: [string, Parameters<typeof decodePublicKey>[0], Uint8Array, RegExp][] = [
  ["an empty blob", "ssh-ed25519", Buffer.alloc(0), /base64/],
  ["half a length", "ssh-ed25519", Buffer.from([0, 0]), /cut off/],
  ["a length beyond the end", "ssh-ed25519", Buffer.from([255, 255, 255, 255, 1]), /cut off/],
  ["the type name alone", "ssh-ed25519", ed, /cut off/],
  ["another type inside", "ssh-rsa", Buffer.concat([ed, wireString(Buffer.alloc(32))]), /named before it/],
  ["31 bytes", "ssh-ed25519", Buffer.concat([ed, wireString(Buffer.alloc(31))]), /32 bytes/],
  ["33 bytes", "ssh-ed25519", Buffer.concat([ed, wireString(Buffer.alloc(33))]), /32 bytes/],
  [
    "bytes behind the key",
    "ssh-ed25519",
    Buffer.concat([ed, wireString(Buffer.alloc(32)), ed]),
    /bytes follow/,
  ],
  ["another curve inside", "ecdsa-sha2-nistp384", ecdsa("ecdsa-sha2-nistp384", "nistp256", point), /curve/],
  [
    "a compressed point",
    "ecdsa-sha2-nistp256",
    ecdsa("ecdsa-sha2-nistp256", "nistp256", point.subarray(0, 33)),
    /point/,
  ],
  [
    "a point off the curve",
    "ecdsa-sha2-nistp256",
    ecdsa("ecdsa-sha2-nistp256", "nistp256", offCurve),
    /not a valid/,
  ],
  [
    "the point at infinity",
    "ecdsa-sha2-nistp256",
    ecdsa("ecdsa-sha2-nistp256", "nistp256", Buffer.from([0])),
    /point/,
  ],
  ["RSA without exponent", "ssh-rsa", Buffer.concat([rsa, wireString(""), wireString(modulus)]), /one form/],
  [
    "an exponent of 1",
    "ssh-rsa",
    Buffer.concat([rsa, wireString(Buffer.from([1])), wireString(modulus)]),
    /exponent/,
  ],
  [
    "an even exponent",
    "ssh-rsa",
    Buffer.concat([rsa, wireString(Buffer.from([4])), wireString(modulus)]),
    /exponent/,
  ],
  [
    "a huge exponent",
    "ssh-rsa",
    Buffer.concat([rsa, wireString(Buffer.alloc(9, 1)), wireString(modulus)]),
    /exponent/,
  ],
  [
    "a negative modulus",
    "ssh-rsa",
    Buffer.concat([rsa, e65537, wireString(modulus.subarray(1))]),
    /one form/,
  ],
  [
    "a modulus with needless zeros",
    "ssh-rsa",
    Buffer.concat([rsa, e65537, wireString(Buffer.concat([Buffer.alloc(1), modulus]))]),
    /one form/,
  ],
  [
    "RSA of 16384 bits",
    "ssh-rsa",
    Buffer.concat([rsa, e65537, wireString(Buffer.alloc(2048, 0x7f))]),
    /16383 bits, expected/,
  ],
  [
    "RSA of 4097 bits, with which the platform verifies nothing",
    "ssh-rsa",
    Buffer.concat([rsa, e65537, wireString(Buffer.concat([Buffer.of(1), Buffer.alloc(512, 0x7f)]))]),
    /^RSA key of 4097 bits, expected 2048 to 4096$/,
  ],
];

for (const [what, type, blob, message] of BAD) {
  Deno.test(`decodePublicKey() refuses ${what}`, () => {
    assert.throws(() => decodePublicKey(type, Buffer.from(blob).toString("base64")), (error: unknown) => {
      assert.ok(error instanceof UnusableKey);
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("decodePublicKey() accepts RSA of 4096 bits, the maximum", () => {
  const blob = Buffer.concat([
    rsa,
    e65537,
    wireString(Buffer.concat([Buffer.of(0), Buffer.alloc(512, 0xff)])),
  ]);
  const { key } = decodePublicKey("ssh-rsa", blob.toString("base64"));
  assert.equal(key.asymmetricKeyDetails?.modulusLength, 4096);
});

Deno.test("decodePublicKey() refuses RSA of 1024 bits", () => {
  assert.throws(() => decodePublicKey("ssh-rsa", publicKeyWords("weak_rsa1024")[1]), /RSA key of 1024 bits/);
});

Deno.test("decodePublicKey() refuses base64 that is not in canonical form", () => {
  const [, blob] = publicKeyWords("user_ed25519");
  const ecdsa = publicKeyWords("user_ecdsa256")[1];
  const spellings = [
    `${blob.slice(0, 20)}\n${blob.slice(20)}`,
    `${blob}=`,
    blob.replaceAll("A", "-"),
    `!${blob}`,
  ];
  for (const spelling of spellings) assert.throws(() => decodePublicKey("ssh-ed25519", spelling), /base64/);
  assert.throws(() => decodePublicKey("ecdsa-sha2-nistp256", ecdsa.replace(/=+$/, "")), /base64/);
  assert.throws(() => decodePublicKey("ssh-ed25519", "A".repeat(100_000)), /base64/);
});

Deno.test("decodePublicKey() throws only UnusableKey, whatever the bytes", () => {
  const types = fc.constantFrom(
    "ssh-rsa" as const,
    "ssh-ed25519" as const,
    "ecdsa-sha2-nistp256" as const,
    "ecdsa-sha2-nistp521" as const,
  );
  const fields = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom("nistp256", "nistp521").map((text) => new TextEncoder().encode(text)),
    ),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(types, fields, fc.uint8Array({ maxLength: 5 }), (type, parts, rest) => {
      const blob = Buffer.concat([wireString(type), ...parts.map(wireString), rest]);
      try {
        assert.equal(decodePublicKey(type, blob.toString("base64")).type, type);
      } catch (error) {
        assert.ok(error instanceof UnusableKey, String(error));
      }
    }),
    { numRuns: 2000 },
  );
});
