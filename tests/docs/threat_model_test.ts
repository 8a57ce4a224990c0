import assert from "node:assert/strict";

Deno.test("every test that the threat model relies on exists", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/threat-model.md", import.meta.url));
  const named = [...page.matchAll(/`([a-z_/]+(?:_test\.ts|\/))`/g)].map(([, path = ""]) => path);
  assert(named.length > 20, "the page names its tests");
  for (const path of named) {
    const found = await Deno.stat(new URL(`../${path}`, import.meta.url)).then(() => true, () => false);
    assert(found, `there is no tests/${path}`);
  }
});
