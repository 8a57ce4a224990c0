import assert from "node:assert/strict";
import { guardsOf, mutantsOf, mutated } from "./mutant.ts";

/** Returns kind and mutated text of each mutant. */
const mutants = (text: string) => mutantsOf(text).map((mutant) => [mutant.kind, mutated(text, mutant)]);

const FACTS: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
  ["if (x) f();", [["condition", "if (false) f();"], ["condition", "if (true) f();"]]],
  ["if (x) { return; }", [["guard", "if (false) { return; }"], ["condition", "if (true) { return; }"]]],
  ["if (x) throw y; else f();", [
    ["condition", "if (false) throw y; else f();"],
    ["condition", "if (true) throw y; else f();"],
  ]],
  ["a = b ? c : d;", [["condition", "a = true ? c : d;"], ["condition", "a = false ? c : d;"]]],
  ["while (x) f();", [["condition", "while (false) f();"]]],
  ["a = b < c;", [["comparison", "a = (b <= c);"]]],
  ["a = b !== c;", [["comparison", "a = (b === c);"]]],
  ["a = b && !c;", [["logic", "a = (b || !c);"], ["logic", "a = b && c;"]]],
  ["f(3, 1_000);", [["number", "f(4, 1_000);"], ["number", "f(3, 2000);"]]],
  ["await f();", [["await", "void f();"]]],
  ["await file.close();", [["await", "void file.close();"], ["close", ";"]]],
  ["this.#stop(); clearTimeout(timer); open();", [
    ["close", "; clearTimeout(timer); open();"],
    ["close", "this.#stop(); ; open();"],
  ]],
  ["a = await f(b);", []],
  ['import { a } from "./1.ts"; type T = 1 | 2; interface I { x: 3 } const y: 4 = z;', []],
];

for (const [text, expected] of FACTS) {
  Deno.test(`mutantsOf() makes ${expected.length} of ${text}`, () =>
    assert.deepEqual(mutants(text), expected));
}

Deno.test("mutantsOf() tells line, place and change", () => {
  const [mutant] = mutantsOf("first();\n  second(a <\n  b);\n");
  assert.deepEqual(
    [mutant?.line, mutant?.at, mutant?.change],
    [2, "second(a <", "a < b → (a <= b)"],
  );
});

Deno.test("guardsOf() finds each `if` whose body ends by refusing, and nothing else", () => {
  const guards = (text: string) => guardsOf(text).map(({ change }) => change.replace(" → false", ""));
  assert.deepEqual(guards("if (a(x)) throw y;"), ["a(x)"]);
  assert.deepEqual(guards("if (a || b) { log(); return no; }"), ["a || b"]);
  assert.deepEqual(guards("for (;;) { if (a) continue; f(); }"), ["a"]);
  assert.deepEqual(guards('if (a) fail(httpError("E"));'), ["a"]);
  assert.deepEqual(guards("if (a) return; else f(); if (b) throw c;"), ["a", "b"]);
  assert.deepEqual(guards("if (a(() => { if (b) return; })) return;").length, 2);
  assert.deepEqual(guards("if (a) f(); while (b) { if (c) break; } d = e ? g : h;"), []);
});
