import { join, resolve } from "node:path";
import { CommandFailed } from "../../command.ts";

/** Where the Java service's package has its libraries. */
const PACKAGE_LIBRARIES = "/usr/share/unicore/authserver/lib";

/** An installation of the Java service, from its archive (a folder with `conf/`) or its package (`/etc/unicore/authserver`). */
export interface JavaInstallation {
  /** Folder that relative paths of its configuration start from. */
  readonly root: string;
  /** Absolute. */
  readonly conf: string;
  /** Folder of its libraries; the driver of the share database is among them. */
  readonly libraries: string;
}

const MAIN_FILE = "container.properties";

/** @throws {CommandFailed} If there is no configuration in the folder. */
export async function findJavaInstallation(folder: string): Promise<JavaInstallation> {
  const root = resolve(folder);
  for (const conf of [root, join(root, "conf")]) {
    if (!await isFile(join(conf, MAIN_FILE))) continue;
    return conf === root
      ? { root: join(root, ".."), conf, libraries: PACKAGE_LIBRARIES }
      : { root, conf, libraries: join(root, "lib") };
  }
  throw new CommandFailed(
    `expected ${MAIN_FILE} in ${root} or in ${join(root, "conf")}: ` +
      "the folder of the Java service, or that of its configuration",
  );
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    if (error instanceof Error) throw new CommandFailed(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A file of the installation's `conf/`. */
export interface ConfigurationFile {
  /** Relative to `conf/`. */
  readonly path: string;
  readonly mode: number;
  readonly content: Uint8Array;
}

/** Everything that was found below a folder. */
export interface FoundFiles {
  readonly files: readonly ConfigurationFile[];
  /** What is no file that could be copied, with why. */
  readonly left: readonly string[];
}

/** Larger ones are no configuration: the largest map file and truststore that are read at all are smaller. */
const MAX_FILE = 256 * 1024 * 1024;

/**
 * Reads all files below `conf/`. Links to files are followed; links to folders are not.
 * @throws {CommandFailed} If one cannot be read.
 */
export async function readFiles(conf: string, below = ""): Promise<FoundFiles> {
  const files: ConfigurationFile[] = [];
  const left: string[] = [];
  const entries = await Array.fromAsync(Deno.readDir(join(conf, below)));
  for (const { name, isDirectory, isSymlink } of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
    const path = join(below, name);
    if (isDirectory) {
      const inner = await readFiles(conf, path);
      files.push(...inner.files);
      left.push(...inner.left);
      continue;
    }
    try {
      const { isFile, mode, size } = await Deno.stat(join(conf, path));
      if (!isFile) left.push(`${path}: ${isSymlink ? "leads to no file" : "no file"}`);
      else if (size > MAX_FILE) left.push(`${path}: larger than ${MAX_FILE} bytes`);
      else {files.push({
          path,
          mode: (mode ?? 0o600) & 0o777,
          content: await Deno.readFile(join(conf, path)),
        });}
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) left.push(`${path}: leads nowhere`);
      else if (error instanceof Error) throw new CommandFailed(`${path}: ${error.message}`, { cause: error });
      else throw error;
    }
  }
  return { files, left };
}
