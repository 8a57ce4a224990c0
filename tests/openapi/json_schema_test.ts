import assert from "node:assert/strict";
import { mismatches, type Schema } from "./json_schema.ts";

const TEXT: Schema = { type: "string" };
const A: Schema = { type: "object", properties: { a: TEXT }, required: ["a"], additionalProperties: false };

const NAMED: Readonly<Record<string, Schema>> = { Name: TEXT };
const check = (value: unknown, schema: Schema) =>
  mismatches(value, schema, (ref) => NAMED[ref.replace(/.*\//, "")] ?? {});

const GOOD: readonly (readonly [unknown, Schema])[] = [
  ["x", TEXT],
  [5, { type: "integer", minimum: 5, maximum: 5 }],
  [{ a: "x" }, { ...A, properties: { a: TEXT, b: TEXT } }],
  [{ a: "x", c: 1 }, { ...A, additionalProperties: true }],
  [{ x: "a" }, { type: "object", additionalProperties: { type: "string", enum: ["a"] } }],
  [["x"], { type: "array", items: { $ref: "#/components/schemas/Name" } }],
  ["1", { anyOf: [{ type: "integer" }, { type: "string", pattern: "^\\d$" }] }],
  [true, { const: true }],
];

const BAD: readonly (readonly [unknown, Schema, RegExp])[] = [
  [5, TEXT, /expected string/],
  [null, { type: "object" }, /expected object/],
  [[], { type: "object" }, /expected object/],
  [1.5, { type: "integer" }, /expected integer/],
  [4, { type: "integer", minimum: 5 }, /at least 5/],
  [6, { type: "integer", maximum: 5 }, /at most 5/],
  [{}, A, /a: is missing/],
  [{ a: "x", b: 1 }, A, /b: is not described/],
  [{ x: "b" }, { type: "object", additionalProperties: { type: "string", enum: ["a"] } }, /one of a/],
  [[1], { type: "array", items: { $ref: "#/components/schemas/Name" } }, /\/0: found 1/],
  ["x", { anyOf: [{ type: "integer" }, { type: "string", pattern: "^\\d$" }] }, /one of/],
  [false, { const: true }, /expected true/],
];

Deno.test("mismatches() returns nothing for values that a schema admits", () => {
  for (const [value, schema] of GOOD) assert.deepEqual(check(value, schema), []);
});

Deno.test("mismatches() reports values that a schema does not admit", () => {
  for (const [value, schema, expected] of BAD) assert.match(check(value, schema).join(), expected);
});

Deno.test("mismatches() refuses an unknown keyword", () => {
  const strange: Schema = JSON.parse(`{"multipleOf": 3}`);
  assert.throws(() => check("x", strange), /multipleOf/);
});
