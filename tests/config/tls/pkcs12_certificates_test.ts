import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { certificatesOfPkcs12 } from "../../../src/config/tls/pkcs12_certificates.ts";
import { decryptRc2Cbc } from "../../../src/config/tls/rc2.ts";
import { UnusableStore } from "../../../src/config/tls/certificates.ts";

const FIXTURES = join(import.meta.dirname ?? "", "fixtures");

Deno.test("certificatesOfPkcs12() refuses any damaged store with an UnusableStore, and never crashes", async () => {
  const good = await Deno.readFile(join(FIXTURES, "trust-rc2-40.p12"));
  const change = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 255 }));
  fc.assert(
    fc.property(fc.array(change, { maxLength: 4 }), fc.nat(good.length), (changes, length) => {
      const bytes = Uint8Array.from(good);
      for (const [at, by] of changes) bytes[at] = (bytes[at] ?? 0) ^ by;
      const cut = bytes.subarray(0, length);
      try {
        assert.equal(certificatesOfPkcs12(cut, "fixture").length, 2);
      } catch (error) {
        assert.ok(error instanceof UnusableStore, String(error));
      }
    }),
    { numRuns: 200 },
  );
});

/** Test vectors of RFC 2268, 5, one block each. */
const RC2_VECTORS: [key: string, effectiveBits: number, plain: string, cipher: string][] = [
  ["0000000000000000", 63, "0000000000000000", "ebb773f993278eff"],
  ["ffffffffffffffff", 64, "ffffffffffffffff", "278b27e42e2f0d49"],
  ["3000000000000000", 64, "1000000000000001", "30649edf9be7d2c2"],
  ["88", 64, "0000000000000000", "61a8a244adacccf0"],
  ["88bca90e90875a", 64, "0000000000000000", "6ccf4308974c267f"],
  ["88bca90e90875a7f0f79c384627bafb2", 64, "0000000000000000", "1a807d272bbe5db1"],
  ["88bca90e90875a7f0f79c384627bafb2", 128, "0000000000000000", "2269552ab0f85ca6"],
  [
    "88bca90e90875a7f0f79c384627bafb216f80a6f85920584c42fceb0be255daf1e",
    129,
    "0000000000000000",
    "5b78d3a43dfff1f1",
  ],
];

for (const [key, effectiveBits, plain, cipher] of RC2_VECTORS) {
  Deno.test(`decryptRc2Cbc() decrypts ${cipher} with ${effectiveBits} bits of ${key}`, () => {
    // The vectors are single blocks, but CBC ends in padding: the IV turns the plain block into padding.
    const block = Uint8Array.fromHex(cipher);
    const padding = new Uint8Array(8).fill(8);
    const iv = Uint8Array.fromHex(plain).map((octet, index) => octet ^ (padding[index] ?? 0));
    assert.deepEqual(
      decryptRc2Cbc({ key: Uint8Array.fromHex(key), effectiveBits, iv, data: block }),
      new Uint8Array(),
    );
  });
}

Deno.test("decryptRc2Cbc() refuses data that does not end in padding", () => {
  const zero = new Uint8Array(8);
  assert.throws(
    () =>
      decryptRc2Cbc({ key: zero, effectiveBits: 63, iv: zero, data: Uint8Array.fromHex("ebb773f993278eff") }),
    RangeError,
  );
});
