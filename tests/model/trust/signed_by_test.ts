import assert from "node:assert/strict";
import fc from "fast-check";
import { Buffer } from "node:buffer";
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from "node:crypto";
import { findPath } from "../../../src/model/trust/certificate_path.ts";
import {
  isRsaSignature,
  isSignedBy,
  type RsaHash,
  rsaPublicKey,
} from "../../../src/model/trust/signed_by.ts";
import { createAuthority } from "../../pki/authority.ts";

const FIXTURES = new URL("../fixtures/", import.meta.url);
const read = (name: string) => new X509Certificate(Deno.readTextFileSync(new URL(name, FIXTURES)));

/** Authorities with RSA keys that the platform's `verify()` refuses, and a certificate signed by each. */
const large = ([5120, 8192] as const).map((bits) => ({
  bits,
  authority: read(`rsa_${bits}_ca.pem`),
  leaf: read(`rsa_${bits}_leaf.pem`),
}));

Deno.test("isSignedBy() verifies signatures of RSA keys up to 8192 bits", () => {
  for (const { bits, authority, leaf } of large) {
    assert(isSignedBy(authority, authority), `${bits}`);
    assert(isSignedBy(leaf, authority), `${bits}`);
    for (const other of large) assert.equal(isSignedBy(leaf, other.authority), other.bits === bits);
    const way = findPath([leaf], {
      anchors: [authority.toString()],
      purpose: "serverAuth",
      at: Date.parse("2027-01-01"),
    });
    assert.equal(way.length, 2, String(way));
  }
});

Deno.test("isSignedBy() refuses signatures by another key, or of changed content", () => {
  for (const { authority, leaf } of large) {
    for (let at = 0; at < leaf.raw.length; at += 41) {
      const bytes = Buffer.from(leaf.raw);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      let changed;
      try {
        changed = new X509Certificate(bytes);
      } catch {
        continue; // the bytes are no longer a certificate
      }
      assert.equal(isSignedBy(changed, authority), false, `byte ${at}`);
    }
    const stranger = new X509Certificate(createAuthority({ subject: "CN=x" }).certificate);
    assert.equal(isSignedBy(stranger, authority), false);
    assert.equal(isSignedBy(leaf, stranger), false);
  }
});

const CONTENT = Buffer.from("what is signed");
const HASHES: readonly RsaHash[] = ["sha256", "sha384", "sha512"];

/** Key of 3072 bits from a file, since generating one takes a second. */
const RSA_3072 = new URL("../../fixtures/ssh_keys/user_rsa3072", import.meta.url);

/** Generates a key pair and returns it with its numbers. */
function pair(bits: number, publicExponent = 65_537) {
  return numbersOf(generateKeyPairSync("rsa", { modulusLength: bits, publicExponent }).privateKey, bits);
}

/** Returns a key pair with its numbers. */
function numbersOf(privateKey: KeyObject, bits: number) {
  const { n = "", d = "", e = "" } = privateKey.export({ format: "jwk" });
  const [modulus, secret, exponent] = [n, d, e].map((text) => Buffer.from(text, "base64url"));
  const key = rsaPublicKey(modulus ?? Buffer.of(), exponent ?? Buffer.of());
  assert(key !== undefined);
  /** Signs a raw block, even one that no signer would sign. */
  const seal = (block: Buffer) =>
    bytesOf(power(numberOf(block), numberOf(secret ?? Buffer.of()), key.modulus), bits / 8);
  return { privateKey, publicKey: createPublicKey(privateKey), key, seal, modulus: modulus ?? Buffer.of() };
}

const numberOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
const bytesOf = (value: bigint, length: number) =>
  Buffer.from(value.toString(16).padStart(length * 2, "0"), "hex");
function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  for (const bit of exponent.toString(2)) {
    result = result * result % modulus;
    if (bit === "1") result = result * base % modulus;
  }
  return result;
}

const RSA = pair(2048);
const INFO = Buffer.concat([
  Buffer.from("3031300d060960864801650304020105000420", "hex"),
  createHash("sha256").update(CONTENT).digest(),
]);
/** Returns a block of 256 bytes with this head and end, padded in between. */
const block = (head: readonly number[], end: Buffer, fill = 0xff) =>
  Buffer.concat([Buffer.of(...head), Buffer.alloc(256 - head.length - end.length, fill), end]);
const GOOD = block([0, 1], Buffer.concat([Buffer.of(0), INFO]));
const taken = (signature: Uint8Array, content = CONTENT) =>
  isRsaSignature("sha256", content, { signature, key: RSA.key });

Deno.test("isRsaSignature() accepts what the platform signs, for keys of each length and exponent", () => {
  const given = numbersOf(createPrivateKey(Deno.readTextFileSync(RSA_3072)), 3072);
  for (
    const [what, { privateKey, key }] of Object.entries({ "2048 3": pair(2048, 3), "3072 65537": given })
  ) {
    for (const hash of HASHES) {
      const signature = sign(hash, CONTENT, privateKey);
      assert.equal(isRsaSignature(hash, CONTENT, { signature, key }), true, `${what} ${hash}`);
      for (const other of HASHES) {
        assert.equal(isRsaSignature(other, CONTENT, { signature, key }), other === hash);
      }
    }
  }
  assert.equal(taken(RSA.seal(GOOD)), true);
});

const sealed = RSA.seal(GOOD);
const REFUSED: Readonly<Record<string, Buffer>> = {
  "one byte less": sealed.subarray(1),
  "a zero before it": Buffer.concat([Buffer.of(0), sealed]),
  "a zero after it": Buffer.concat([sealed, Buffer.of(0)]),
  "nothing": Buffer.of(),
  "zero": Buffer.alloc(256),
  "one": bytesOf(1n, 256),
  "the modulus": RSA.modulus,
  "the modulus added (RFC 8017, 5.2.2)": bytesOf(numberOf(sealed) + RSA.key.modulus, 257).subarray(-256),
  "a block of type 2": RSA.seal(block([0, 2], Buffer.concat([Buffer.of(0), INFO]))),
  "a block of type 0": RSA.seal(block([0, 0], Buffer.concat([Buffer.of(0), INFO]), 0)),
  "padding that ends too early (Bleichenbacher 2006)": RSA.seal(
    Buffer.concat([Buffer.of(0, 1), Buffer.alloc(8, 0xff), Buffer.of(0), INFO, Buffer.alloc(194)]),
  ),
  "padding that is not all ones": RSA.seal(
    Buffer.concat([GOOD.subarray(0, 100), Buffer.of(0xfe), GOOD.subarray(101)]),
  ),
  "the hash without its name": RSA.seal(block([0, 1], Buffer.concat([Buffer.of(0), INFO.subarray(19)]))),
  "no parameters of the hash": RSA.seal(
    block(
      [0, 1],
      Buffer.concat([
        Buffer.of(0),
        Buffer.from("302f300b0609608648016503040201" + "0420", "hex"),
        INFO.subarray(19),
      ]),
    ),
  ),
  "data after the hash": RSA.seal(block([0, 1], Buffer.concat([Buffer.of(0), INFO, Buffer.of(0)]))),
};
for (const [what, signature] of Object.entries(REFUSED)) {
  Deno.test(`isRsaSignature() refuses ${what}`, () => {
    assert.equal(taken(signature), false);
  });
}

Deno.test("isRsaSignature() agrees with the platform after any change", () => {
  const change = fc.record({ at: fc.nat(255), by: fc.nat(255), content: fc.boolean() });
  fc.assert(
    fc.property(change, ({ at, by, content }) => {
      const signature = Buffer.from(sealed);
      signature[at] = (signature[at] ?? 0) ^ by;
      const said = content ? Buffer.from("something else") : CONTENT;
      assert.equal(taken(signature, said), verify("sha256", said, RSA.publicKey, signature));
      assert.equal(taken(signature, said), by === 0 && !content);
    }),
    { numRuns: 40 },
  );
});

Deno.test("rsaPublicKey() refuses keys whose signatures anyone could forge, or that cost too much", () => {
  const { modulus } = RSA;
  for (const exponent of [[], [0], [1], [2], [1, 0, 0], [1, 0, 0, 0, 1]]) {
    assert.equal(rsaPublicKey(modulus, Buffer.from(exponent)), undefined, String(exponent));
  }
  assert.equal(rsaPublicKey(Buffer.of(), Buffer.of(3)), undefined);
  assert.equal(rsaPublicKey(Buffer.alloc(3), Buffer.of(3)), undefined);
  assert.equal(rsaPublicKey(Buffer.alloc(1025, 1), Buffer.of(3)), undefined);
  assert.equal(rsaPublicKey(Buffer.concat([Buffer.of(0), modulus]), Buffer.of(3))?.length, 256);
});
