import assert from "node:assert/strict";
import { decodeText, encodeText } from "../../src/model/name_attribute_types.ts";

for (
  const [text, narrow, der] of [
    ["Ann", "printable", "1303416e6e"],
    ["a@b", "printable", "0c03614062"],
    ["a@b", "ia5", "1603614062"],
    ["ä", "ia5", "0c02c3a4"],
    ["", "printable", "1300"],
    ["x".repeat(127), "printable", `137f${"78".repeat(127)}`],
    ["x".repeat(128), "printable", `138180${"78".repeat(128)}`],
    ["x".repeat(256), "printable", `13820100${"78".repeat(256)}`],
  ] as const
) {
  Deno.test(`encodeText() writes ${text.length} characters "${text.slice(0, 5)}" as ${der.slice(0, 12)}`, () => {
    assert.equal(encodeText(text, narrow), der);
    assert.equal(decodeText(der, "lower case"), text);
  });
}

for (
  const [what, der, expected] of [
    ["what compares exactly", "1303416e6e", undefined],
    ["an INTEGER", "020101", undefined],
    ["bytes that are not UTF-8", "0c02c328", undefined],
    ["a value shorter than its length", "130441", undefined],
    ["a value longer than its length", "13014142", undefined],
  ] as const
) {
  Deno.test(`decodeText() returns no text for ${what}`, () => {
    assert.equal(decodeText(der, what === "what compares exactly" ? "exact" : "lower case"), expected);
  });
}
