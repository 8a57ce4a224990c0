import { compare } from "../../../model/text.ts";
import { isAbsolute, join, relative, resolve } from "node:path";
import { readdir } from "node:fs/promises";
import { loadProperties, type Properties } from "../../../config/properties.ts";
import { isPattern, matchingFiles } from "../../../config/tls/glob.ts";
import type { Diagnostic } from "../../../model/diagnostic.ts";
import { CommandFailed, failedAt, MAIN_FILE } from "../../command.ts";
import { SYSTEM_INFO } from "../../system_info.ts";

const PACKAGE_LIBRARIES = "/usr/share/unicore/authserver/lib";

/** Installation of the Java service from its archive (a folder with `conf/`) or package (`/etc/unicore/authserver`). */
export interface JavaInstallation {
  readonly root: string; // base of relative paths in its configuration
  readonly conf: string; // absolute
  readonly libraries: string; // libraries with the driver of the share database
  readonly properties: Properties; // of the main file and its includes
  readonly keys: ReadonlySet<string>; // keys in these files, also with unusable values
  readonly diagnostics: readonly Diagnostic[]; // from reading them
}

/** Finds the configuration in a folder, or in `conf/` in it. @throws {CommandFailed} If there is no configuration. */
export async function findJavaInstallation(folder: string): Promise<JavaInstallation> {
  const root = resolve(folder);
  for (const conf of [root, join(root, "conf")]) {
    if (!await exists(join(conf, MAIN_FILE))) continue;
    const places = conf === root
      ? { root: join(root, ".."), libraries: PACKAGE_LIBRARIES }
      : { root, libraries: join(root, "lib") };
    const diagnostics: Diagnostic[] = [];
    const context = { ...SYSTEM_INFO, workingDirectory: places.root };
    const properties = await loadProperties(join(conf, MAIN_FILE), context, diagnostics);
    const keys = new Set([...properties.entries.keys(), ...properties.unusable]);
    return { ...places, conf, properties, keys, diagnostics };
  }
  throw new CommandFailed(
    `Expected ${MAIN_FILE} in ${root} or in ${join(root, "conf")}: ` +
      "the folder of the Java service, or that of its configuration (unpack an archive first)",
  );
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return false;
    if (error instanceof Error && "code" in error && error.code === "ENAMETOOLONG") return false;
    failedAt(path, error);
  }
}

export interface ConfigurationFile {
  readonly path: string; // relative to `conf/`, or to the installation's folder
  readonly mode: number;
  readonly content: Uint8Array;
}

interface FoundFiles {
  readonly files: readonly ConfigurationFile[];
  readonly left: readonly string[]; // entries that cannot be copied, with reasons
}

const MAX_FILE = 256 * 1024 * 1024; // bytes; the largest map file and truststore are smaller

/** Reads all files below `conf/`; follows links to files, not to folders. @throws {CommandFailed} If something is unreadable. */
export async function readFiles(conf: string): Promise<FoundFiles> {
  const entries = await readdir(conf, { recursive: true, withFileTypes: true })
    .catch((error) => failedAt(conf, error));
  const others = entries.filter((entry) => !entry.isDirectory());
  return await readAll(others.map(({ parentPath, name }) => join(parentPath, name)), conf);
}

async function readAll(paths: Iterable<string>, base: string): Promise<FoundFiles> {
  const files: ConfigurationFile[] = [];
  const left: string[] = [];
  for (const file of [...paths].toSorted(compare)) {
    const path = relative(base, file);
    const found = await readFile(file);
    if (typeof found === "string") left.push(`${path}: ${found}`);
    else files.push({ path, ...found });
  }
  return { files, left };
}

/** @returns Reason why it is skipped. @throws {CommandFailed} */
async function readFile(path: string): Promise<Omit<ConfigurationFile, "path"> | string> {
  try {
    const { isDirectory, isFile, mode, size } = await Deno.stat(path);
    if (!isFile) return isDirectory ? "leads to a folder" : "no file";
    if (size > MAX_FILE) return `larger than ${MAX_FILE} bytes`;
    return { mode: (mode ?? 0o600) & 0o777, content: await Deno.readFile(path) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "leads nowhere";
    failedAt(path, error);
  }
}

/**
 * Reads files that a configuration names by relative paths beside `conf/`, such as `certs/`, and includes there.
 * @returns Paths relative to the installation's folder. @throws {CommandFailed} If a file is unreadable.
 */
export async function readFilesBeside({ root, conf, properties }: JavaInstallation): Promise<FoundFiles> {
  const paths = new Set<string>();
  const isBeside = (path: string) =>
    !relative(root, path).startsWith("..") && relative(conf, path).startsWith("..");
  for (const named of [...properties.entries.values()].flatMap(({ value, file }) => [value.trim(), file])) {
    // A pattern without a folder, such as `*` in other settings, names no files.
    if (named === "" || isAbsolute(named) || (isPattern(named) && !named.includes("/"))) continue;
    const path = resolve(root, named);
    const found = isPattern(named) ? await matchingFiles(path, (error) => failedAt(path, error)) : undefined;
    for (const file of found?.files ?? [path]) {
      if (isBeside(file) && await exists(file)) paths.add(file);
    }
  }
  return await readAll(paths, root);
}
