import assert from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url).pathname;

Deno.test("files and folders that the architecture page names exist", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/architecture.md`);
  const named = [...page.matchAll(/`([a-z0-9_/]+(?:\/|\/[a-z0-9_]+\.ts))[`,]/g)].map(([, path = ""]) => path);
  assert(named.length > 40, `only ${named.length} paths are found`);
  const missing: string[] = [];
  for (const path of named) {
    const places = [
      "",
      "src/",
      "tests/",
      "src/authentication/",
      "src/command/",
      "src/service/",
      "src/daemon/",
    ];
    const found = await Promise.all(
      places.map((place) => Deno.stat(`${ROOT}${place}${path}`).then(() => true, () => false)),
    );
    if (!found.includes(true)) missing.push(path);
  }
  assert.deepEqual(missing, []);
});

Deno.test("the architecture page lists each tested workaround", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/architecture.md`);
  const list = page.slice(page.indexOf("## Workarounds for the runtime"));
  const test = await Deno.readTextFile(`${ROOT}tests/runtime/workarounds_test.ts`);
  const told = [...test.matchAll(/"([a-z_0-9/]+\.ts)(?: #\w+)?"/g)].map(([, path = ""]) => path);
  assert(told.length >= 10, `only ${told.length} workarounds are found`);
  assert.deepEqual(told.filter((path) => !list.includes(`\`${path}\``)), []);
});
