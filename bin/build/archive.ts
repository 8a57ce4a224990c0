import { dirname, join } from "node:path";
import { FOLDER_FILES } from "../../src/command/files/installation/sample_file.ts";
import { filesBelow, linkedFromManual, type PackageFile } from "./package_files.ts";
import { ROOT } from "./project.ts";
import { releaseDate } from "./release_date.ts";
import { runTool } from "./run_tool.ts";

/**
 * Everything of an installation in a folder of its own: `bin/` with program and scripts, `conf/` to start from, `docs/`.
 * @param program The executable.
 */
export async function archiveFiles(program: Uint8Array): Promise<PackageFile[]> {
  const shipped = [
    ...await filesBelow("bin", /^bin\/[^/]+\.sh$/),
    "conf/startup.properties",
    ...await filesBelow("docs"),
  ];
  const texts = ["LICENSE", ...await linkedFromManual(), ...shipped];
  return [
    { path: "bin/authserver", mode: 0o755, content: program },
    ...FOLDER_FILES.map(({ path, mode, text }) => ({ path, mode, content: text })),
    ...await Promise.all(texts.map(async (path) => ({
      path,
      mode: /^bin\/authserver/.test(path) ? 0o755 : 0o644,
      content: await Deno.readFile(join(ROOT, path)),
    }))),
  ];
}

/**
 * Writes a compressed archive with one folder in it.
 * @param folder Name of that folder.
 * @throws {ToolFailed} If `tar` refuses.
 */
export async function writeArchive(
  output: string,
  folder: string,
  files: readonly PackageFile[],
): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "authserver-archive-" });
  try {
    for (const file of files) await writePackageFile(join(root, folder), file);
    await runTool("tar", [
      "--sort=name",
      "--owner=root:0",
      "--group=root:0",
      `--mtime=@${Math.floor(releaseDate().getTime() / 1000)}`,
      "--use-compress-program=gzip -n",
      `--directory=${root}`,
      "-cf",
      output,
      folder,
    ]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** Writes a file below a folder that stands for the root, with modes that are the same whatever the umask is. */
export async function writePackageFile(root: string, { path, mode, content }: PackageFile): Promise<void> {
  const target = join(root, path);
  await Deno.mkdir(dirname(target), { recursive: true });
  for (let folder = dirname(target); folder.length >= root.length; folder = dirname(folder)) {
    await Deno.chmod(folder, 0o755);
  }
  if (typeof content === "string") await Deno.writeTextFile(target, content);
  else await Deno.writeFile(target, content);
  await Deno.chmod(target, mode);
}
