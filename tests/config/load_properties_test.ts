import assert from "node:assert/strict";
import { join } from "node:path";
import { loadProperties } from "../../src/config/load_properties.ts";
import { type Diagnostic, formatDiagnostic } from "../../src/model/diagnostic.ts";

/** Writes files, loads the one named `main`, and shows values and messages. */
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

Deno.test("loadProperties() includes files, and files of files, and remembers where each key stands", async () => {
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

Deno.test("loadProperties() replaces variables, from the environment first", async () => {
  const loaded = await load({
    main:
      "$var.HOST=h1\n$var.ROOT=/srv/${USER}\na=${HOST}:${PORT}\nb=${ROOT}/x\nc=$HOST {HOST} $${HOST} ${\nd=${HOST",
  }, { PORT: "9000", USER: "ann", HOST: "from.environment" });
  assert.deepEqual(loaded.messages, []);
  assert.deepEqual(loaded.values, {
    a: "from.environment:9000",
    b: "/srv/ann/x",
    c: "$HOST {HOST} $from.environment ${",
    d: "${HOST",
  });
});

Deno.test("loadProperties() replaces variables in included files, and in the names of these", async () => {
  const loaded = await load({ main: "$var.WHICH=one\n$include.1=${WHICH}", one: "$var.X=1\na=${X}${WHICH}" });
  assert.deepEqual(loaded.messages, []);
  assert.deepEqual(loaded.values, { a: "1one" });
});

Deno.test("loadProperties() does not take members of objects for variables", async () => {
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
  ["a circle of files", { main: "$include.x=one", one: "$include.x=two", two: "\n$include.x=one" }, [
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
  ["variables that need each other", { main: "$var.A=${B}\n$var.B=${A}\nx=${A}" }, [
    "main:1: $var.A: expected the variable B to be defined, in the environment or as $var.B",
    "main:2: $var.B: expected the variable A to be defined, in the environment or as $var.A",
    "main:3: x: expected the variable A to be defined, in the environment or as $var.A",
  ]],
];

for (const [what, files, messages] of BAD) {
  Deno.test(`loadProperties() refuses ${what}`, async () => {
    assert.deepEqual((await load(files)).messages.sort(), messages);
  });
}
