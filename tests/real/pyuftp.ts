import { hasProgram, lacking } from "./lacking.ts";
import { virtualEnvironment } from "./python.ts";

const VERSION = "1.1.1";

/**
 * Path of the client `pyuftp`: `PYUFTP`, or on the path, or from PyPI.
 * @param part What is not tried without it.
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
