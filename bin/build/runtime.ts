import { runTool } from "./run_tool.ts";
import { type Target, TARGETS } from "./target.ts";

/**
 * The official Deno executable, of the version that runs this build: that executable itself, or for another system the one
 * that Deno's makers publish on npm.
 */
export async function readRuntime(target: Target): Promise<Uint8Array> {
  if (target === Deno.build.target) return await Deno.readFile(Deno.execPath());
  const folder = await Deno.makeTempDir({ prefix: "authserver-runtime-" });
  try {
    const wanted = `${TARGETS[target].runtimePackage}@${Deno.version.deno}`;
    // npm checks the archive against the registry's integrity hash.
    const archive = (await runTool("npm", ["pack", wanted], { cwd: folder })).trim().split("\n").at(-1) ?? "";
    await runTool("tar", ["-xzf", archive, "package/deno"], { cwd: folder });
    return await Deno.readFile(`${folder}/package/deno`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
