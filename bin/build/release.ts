/**
 * `deno task release`: everything that is given out, in `dist/`: executable, archive, packages for Debian and for systems
 * with RPM, list of components, and their digests.
 */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { archiveFiles, writeArchive } from "./archive.ts";
import { changelogSection } from "./changelog.ts";
import { compile } from "./compile.ts";
import { writeDeb } from "./deb.ts";
import { programFiles } from "./package_files.ts";
import { readProject, ROOT } from "./project.ts";
import { writeRpm } from "./rpm.ts";
import { ToolFailed } from "./run_tool.ts";
import { isTarget, type Target, TARGETS } from "./target.ts";

const USAGE = `Usage: deno task release [TARGET]

TARGET is ${Object.keys(TARGETS).join(" or ")} (default: this system)`;

/** Names of the files of a release. */
export function releaseNames(version: string, target: Target) {
  const { debian, rpm } = TARGETS[target];
  const name = `authserver-${version}-linux-${rpm}`;
  return {
    executable: name,
    sbom: `${name}.cdx.json`,
    archive: `${name}.tar.gz`,
    deb: `authserver_${version}_${debian}.deb`,
    rpm: `authserver-${version}-1.${rpm}.rpm`,
  };
}

/**
 * @param folder Where to, absolute; it is made.
 * @returns Paths of what was made.
 * @throws {ToolFailed} If a tool fails, or version and changelog do not agree.
 */
export async function release(target: Target, folder: string): Promise<string[]> {
  const { version, license } = await readProject();
  changelogSection(await Deno.readTextFile(`${ROOT}/CHANGELOG.md`), version);
  const { debian, rpm } = TARGETS[target];
  const names = releaseNames(version, target);
  const program = `${folder}/${names.executable}`;
  await compile({ target, output: program, selfExtracting: false, sbom: true });
  const files = await programFiles(program);
  await writeArchive(
    `${folder}/${names.archive}`,
    `authserver-${version}`,
    await archiveFiles(await Deno.readFile(program)),
  );
  await writeDeb({ output: `${folder}/${names.deb}`, version, architecture: debian, files });
  await writeRpm({ output: `${folder}/${names.rpm}`, version, license, architecture: rpm, files });
  const made = Object.values(names).map((name) => `${folder}/${name}`);
  const sums = `${folder}/SHA256SUMS`;
  await Deno.writeTextFile(sums, (await Promise.all(made.toSorted().map(digestLine))).join(""));
  return [...made, sums];
}

/** As `sha256sum -c` reads it. */
async function digestLine(path: string): Promise<string> {
  const digest = createHash("sha256").update(await Deno.readFile(path)).digest("hex");
  return `${digest}  ${basename(path)}\n`;
}

async function main(): Promise<number> {
  const [target = Deno.build.target, ...more] = Deno.args;
  if (!isTarget(target) || more.length > 0) {
    console.error(USAGE);
    return 2;
  }
  try {
    for (const path of await release(target, `${ROOT}/dist`)) console.log(path);
    return 0;
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error;
    console.error(error.message);
    return 1;
  }
}

if (import.meta.main) Deno.exit(await main());
