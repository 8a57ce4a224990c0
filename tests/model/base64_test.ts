import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { decodeBase64, decodeBase64Url } from "../../src/model/base64.ts";

const FORMS = [["base64", decodeBase64], ["base64url", decodeBase64Url]] as const;

for (const [encoding, decode] of FORMS) {
  Deno.test(`${decode.name}() decodes what ${encoding} encodes`, () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => {
      const octets = Buffer.from(bytes);
      assert.deepEqual(decode(octets.toString(encoding)), octets);
    }));
  });

  Deno.test(`${decode.name}() decodes a text only if its octets encode to it`, () => {
    const text = fc.string({ unit: fc.constantFrom(..."Aa9Zz+/-_= \n~%é") });
    fc.assert(fc.property(text, (text) => {
      assert.equal(decode(text) !== undefined, Buffer.from(text, encoding).toString(encoding) === text);
    }));
  });
}

for (const text of ["YQ", "YQ=", "YR==", "YQ===", "YQ==\n", " YQ==", "Y Q=", "=", "-_8=", "YQ==YQ=="]) {
  Deno.test(`decodeBase64() refuses ${JSON.stringify(text)}`, () => {
    assert.equal(decodeBase64(text), undefined);
  });
}
for (const text of ["YQ==", "YR", "Y", "+/8", "YQ\n", "YQ~"]) {
  Deno.test(`decodeBase64Url() refuses ${JSON.stringify(text)}`, () => {
    assert.equal(decodeBase64Url(text), undefined);
  });
}
