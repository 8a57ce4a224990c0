/** `deno task compile`: makes `dist/authserver`, the one executable file. */
import { dirname, resolve } from "node:path";
import { parseArgs } from "node:util";
import { canCompile, compileNative } from "./native.ts";
import { bundleProgram } from "./program.ts";
import { readProject, ROOT } from "./project.ts";
import { readRuntime } from "./runtime.ts";
import { ToolFailed } from "./run_tool.ts";
import { createSbom } from "./sbom.ts";
import { replaceFile } from "./replace_file.ts";
import { packSelfExtracting } from "./self_extracting.ts";
import { isTarget, type Target, TARGETS } from "./target.ts";

const USAGE = `Usage: deno task compile [options]

Makes dist/authserver with deno compile, or where its runtime denort cannot be had, as a self-extracting executable.

  --target NAME      ${Object.keys(TARGETS).join(" or ")} (default: this system)
  --output FILE      default: dist/authserver
  --self-extracting  make that form even if denort can be had
  --sbom             also write the list of components, CycloneDX JSON, to FILE.cdx.json
`;

/** What the arguments say. */
export interface Wanted {
  readonly target: Target;
  /** Absolute. */
  readonly output: string;
  readonly selfExtracting: boolean;
  readonly sbom: boolean;
}

/** @returns What is wanted, or what is wrong with the arguments. */
function readArguments(args: readonly string[]): Wanted | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        target: { type: "string", default: Deno.build.target },
        output: { type: "string", default: `${ROOT}/dist/authserver` },
        "self-extracting": { type: "boolean", default: false },
        sbom: { type: "boolean", default: false },
      },
    });
    const { target, sbom } = values;
    if (!isTarget(target)) return `There is no target ${target}`;
    return { target, sbom, output: resolve(values.output), selfExtracting: values["self-extracting"] };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** `self-extracting` was asked for, `fallback` is the same since `denort` cannot be had. */
export type Form = "native" | "self-extracting" | "fallback";

const FORMS: Readonly<Record<Form, string>> = {
  "native": "made with deno compile",
  "self-extracting": "a self-extracting executable with the official Deno binary",
  "fallback": "a self-extracting executable with the official Deno binary, " +
    "since denort, the runtime that deno compile needs, cannot be had here",
};

/** Makes the executable. @throws {ToolFailed} If a tool fails. */
export async function compile({ target, output, selfExtracting, sbom }: Wanted): Promise<Form> {
  const [project, program] = [await readProject(), await bundleProgram()];
  const flags = project.runtimeFlags;
  await Deno.mkdir(dirname(output), { recursive: true });
  const form = selfExtracting ? "self-extracting" : await canCompile(target) ? "native" : "fallback";
  if (form === "native") {
    await compileNative({ output, target, version: project.version, program, flags });
  } else {
    const runtime = await readRuntime(target);
    await replaceFile(
      output,
      packSelfExtracting({ version: project.version, target, runtime, program, flags }),
    );
  }
  if (sbom) await Deno.writeTextFile(`${output}.cdx.json`, await createSbom(project, target, program));
  return form;
}

async function main(): Promise<number> {
  const wanted = readArguments(Deno.args);
  if (typeof wanted === "string") {
    console.error(`${wanted}\n\n${USAGE}`);
    return 2;
  }
  try {
    const form = await compile(wanted);
    const { size } = await Deno.stat(wanted.output);
    console.log(`${wanted.output} for ${wanted.target}, ${(size / 1e6).toFixed(1)} MB: ${FORMS[form]}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    console.error(error.message);
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main());
