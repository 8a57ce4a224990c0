import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { policyOf } from "../../src/pages/policy.ts";

Deno.test("policyOf() permits only what a page needs", () => {
  const plain = policyOf();
  assert.match(plain, /^default-src 'none'; style-src 'sha256-[^ ]+='; img-src data:; require-trusted/);
  for (
    const end of ["form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'", "trusted-types 'none'"]
  ) {
    assert(plain.split("; ").includes(end), end);
  }
  assert.doesNotMatch(plain, /script-src|connect-src|'self'|unsafe/);
  assert.match(policyOf({ forms: true }), /; form-action 'self';/);
  assert.match(policyOf({ images: true }), /; img-src data: 'self';/);
  const hash = createHash("sha256").update("go()").digest("base64");
  assert.doesNotMatch(policyOf({ script: "go()" }), /connect-src/);
  assert.match(policyOf({ connects: true }), /; connect-src 'self';/);
  assert(policyOf({ script: "go()" }).includes(`; script-src 'sha256-${hash}';`));
});

Deno.test("the scripts of all pages together have at most 30 KiB", async () => {
  const count = async (folder: URL): Promise<number> => {
    let bytes = 0;
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) bytes += await count(new URL(`${name}/`, folder));
      else if (name.endsWith(".js")) bytes += (await Deno.stat(new URL(name, folder))).size;
    }
    return bytes;
  };
  const bytes = await count(new URL("../../src/pages/", import.meta.url));
  assert(bytes > 1000 && bytes <= 30 * 1024, `${bytes} bytes`);
});
