import assert from "node:assert/strict";
import { until } from "./fixtures/deadline.ts";

const TESTS = new URL("./", import.meta.url).pathname;

/** Loops that wait: in one line, with a pause as their first statement, or without an end. */
const WAITING = [
  /^( *)for \(;;\) \{\n(?:\1 .*\n|\n)*?\1 +await new Promise\(\(resolve\) => setTimeout.*/gm,
  /while \(.*\) (?:\w+ \+?= )?(?:String\(\()?await .*/g,
  /while \(.*\) \{\n\s*await (?:new Promise|pause|delay)\b.*/g,
];

/** File of the loop that all other waits use. */
const HOME = "fixtures/deadline.ts";

/** Bounds of other loops: a clock, a counter, a list that gets shorter, a wait that times out. */
const BOUNDED = /\b(?:performance|Date)\.now\(\)|\.aborted\b|-- > 0|endFirst\(\)|nextChange\(\)/;

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* sources(`${folder}${name}/`);
    else if (name.endsWith(".ts")) yield `${folder}${name}`;
  }
}

Deno.test("tests wait only by until() and inTime(), which time out and name the condition", async () => {
  const found: string[] = [];
  for await (const file of sources(TESTS)) {
    const path = file.slice(TESTS.length);
    if (path === HOME) continue;
    const text = await Deno.readTextFile(file);
    for (const pattern of WAITING) {
      for (const { 0: loop, index } of text.matchAll(pattern)) {
        const line = text.slice(0, index).split("\n").length;
        if (!BOUNDED.test(loop)) found.push(`${path}:${line}: ${loop}`);
      }
    }
  }
  assert.deepEqual(found, []);
});

Deno.test("until() times out and names the condition", async () => {
  const never = false;
  await assert.rejects(until(() => never, { withinMs: 1, everyMs: 0 }), /not so within 0\.001 s: .*never/);
  await assert.rejects(until(() => never, { what: "rain", withinMs: 1 }), /: rain$/);
});

/** This file, and a program that tests start in its own process. */
const OWN_DIRECTORY = ["waits_test.ts", "system/run_commands.ts"];

Deno.test("no test changes the working directory, which all tests of the process share", async () => {
  const found: string[] = [];
  for await (const file of sources(TESTS)) {
    const path = file.slice(TESTS.length);
    if (!OWN_DIRECTORY.includes(path) && /\bchdir\(/.test(await Deno.readTextFile(file))) found.push(path);
  }
  assert.deepEqual(found, []);
});
