import assert from "node:assert/strict";
import fc from "fast-check";
import { join } from "node:path";
import { decodeProperties, loadProperties, parseProperties } from "../../src/config/properties.ts";
import { type Diagnostic, formatDiagnostic } from "../../src/model/diagnostic.ts";
import { CHARACTER } from "../fixtures/character.ts";
import { formatProperties } from "./format_properties.ts";

const FIXTURES = join(import.meta.dirname ?? "", "fixtures");

function parse(text: string): Record<string, string> {
  return Object.fromEntries(parseProperties(text, "f").entries.map(({ key, value }) => [key, value]));
}

Deno.test("parseProperties() reads what Java reads", async () => {
  const text = decodeProperties(await Deno.readFile(join(FIXTURES, "java.properties")));
  const expected = new Map(Object.entries(JSON.parse(await Deno.readTextFile(join(FIXTURES, "java.json")))));
  const found = new Map(parseProperties(text, "f").entries.map(({ key, value }) => [key, value]));
  assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
  for (const [key, value] of expected) assert.equal(found.get(key), value, key);
});

Deno.test("parseProperties() reads back what was written", () => {
  const text = fc.string({ unit: CHARACTER });
  fc.assert(fc.property(fc.uniqueArray(fc.tuple(text, text), { selector: ([key]) => key }), (entries) => {
    const { entries: found, diagnostics } = parseProperties(formatProperties(entries), "f");
    assert.deepEqual(found.map(({ key, value }) => [key, value]), entries);
    assert.deepEqual(diagnostics, []);
  }));
});

Deno.test("parseProperties() never throws, and every line belongs to the text", () => {
  const hostile = fc.array(
    fc.constantFrom("\\", "u", "\n", "\r", " ", "\t", "\f", "=", ":", "#", "!", "a", "0", "é"),
  );
  fc.assert(fc.property(hostile, (letters) => {
    const text = letters.join("");
    const { entries, diagnostics } = parseProperties(text, "f");
    const lines = text.split(/\r\n|\r|\n/).length;
    for (const { line = 0 } of [...entries, ...diagnostics]) assert.ok(line >= 1 && line <= lines);
  }));
});

Deno.test("parseProperties() returns the first line of each entry", () => {
  const { entries } = parseProperties("# 1\n\na=\\\n 1\r\nb=2\r\r  ! 7\nc\\\n\\\n=3\nd=4", "f");
  assert.deepEqual(entries.map(({ key, value, line }) => [key, value, line]), [
    ["a", "1", 3],
    ["b", "2", 5],
    ["c", "3", 8],
    ["d", "4", 11],
  ]);
});

Deno.test("parseProperties() uses the last of equal keys, and warns", () => {
  const { entries, diagnostics } = parseProperties("a=1\nb=2\na=3\na=4", "conf/x");
  assert.deepEqual(entries.map(({ key, value }) => [key, value]), [["b", "2"], ["a", "4"]]);
  assert.deepEqual(diagnostics.map(({ severity }) => severity), ["warning", "warning"]);
  assert.deepEqual(diagnostics.map(formatDiagnostic), [
    "conf/x:3: a: is also set in line 1; this line applies",
    "conf/x:4: a: is also set in line 3; this line applies",
  ]);
});

for (const bad of ["a=\\u", "a=\\u00", "a=\\u00g0", "a=x\\u004", "a=\\\\\\uzzzz", "a=\\u 0041"]) {
  Deno.test(`parseProperties() refuses the escape in ${bad} as Java does, without showing the value`, () => {
    const { entries, diagnostics } = parseProperties(`# 1\n${bad}\nb=1`, "f");
    assert.deepEqual(entries.map(({ key }) => key), ["b"]);
    assert.deepEqual(diagnostics.map(formatDiagnostic), [
      "f:2: a: expected four hexadecimal digits after \\u",
    ]);
    const fix = "write / in paths, and \\\\ for a backslash, at f:2";
    assert.deepEqual(diagnostics.map((each) => [each.severity, each.fix]), [["error", fix]]);
  });
}

Deno.test("parseProperties() treats hostile keys as ordinary ones", () => {
  const { entries } = parseProperties("__proto__=1\nconstructor.prototype=2\nhasOwnProperty=3", "f");
  assert.deepEqual(entries.map(({ key }) => key), ["__proto__", "constructor.prototype", "hasOwnProperty"]);
  assert.equal(Object.hasOwn(Object.prototype, "1"), false);
});

Deno.test("decodeProperties() reads UTF-8, with or without byte-order mark, and else ISO-8859-1", () => {
  const umlaut = "a=Grüße ☃";
  assert.equal(decodeProperties(new TextEncoder().encode(umlaut)), umlaut);
  assert.equal(decodeProperties(new TextEncoder().encode(`\ufeff${umlaut}`)), umlaut);
  assert.equal(decodeProperties(Uint8Array.fromHex("613d4772fcdf65")), "a=Grüße");
  assert.deepEqual(parse(decodeProperties(Uint8Array.fromHex("613d80ff"))), { a: "\u0080ÿ" });
});

Deno.test("parseProperties() joins a line of 300,000 pieces in linear time", () => {
  const { entries } = parseProperties(`key=${"a\\\n".repeat(300_000)}`, "f");
  assert.equal(entries[0]?.value.length, 300_000);
});

/** Writes files, loads the one named `main`, and returns values and messages. */
async function load(files: Record<string, string>, environment: Record<string, string> = {}) {
  const workingDirectory = await Deno.makeTempDir();
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(join(workingDirectory, name), text);
  }
  const diagnostics: Diagnostic[] = [];
  const properties = await loadProperties("main", {
    workingDirectory,
    environment: (name) => Object.hasOwn(environment, name) ? environment[name] : undefined,
  }, diagnostics);
  await Deno.remove(workingDirectory, { recursive: true });
  return {
    values: Object.fromEntries([...properties.entries].map(([key, { value }]) => [key, value])),
    places: Object.fromEntries(
      [...properties.entries].map(([key, { file, line }]) => [key, `${file}:${line}`]),
    ),
    files: properties.files.map((file) => file.replace(`${workingDirectory}/`, "")),
    messages: diagnostics.map((diagnostic) => formatDiagnostic(diagnostic).replaceAll(workingDirectory, "")),
  };
}

Deno.test("loadProperties() includes files recursively, and records the position of each key", async () => {
  const loaded = await load({
    main: "a=1\n$include.x=one\n$include.10=two\nb=2",
    one: "\n$include.x=three\nc=3",
    two: "d=4",
    three: "\n\ne=5",
  });
  assert.deepEqual(loaded.messages, []);
  assert.deepEqual(loaded.places, { a: "main:1", b: "main:4", c: "one:3", d: "two:1", e: "three:3" });
  assert.deepEqual(loaded.files, ["main", "one", "three", "two"]);
});

Deno.test("loadProperties() replaces variables, from the environment first, and warns of a missing brace", async () => {
  const loaded = await load({
    main:
      "$var.HOST=h1\n$var.ROOT=/srv/${USER}\na=${HOST}:${PORT}\nb=${ROOT}/x\nc=$HOST {HOST} $${HOST} ${\nd=${HOST",
  }, { PORT: "9000", USER: "ann", HOST: "from.environment" });
  const expected = "has ${ without }, which stands for no variable; the value contains both characters";
  assert.deepEqual(loaded.messages, [`main:5: c: ${expected}`, `main:6: d: ${expected}`]);
  assert.deepEqual(loaded.values, {
    a: "from.environment:9000",
    b: "/srv/ann/x",
    c: "$HOST {HOST} $from.environment ${",
    d: "${HOST",
  });
});

Deno.test("loadProperties() replaces variables in included files, and in their names", async () => {
  const loaded = await load({ main: "$var.WHICH=one\n$include.1=${WHICH}", one: "$var.X=1\na=${X}${WHICH}" });
  assert.deepEqual(loaded.messages, []);
  assert.deepEqual(loaded.values, { a: "1one" });
});

Deno.test("loadProperties() looks up a variable in the file of the entry, then in the files that include it", async () => {
  const loaded = await load({
    main: "$var.D=/a\n$include.1=one\n$include.2=vars\nx=${D}\nv=${V}",
    one: "$var.D=/b\n$var.E=${D}/e\n$include.1=two\ny=${D}",
    two: "z=${D}\ne=${E}",
    vars: "$var.V=/v",
  });
  assert.deepEqual(loaded.messages, []);
  assert.deepEqual(loaded.values, { x: "/a", y: "/b", z: "/b", e: "/b/e", v: "/v" });
});

Deno.test("loadProperties() resolves a variable defined by the same name in several files", async () => {
  const loaded = await load({
    main: "$var.A=1\n$var.B=${A}\n$include.1=one",
    one: "$var.A=${B}2\ny=${A}",
  });
  assert.deepEqual(loaded.messages, []);
  assert.deepEqual(loaded.values, { y: "12" });
});

Deno.test("loadProperties() does not treat members of objects as variables", async () => {
  const { messages } = await load({ main: "a=${__proto__}\nb=${constructor}" });
  assert.equal(messages.length, 2);
});

const BAD: [what: string, files: Record<string, string>, messages: string[]][] = [
  ["a missing main file", {}, ["main: cannot read /main: there is no such file"]],
  ["a missing included file", { main: "a=1\n$include.x=none" }, [
    "main:2: $include.x = none: cannot read /none: there is no such file",
  ]],
  ["a folder", { main: "$include.x=." }, ["main:1: $include.x = .: cannot read : it is a folder"]],
  ["a file that includes itself", { main: "$include.x=main" }, [
    "main:1: $include.x = main: expected a file that does not include itself: /main > /main",
  ]],
  ["an inclusion cycle", { main: "$include.x=one", one: "$include.x=two", two: "\n$include.x=one" }, [
    "two:2: $include.x = one: expected a file that does not include itself: /main > /one > /two > /one",
  ]],
  ["a file that is included twice", { main: "$include.1=one\n$include.2=one", one: "a=1" }, [
    "main:2: $include.2 = one: expected each file to be included once: /one",
  ]],
  ["a key in two files", { main: "a=1\n$include.x=one", one: "b=1\na=2" }, [
    "one:2: a: expected each key in one file only, it is also set in main:1",
  ]],
  ["an undefined variable", { main: "a=secret${NONE}" }, [
    "main:1: a: expected the variable NONE to be defined, in the environment or as $var.NONE",
  ]],
  ["a variable that only other files define, each differently", {
    main: "$include.1=one\n$include.2=two\nx=${D}",
    one: "$var.D=1",
    two: "$var.D=2",
  }, ["main:3: x: expected the variable D to be defined, in the environment or as $var.D"]],
  ["variables that refer to each other", { main: "$var.A=${B}\n$var.B=${A}\nx=${A}" }, [
    "main:1: $var.A: expected main:2 to define B by neither itself nor an undefined variable",
    "main:2: $var.B: expected main:1 to define A by neither itself nor an undefined variable",
    "main:3: x: expected main:1 to define A by neither itself nor an undefined variable",
  ]],
  ["a variable that an undefined one defines", { main: "$var.A=${NONE}\nx=${A}" }, [
    "main:1: $var.A: expected the variable NONE to be defined, in the environment or as $var.NONE",
    "main:2: x: expected main:1 to define A by neither itself nor an undefined variable",
  ]],
];

for (const [what, files, messages] of BAD) {
  Deno.test(`loadProperties() refuses ${what}`, async () => {
    assert.deepEqual((await load(files)).messages.sort(), messages);
  });
}

Deno.test("loadProperties() reports that a file is UTF-16, and how to convert it", async () => {
  const file = await Deno.makeTempFile();
  await Deno.writeFile(file, Uint8Array.fromHex("fffe61003d0062000a00"));
  const diagnostics: Diagnostic[] = [];
  const { entries } = await loadProperties(
    file,
    { environment: () => undefined, workingDirectory: "/" },
    diagnostics,
  );
  await Deno.remove(file);
  assert.equal(entries.size, 0);
  const fix = `text=$(iconv -f UTF-16 -t UTF-8 ${file}) && printf '%s\\n' "$text" > ${file}`;
  const expected = "expected UTF-8 text, found UTF-16";
  assert.deepEqual(diagnostics, [{ severity: "error", file, line: 1, expected, fix }]);
});
