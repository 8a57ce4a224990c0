import assert from "node:assert/strict";
import { outdatedPages } from "../../bin/docs/generate.ts";
import { ERRORS } from "../../src/model/errors.ts";

Deno.test("the generated pages of the manual are up to date (deno task docs)", async () => {
  assert.deepEqual(await outdatedPages(), []);
});

Deno.test("ERRORS is sorted by code, and src uses each code", async () => {
  const codes = Object.keys(ERRORS);
  assert.deepEqual(codes, codes.toSorted());
  const named = new Set<string>();
  for await (const path of sources(new URL("../../src", import.meta.url).pathname)) {
    if (path.endsWith("/model/errors.ts")) continue;
    for (const [, code = ""] of (await Deno.readTextFile(path)).matchAll(/"(ERR_\w+)"/g)) named.add(code);
  }
  assert.deepEqual(codes.filter((code) => !named.has(code)), []);
});

async function* sources(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* sources(path);
    else if (name.endsWith(".ts")) yield path;
  }
}
