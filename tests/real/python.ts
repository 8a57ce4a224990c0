import { run } from "./lacking.ts";

/**
 * Creates a virtual environment with packages of PyPI. Tests remove it at their end.
 * @returns Its folder. @throws If Python or PyPI is not available.
 */
export async function virtualEnvironment(packages: readonly string[]): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "authserver-python-" });
  Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));
  await run("python3", ["-m", "venv", folder]);
  await run(`${folder}/bin/pip`, ["install", "--quiet", ...packages]);
  return folder;
}
