/** `deno task package:deb`: makes the executable and a Debian package of it in `dist/`. */
import { compile } from "./compile.ts";
import { writeDeb } from "./deb.ts";
import { programFiles } from "./package_files.ts";
import { readProject, ROOT } from "./project.ts";
import { ToolFailed } from "./run_tool.ts";
import { isTarget, TARGETS } from "./target.ts";

const USAGE = `Usage: deno task package:deb [TARGET]

TARGET is ${Object.keys(TARGETS).join(" or ")} (default: this system)`;

/** @returns Path of the package. */
export async function packageDeb(target: keyof typeof TARGETS): Promise<string> {
  const { version } = await readProject();
  const architecture = TARGETS[target].debian;
  const program = `${ROOT}/dist/authserver-${architecture}`;
  const form = await compile({ target, output: program, selfExtracting: false, sbom: true });
  const output = `${ROOT}/dist/authserver_${version}_${architecture}.deb`;
  await writeDeb({ output, version, architecture, files: await programFiles(program) });
  console.log(`${output}, with ${form === "native" ? "a compiled" : "a self-extracting"} executable`);
  return output;
}

async function main(): Promise<number> {
  const [target = Deno.build.target, ...more] = Deno.args;
  if (!isTarget(target) || more.length > 0) {
    console.error(USAGE);
    return 2;
  }
  try {
    await packageDeb(target);
    return 0;
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    console.error(error.message);
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main());
