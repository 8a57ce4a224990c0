import assert from "node:assert/strict";
import fc from "fast-check";
import { contentDisposition } from "../../../src/resource/access/content_disposition.ts";
import { CHARACTER } from "../../fixtures/character.ts";

const NAMES: [string, string][] = [
  ["x.txt", 'attachment; filename="x.txt"'],
  ["a b;c.txt", 'attachment; filename="a b;c.txt"'],
  ['a"b\\c', `attachment; filename="a\\"b\\\\c"; filename*=UTF-8''a%22b%5Cc`],
  ["äö€.txt", `attachment; filename="___.txt"; filename*=UTF-8''%C3%A4%C3%B6%E2%82%AC.txt`],
  ["😀", `attachment; filename="_"; filename*=UTF-8''%F0%9F%98%80`],
  ["50%20.txt", `attachment; filename="50%20.txt"; filename*=UTF-8''50%2520.txt`],
  ["it's (1)*ä", `attachment; filename="it's (1)*_"; filename*=UTF-8''it%27s%20%281%29%2A%C3%A4`],
  ["a\r\nSet-Cookie: b", 'attachment; filename="aSet-Cookie: b"'],
];

for (const [name, expected] of NAMES) {
  Deno.test(`contentDisposition() of ${JSON.stringify(name)}`, () => {
    assert.equal(contentDisposition(name), expected);
  });
}

Deno.test("contentDisposition() is one safe header for any name", () => {
  fc.assert(fc.property(fc.string({ unit: CHARACTER }), (name) => {
    const header = contentDisposition(name);
    assert.match(
      header,
      /^attachment; filename="(?:[ !#-[\]-~]|\\["\\])*"(?:; filename\*=UTF-8''[\w.!~%-]*)?$/,
    );
    new Headers({ "Content-Disposition": header });
  }));
});
