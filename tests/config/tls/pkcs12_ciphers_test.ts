import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { certificatesOfPkcs12 } from "../../../src/config/tls/pkcs12_certificates.ts";
import { UnusableStore } from "../../../src/config/tls/certificates.ts";

const FIXTURES = join(import.meta.dirname ?? "", "fixtures");
const SUBJECTS = ["CN=Test CA", "CN=rsa.site-a.example"];

for (
  const [what, name] of [
    ["AES-128 and SHA-384", "trust-aes-128.p12"],
    ["AES-256 and SHA-256", "trust.p12"],
    ["3DES in PBES2 and SHA-1", "trust-pbes2-3des.p12"],
  ] as const
) {
  Deno.test(`certificatesOfPkcs12() reads a store with ${what}, only with its password`, async () => {
    const bytes = await Deno.readFile(join(FIXTURES, name));
    const subjects = certificatesOfPkcs12(bytes, "fixture").map(({ subject }) => subject.split("\n").at(-1));
    assert.deepEqual(subjects, SUBJECTS);
    for (const wrong of ["", "Fixture", "fixture "]) {
      assert.throws(() => certificatesOfPkcs12(bytes, wrong), UnusableStore);
    }
  });
}

Deno.test("certificatesOfPkcs12() reports how to re-export a store whose encryption the runtime does not support", async () => {
  const bytes = await Deno.readFile(join(FIXTURES, "trust-aes-192.p12"));
  assert.throws(
    () => certificatesOfPkcs12(bytes, "fixture"),
    /with a supported encryption; export it again: openssl/,
  );
});

Deno.test("certificatesOfPkcs12() reads constructed octet strings (BER)", async () => {
  const der = await Deno.readFile(join(FIXTURES, "ca.der"));
  const parts = [der.subarray(0, 5), der.subarray(5, 300), der.subarray(300)];
  const certificate = value(0x24, ...parts.map((part) => value(0x04, part)));
  const bags = value(
    0x30,
    value(0x30, CERTIFICATE_BAG, value(0xa0, value(0x30, X509, value(0xa0, certificate)))),
  );
  // Nests parts in a part as well.
  const contents = value(
    0x24,
    value(0x24, value(0x04, bags.subarray(0, 40))),
    value(0x04, bags.subarray(40)),
  );
  const safe = value(0x30, value(0x30, DATA, value(0xa0, contents)));
  const store = value(0x30, value(0x02, [3]), value(0x30, DATA, value(0xa0, value(0x04, safe))));
  const [found, ...more] = certificatesOfPkcs12(store, "");
  assert.deepEqual([found?.raw, more], [new X509Certificate(der).raw, []]);
});

/** Returns a DER value that consists of parts. */
function value(tag: number, ...parts: readonly (Uint8Array | readonly number[])[]): Uint8Array {
  const content = parts.flatMap((part) => [...part]);
  const size = content.length;
  const length = size < 0x80 ? [size] : [0x82, size >> 8, size & 0xff];
  return Uint8Array.from([tag, ...length, ...content]);
}

const DATA = value(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01]);
const CERTIFICATE_BAG = value(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x0a, 0x01, 0x03]);
const X509 = value(0x06, [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x09, 0x16, 0x01]);
