import { compile } from "../../bin/build/compile.ts";
import { readProject } from "../../bin/build/project.ts";
import { isTarget } from "../../bin/build/target.ts";
import { runFromSource } from "../system/service_process.ts";

/** A way to run the service: a command that takes the service's arguments. */
export interface Program {
  /** `source` or `executable`. */
  readonly name: string;
  readonly command: readonly string[];
}

/** Returns the program as the task `start` runs it. */
export async function fromSource(): Promise<Program> {
  return { name: "source", command: [Deno.execPath(), ...await runFromSource()] };
}

/** Returns the V8 flags of the service. */
export async function engineFlags(): Promise<readonly string[]> {
  return (await readProject()).programFlags.filter((flag) => flag.startsWith("--v8-flags"));
}

/** Builds the executable for this system, which takes some seconds. @param folder Destination. */
export async function makeExecutable(folder: string): Promise<Program> {
  const { target } = Deno.build;
  if (!isTarget(target)) throw new TypeError(`no executable can be made for ${target}`);
  const output = `${folder}/authserver`;
  const form = await compile({ target, output, selfExtracting: false, sbom: false });
  return { name: form === "native" ? "executable" : "self-extracting", command: [output] };
}
