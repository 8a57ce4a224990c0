import assert from "node:assert/strict";
import fc from "fast-check";
import { parseJsonObject } from "../../src/model/json_object.ts";

function parse(text: string): unknown {
  const members = parseJsonObject(new TextEncoder().encode(text));
  return members === undefined ? undefined : Object.fromEntries(members);
}

Deno.test("parseJsonObject() refuses duplicate members, at any depth and in any spelling", () => {
  const texts = [
    '{"sub":"ann","sub":"bob"}',
    '{"sub":"ann","s\\u0075b":"bob"}',
    '{"sub" : "ann" , "sub"\n:"bob"}',
    '{"a":{"b":1,"b":1}}',
    '{"a":[{"b":1},{"b":1,"c":"}","b":2}]}',
    '{"":1,"":2}',
    '{"__proto__":1,"__proto__":2}',
    '{"a\\\\":1,"a\\\\":2}',
  ];
  for (const text of texts) assert.equal(parse(text), undefined, text);
});

Deno.test("parseJsonObject() accepts what only looks like a duplicate member", () => {
  const texts = [
    '{"a":{"b":1},"b":{"a":1}}',
    '{"a":"a","b":"\\"a\\":1,\\"a\\":2"}',
    '{"a":["a","a"],"A":1}',
    '{"a":[{"b":1},{"b":2}]}',
    '{"a\\"":1,"a":2}',
  ];
  for (const text of texts) assert.deepEqual(parse(text), JSON.parse(text), text);
});

Deno.test("parseJsonObject() refuses everything but a JSON object in UTF-8", () => {
  for (
    const text of [
      "",
      "null",
      "1",
      '"a"',
      "[]",
      '[{"a":1}]',
      "{a:1}",
      "{'a':1}",
      '{"a":1,}',
      '{"a":1}{}',
      "\ufeff{}",
    ]
  ) {
    assert.equal(parse(text), undefined, text);
  }
  assert.equal(parseJsonObject(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)), undefined);
});

Deno.test("parseJsonObject() reads a member named __proto__ like any other", () => {
  const members = parseJsonObject(new TextEncoder().encode('{"__proto__":{"sub":"ann"}}'));
  assert.deepEqual([...members ?? []], [["__proto__", { sub: "ann" }]]);
  assert.equal(members?.get("sub"), undefined);
});

Deno.test("parseJsonObject() reads what JSON.stringify() writes", () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(fc.property(json, (value) => {
    const text = JSON.stringify(value);
    assert.deepEqual(
      parseJsonObject(new TextEncoder().encode(text)),
      new Map(Object.entries(JSON.parse(text))),
    );
  }));
});

Deno.test("parseJsonObject() detects every duplicate member", () => {
  const json = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
  fc.assert(fc.property(json, fc.nat(), (value, n) => {
    const [open, ...rest] = JSON.stringify(value);
    const names = Object.keys(value);
    const twice = `${open}${JSON.stringify(names[n % names.length])}:0,${rest.join("")}`;
    assert.equal(parse(twice), undefined);
    assert.equal(parse(`{"x":[${twice}]}`), undefined);
  }));
});
