import { hasProgram, lacking } from "./lacking.ts";
import { virtualEnvironment } from "./python.ts";

const VERSION = "1.1.1";

/**
 * Returns the path of the client `pyuftp`: from `PYUFTP`, or on the path, or from PyPI.
 * @param part Name of the tests that need it.
 */
export async function findPyuftp(part: string): Promise<string | undefined> {
  const set = Deno.env.get("PYUFTP");
  if (set !== undefined) return set;
  if (await hasProgram("pyuftp")) return "pyuftp";
  try {
    return `${await virtualEnvironment([`pyuftp==${VERSION}`])}/bin/pyuftp`;
  } catch (error) {
    lacking(part, `PyPI is not reached (${String(error).split("\n")[0]})`);
    return undefined;
  }
}
