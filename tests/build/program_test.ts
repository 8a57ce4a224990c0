import assert from "node:assert/strict";
import { bundleProgram } from "../../bin/build/program.ts";

Deno.test("bundleProgram() writes ASCII that means what the source means", async () => {
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
