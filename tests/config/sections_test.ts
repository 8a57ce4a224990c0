import assert from "node:assert/strict";
import type { Key } from "../../src/config/key.ts";
import { sections } from "../../bin/docs/sections.ts";
import { KINDS } from "../../src/service/kinds.ts";

const SECTIONS = await sections(KINDS);

/** Returns every key of every section, by its name in the file. */
function* allKeys(): Generator<[name: string, key: Key<unknown>]> {
  for (const { prefix, keys } of SECTIONS) {
    for (const [field, key] of Object.entries(keys)) {
      const name = prefix + (key.name ?? field);
      yield key.shape === "many" ? [`${name}.<x>`, key.item] : [name, key];
    }
  }
}

Deno.test("SECTIONS explain every key in a sentence without full stop", () => {
  for (const [name, { help, type }] of allKeys()) {
    assert.match(help, /^[A-Z].{10,140}[^.]$/, name);
    assert.notEqual(type, "", name);
  }
});

Deno.test("SECTIONS have defaults that their own keys accept", () => {
  for (const [name, { absent, parse }] of allKeys()) {
    if (absent?.value === undefined) continue;
    const written = Array.isArray(absent.value) ? absent.value.join(" ") : String(absent.value);
    assert.deepEqual(parse(written, { workingDirectory: "/" }), absent.value, name);
  }
});

Deno.test("SECTIONS offer choices that their own keys accept", () => {
  for (const [name, { json: { words = [] }, parse }] of allKeys()) {
    for (const choice of words) assert.doesNotThrow(() => parse(choice, { workingDirectory: "/" }), name);
  }
});

Deno.test("SECTIONS give reasons that continue the word ignored", () => {
  for (const { ignored = {} } of SECTIONS) {
    for (const [key, why] of Object.entries(ignored)) assert.match(why, /^[a-zA-Z].{5,130}[^.]$/, key);
  }
});

Deno.test("SECTIONS list no key as both used and ignored", () => {
  for (const { prefix, keys, ignored = {} } of SECTIONS) {
    for (const [field, { name = field }] of Object.entries(keys)) {
      assert.ok(!(name in ignored), prefix + name);
    }
  }
});

Deno.test("SECTIONS have the bounds and defaults that the manual states", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/configuration.md", import.meta.url));
  // A key of several kinds has a row for each kind.
  const rows = Map.groupBy([...page.matchAll(/^\| `([^`]+)`.*$/gm)], ([, name = ""]) => name);
  const different: string[] = [];
  for (const [name, { absent, type }] of allKeys()) {
    if (typeof absent?.value !== "number") continue;
    const said = (rows.get(name) ?? []).map(([row]) => row);
    const isThere = said.some((row) => row.includes(`\`${absent.value}\``) && row.includes(type));
    if (!isThere) different.push(`${name}: ${said.join() || "no row"}`);
  }
  assert.deepEqual(different, [], "please run deno task docs if it is meant so");
});
