import assert from "node:assert/strict";
import { bundleProgram, MAIN_MODULE, MODULES } from "../../bin/build/program.ts";

Deno.test("bundleProgram() writes ASCII with the meaning of the source", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const source = `${folder}/main.ts`;
    await Deno.writeTextFile(
      source,
      'export const text = `· ${"–"} 😀`; /* … */ export const matches = /^[à-ö]$/u.test("é");\n',
    );
    const text = (await bundleProgram({ "main.js": source })).get("main.js") ?? "";
    assert.match(text, /^[\0-\x7F]+$/);
    const made = await import(`data:text/javascript,${encodeURIComponent(text)}`);
    assert.deepEqual({ ...made }, { text: "· – 😀", matches: true });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("bundleProgram() keeps lazily imported modules in separate files, in one folder", async () => {
  const program = await bundleProgram();
  assert.deepEqual([...program.keys()].slice(0, 3), Object.keys(MODULES));
  assert([...program.keys()].every((name) => /^[\w.-]+\.js$/.test(name)));
  const imported = new Map([...program].map(([name, text]) => [
    name,
    [...text.matchAll(/\b(?:from |import )"\.\/([^"]+)"/g)].map(([, imported = ""]) => imported),
  ]));
  for (const name of [...imported.values()].flat()) assert(program.has(name), name);
  const loaded = new Set([MAIN_MODULE]);
  for (const name of loaded) imported.get(name)?.forEach((imported) => loaded.add(imported));
  const size = (names: Iterable<string>) =>
    [...names].reduce((sum, name) => sum + (program.get(name)?.length ?? 0), 0);
  assert(size(loaded) > 0 && size(loaded) < size(program.keys()) / 4, `${size(loaded)} bytes`);
  const texts = [...program.values()].join("");
  // The core may read the folder of its modules: see permissions.ts
  assert(
    texts.includes('new URL("./", import.meta.url)') && !texts.includes('new URL("../", import.meta.url)'),
  );
});
