import assert from "node:assert/strict";
import fc from "fast-check";
import { InvalidReply, parseReply } from "../../../src/authentication/claims.ts";

Deno.test("parseReply() returns members as text, lists of text and maps", () => {
  const body = `{"s":"a","n":1.50,"big":98765432109876543210,"t":true,"f":false,"z":null,
    "l":["a",7,false,null,{"k":1},["x"]],"o":{"a":{"b":"c"},"z":null}}`;
  assert.deepEqual(
    parseReply(body),
    new Map<string, unknown>([
      ["s", "a"],
      ["n", "1.50"],
      ["big", "98765432109876543210"],
      ["t", "true"],
      ["f", "false"],
      ["l", ["a", "7", "false", '{"k":"1"}', '["x"]']],
      ["o", new Map([["a", new Map([["b", "c"]])]])],
    ]),
  );
});

for (
  const body of [
    "",
    "{",
    "null",
    "[]",
    '"a"',
    "1",
    "true",
    "<html>",
    '{"a":1}x',
    "\ufeff{}",
    `{"a":`.repeat(30) + "1" + "}".repeat(30),
  ]
) {
  Deno.test(`parseReply() refuses ${body.slice(0, 30)}`, () =>
    assert.throws(() => parseReply(body), InvalidReply));
}

Deno.test("parseReply() reads every JSON object, and throws only InvalidReply", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 5 })), (value) => {
    const variables = parseReply(JSON.stringify(value));
    for (const [name, member] of Object.entries(value)) assert.equal(variables.has(name), member !== null);
  }));
  fc.assert(fc.property(fc.string(), (body) => {
    try {
      parseReply(body);
    } catch (error) {
      assert.ok(error instanceof InvalidReply);
    }
  }));
});
