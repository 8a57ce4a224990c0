import assert from "node:assert/strict";
import { readProject, ROOT } from "../../bin/build/project.ts";
import { createSbom } from "../../bin/build/sbom.ts";
import { isTarget } from "../../bin/build/target.ts";

/** Returns a bundled module with code of these packages, marked as by the bundler. */
const moduleOf = (packages: readonly string[]) =>
  packages.map((id) => `// npm:${id}/lib/index.js\nvar x;\n`).join("");

/** Returns the versions of packages in the lock file, by name. */
async function locked(): Promise<ReadonlyMap<string, string>> {
  const { npm } = JSON.parse(await Deno.readTextFile(`${ROOT}/deno.lock`));
  return new Map(
    Object.keys(npm).map((id) => {
      const at = id.lastIndexOf("@");
      return [id.slice(0, at), id.slice(at + 1)];
    }),
  );
}

Deno.test("createSbom() lists only packages with code in the program, not their other dependencies", async () => {
  const { target } = Deno.build;
  assert(isTarget(target));
  const versions = await locked();
  assert(versions.has("cpu-features"), "ssh2 would like it");
  const names = ["@xmldom/xmldom", "asn1", "bcrypt-pbkdf", "safer-buffer", "ssh2", "tweetnacl"];
  const ids = names.map((name) => `${name}/${versions.get(name)}`);
  const program = new Map([["main.js", moduleOf(ids)], ["core_worker.js", moduleOf(ids.slice(0, 1))]]);
  const { components, dependencies } = JSON.parse(await createSbom(await readProject(), target, program));
  const listed: string[] = components.map(({ name }: { readonly name: string }) => name);
  assert.deepEqual(listed, ["deno", ...names]);
  const known = new Set(dependencies.map(({ ref }: { readonly ref: string }) => ref));
  for (const { ref, dependsOn } of dependencies) {
    for (const needed of dependsOn) assert(known.has(needed), `${ref} needs ${needed}, which is not listed`);
  }
});
