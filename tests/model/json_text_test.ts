import assert from "node:assert/strict";
import fc from "fast-check";
import { InvalidJson, type JsonNode, readMembers } from "../../src/model/json_text.ts";
import { CHARACTER } from "../fixtures/character.ts";

/** Returns the plain value of a node. */
function plain(node: JsonNode): unknown {
  switch (node.kind) {
    case "array":
      return node.items.map(plain);
    case "object":
      return Object.fromEntries(node.members.map(({ name, value }) => [name, plain(value)]));
    case "string":
      return node.text;
    default:
      return JSON.parse(node.text);
  }
}

function read(text: string): unknown {
  return Object.fromEntries([...readMembers(text)].map(({ name, value }) => [name, plain(value)]));
}

/** Invalid texts, with the line of the error and what the parser expected. */
const INVALID: readonly (readonly [string, number, string])[] = [
  ["", 1, "expected {, found the end"],
  ["[]", 1, "expected {"],
  ["\n\n x", 3, "expected {"],
  ["{", 1, 'a name in "quotes", found the end'],
  ["{}x", 1, "nothing more"],
  ["{}\n{}", 2, "nothing more"],
  ["{'a':1}", 1, "a name in"],
  ["{a:1}", 1, "a name in"],
  ['{"a" 1}', 1, "expected :"],
  ['{"a":}', 1, "a value"],
  ['{"a":1,,}', 1, "a name in"],
  ["{,}", 1, "a name in"],
  ['{"a":1 "b":2}', 1, ", or }"],
  ['{"a":[1,,2]}', 1, "a value"],
  ['{"a":[,]}', 1, "a value"],
  ['{"a":[1,}', 1, "a value"],
  ['{"a":1,\n"a":2,}', 2, 'each name once, found "a" again'],
  ['{"a":[1 2]}', 1, ", or ]"],
  ['{"a":[1}', 1, ", or ]"],
  ['{"a":"x}', 1, "the closing"],
  ['{"a":"x\n"}', 1, "the closing"],
  ['{"a":"\\x"}', 1, "an escape"],
  ['{"a":"\\u12g4"}', 1, "an escape"],
  ['{"a":01}', 1, "a value"],
  ['{"a":1.}', 1, "a value"],
  ['{"a":+1}', 1, "a value"],
  ['{"a":NaN}', 1, "a value"],
  ['{"a":nulll}', 1, "a value"],
  ['{"a":True}', 1, "a value"],
  ['{"a":1 // note\n}', 1, ", or }"],
  ['{"a":1,\n"a":2}', 2, 'each name once, found "a" again'],
  ['{"a":1,\n"\\u0061":2}', 2, "each name once"],
  ['{"o":{"b":1,\n\n"b":2}}', 3, 'each name once, found "b" again'],
  [`{"a":${"[".repeat(100_000)}`, 1, "at most 32 levels"],
  [`{"a":${'{"a":'.repeat(100_000)}`, 1, "at most 32 levels"],
];

Deno.test("readMembers() reports the error and its line", () => {
  for (const [text, line, expected] of INVALID) {
    assert.throws(() => [...readMembers(text)], (error) => {
      assert.ok(error instanceof InvalidJson);
      assert.equal(error.line, line, text.slice(0, 50));
      assert.ok(error.expected.includes(expected), `${text.slice(0, 50)}: ${error.expected}`);
      return true;
    });
  }
});

Deno.test("readMembers() returns the line of every value", () => {
  const [a, b] = [...readMembers('\ufeff{\r\n "a": [\n"x",\n2],\n\n"__proto__": {"c":\ntrue}}')];
  assert.ok(a?.value.kind === "array" && b?.value.kind === "object");
  assert.deepEqual([a.line, a.value.line, ...a.value.items.map(({ line }) => line)], [2, 2, 3, 4]);
  assert.deepEqual([b.name, b.line, b.value.members[0]?.line, b.value.members[0]?.value.line], [
    "__proto__",
    6,
    6,
    7,
  ]);
});

Deno.test("readMembers() returns the source text of each member", () => {
  assert.deepEqual([...readMembers('{ "a" : [1, 2] ,\n"b":"x" }')].map(({ source }) => source), [
    '"a" : [1, 2]',
    '"b":"x"',
  ]);
});

Deno.test("readMembers() reads what JSON.stringify() writes", () => {
  const dictionary = fc.dictionary(fc.string({ unit: CHARACTER }), fc.jsonValue({ maxDepth: 4 }), {
    noNullPrototype: true,
  });
  fc.assert(fc.property(dictionary, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
    const text = JSON.stringify(value, null, indent);
    assert.deepEqual(read(text), JSON.parse(text));
  }));
});

/** Removes trailing commas from JSON; the texts of the test have none within quotes. */
const withoutLastCommas = (text: string) => text.replaceAll(/,(?=\s*[}\]])/g, "");

Deno.test("readMembers() accepts what JSON.parse() accepts, and a trailing comma, but no name twice", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    '"a"',
    '"b"',
    "1",
    "-0.5e3",
    "true",
    "null",
    " ",
    "\n",
    '"\\n"',
    "x",
  );
  const text = fc.array(pieces, { maxLength: 12 }).map((parts) => `{${parts.join("")}}`);
  fc.assert(
    fc.property(text, (candidate) => {
      let accepted: unknown;
      try {
        accepted = read(candidate);
      } catch (error) {
        assert.ok(error instanceof InvalidJson);
        if (!error.expected.includes("once")) assert.throws(() => JSON.parse(candidate), SyntaxError);
        return;
      }
      assert.deepEqual(accepted, JSON.parse(withoutLastCommas(candidate)));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("readMembers() ignores a trailing comma, at every depth", () => {
  const text = '{"CN=Ann": {"role": "user", "group": ["a", "b",\n],\n},\n}';
  assert.deepEqual(read(text), { "CN=Ann": { role: "user", group: ["a", "b"] } });
  assert.deepEqual([...readMembers(text)].map(({ source }) => source), [text.slice(1, -3)]);
});

Deno.test("readMembers() returns the kind of each value", () => {
  const text = '{"a": null, "b": true, "c": false, "d": -1.5e3, "e": "null", "f": [], "g": {}}';
  assert.deepEqual([...readMembers(text)].map(({ value }) => value.kind), [
    "null",
    "boolean",
    "boolean",
    "number",
    "string",
    "array",
    "object",
  ]);
});
