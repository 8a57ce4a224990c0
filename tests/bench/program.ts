import { compile } from "../../bin/build/compile.ts";
import { readProject, ROOT } from "../../bin/build/project.ts";
import { isTarget } from "../../bin/build/target.ts";

/** A way to run the service: a command that takes the service's arguments. */
export interface Program {
  /** `source` or `executable`. */
  readonly name: string;
  readonly command: readonly string[];
}

/** As the task `start` runs it. */
export async function fromSource(): Promise<Program> {
  const flags = await flagsOf(/^--(?:v8-flags|allow-)/);
  const run = ["run", "--quiet", "--no-check", ...flags, `--config=${ROOT}/deno.json`, `${ROOT}/main.ts`];
  return { name: "source", command: [Deno.execPath(), ...run] };
}

/** The settings of the engine that the service runs with. */
export function engineFlags(): Promise<readonly string[]> {
  return flagsOf(/^--v8-flags/);
}

async function flagsOf(kind: RegExp): Promise<readonly string[]> {
  const { runtimeFlags } = await readProject();
  return runtimeFlags.filter((flag) => kind.test(flag));
}

/** Makes the executable of this system, which takes some seconds. @param folder Where it is put. */
export async function makeExecutable(folder: string): Promise<Program> {
  const { target } = Deno.build;
  if (!isTarget(target)) throw new TypeError(`no executable can be made for ${target}`);
  const output = `${folder}/authserver`;
  const form = await compile({ target, output, selfExtracting: false, sbom: false });
  return { name: form === "native" ? "executable" : "self-extracting executable", command: [output] };
}
