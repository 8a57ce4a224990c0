import { dirname, resolve } from "node:path";
import type { DatabaseConfig } from "../../config/service_config.ts";
import { counted, messageOf } from "../../model/text.ts";
import { exists, ifExists, readRegularFile } from "../../model/regular_file.ts";
import { VERSION } from "../../service/version.ts";
import { copyDatabase, databaseDamage, leaveWalMode } from "../../store/sqlite_database.ts";
import { CommandFailed, defineCommand } from "../command.ts";
import { configFile, unusableConfiguration } from "../config_option.ts";
import { createHash } from "node:crypto";
import { isJsonObject } from "../../model/json_object.ts";
import { SHARE_DATABASE, SHARE_SCHEMA } from "../../sharing/store/schema.ts";
import { RECORD_DATABASE, RECORD_SCHEMA } from "../../store/sqlite_record_store.ts";
import { open } from "node:fs/promises";
import { askRunning, NotRunning } from "../running/ask_running.ts";
import { localIds, nameOf, SYSTEM_PATHS } from "../diagnosis/service_account.ts";
import { BUNDLES } from "../../config/tls/truststore.ts";
import { loadSnapshot } from "../../service/assembly/load_snapshot.ts";
import { SYSTEM_INFO } from "../system_info.ts";

const NEW = { mode: 0o600, createNew: true };

/** Command `authserver backup`. */
export const backup = defineCommand({
  name: "backup",
  summary: "Copy configuration, keys, users and data into a new folder, while the service runs",
  details: [
    "Copies all files that the configuration names, and a consistent copy of each SQLite database. With PostgreSQL, prints the command that dumps the database. The folder has mode 700, its files 600: they contain keys and secrets. manifest.json lists them with owners, modes and digests, and the version.",
    "Run it as root or as the account of the service. authserver restore puts everything back.",
  ],
  operands: { folder: "New folder for the copy" },
  options: {},
}, async (given) => {
  const folder = resolve(given.operand("folder"));
  const configuration = resolve(await configFile(given));
  // Does not check the content of the files: a backup includes expired certificates, too.
  const { config, dependsOn, diagnostics } = await loadSnapshot(configuration, SYSTEM_INFO);
  if (config === undefined) throw unusableConfiguration(configuration, diagnostics);
  const { directory, database } = config.sharing;
  const named = [...new Set(dependsOn.map((path) => resolve(path)))];
  const [files, credentials] = [named.filter((path) => !isOfHost(path)), named.filter(isCredential)];
  const isFile = await Promise.all(files.map(async (path) => (await ifExists(Deno.stat(path)))?.isFile));
  const missing = files.filter((_, i) => isFile[i] === undefined);
  await Deno.mkdir(folder, { mode: 0o700 }).catch((cause) => {
    throw new CommandFailed(`Expected a new folder in an existing one, found ${folder}: ${cause}`, { cause });
  });
  const made = new Date().toISOString();
  const { dump, load } = database === undefined ? {} : postgresCommands(folder, database);
  const copied: BackupFile[] = [];
  try {
    for (const path of files.filter((_, i) => isFile[i])) {
      const bytes = await readRegularFile(path);
      copied.push(await copyOne(folder, path, (copy) => Deno.writeFile(copy, bytes, NEW)));
    }
    const mayLack = database !== undefined;
    for (const path of directory === undefined ? [] : await databasesIn(resolve(directory), mayLack)) {
      copied.push(await copyOne(folder, path, (copy) => copyDatabase(path, copy)));
    }
    const manifest: Manifest = { format: 1, version: VERSION, made, configuration, files: copied, load };
    await Deno.writeTextFile(`${folder}/${MANIFEST}`, JSON.stringify(manifest, undefined, 2), NEW);
  } catch (cause) {
    await Deno.remove(folder, { recursive: true });
    throw new CommandFailed(`Nothing copied: ${messageOf(cause)}`, { cause });
  }
  const text = [
    `${counted(copied.length, "file", "files")} of version ${VERSION} copied to ${folder}\n`,
    missing.length > 0 && `Missing: ${missing.join(" ")}\n`,
    dump && `Add the database: ${dump}\n`,
    credentials.length > 0 &&
    `Not copied: ${credentials.join(" ")}. Back up the sources of systemd credentials separately\n`,
  ].filter((line) => line).join("");
  return { value: { folder, files: copied.map(({ path }) => path), missing, credentials, dump }, text };
});

/** Reports whether the host provides a file: a bundle of public authorities, or a systemd credential. */
const isOfHost = (path: string) => BUNDLES.includes(path) || isCredential(path);

function isCredential(path: string): boolean {
  const folder = SYSTEM_INFO.environment("CREDENTIALS_DIRECTORY") || "/run/credentials";
  return path.startsWith(`${resolve(folder)}/`);
}

async function databasesIn(directory: string, mayLack: boolean): Promise<readonly string[]> {
  const paths = [...DATABASES.keys()].map((name) => `${directory}/${name}`);
  const there = await Promise.all(paths.map((path) => ifExists(Deno.stat(path))));
  const present = paths.filter((_, i) => there[i]);
  if (present.length > 0 || mayLack || await ifExists(Deno.stat(directory)) !== undefined) return present;
  throw new Error(`expected ${paths.join(" or ")}; run it in the working directory of the service`);
}

async function copyOne(folder: string, path: string, make: (copy: string) => Promise<void>) {
  const copy = copyOf(folder, path);
  await Deno.mkdir(dirname(copy), { recursive: true, mode: 0o700 });
  await make(copy);
  const { mode, uid, gid } = await Deno.stat(path);
  const owner = nameOf(await localIds(SYSTEM_PATHS.passwd), uid) ?? "";
  const group = nameOf(await localIds(SYSTEM_PATHS.group), gid) ?? "";
  const numbers = { mode: (mode ?? 0o600) & 0o777, uid: uid ?? 0, gid: gid ?? 0 };
  return { path, ...numbers, owner, group, sha256: await digestOf(copy) };
}

function postgresCommands(folder: string, { servers, database, user }: DatabaseConfig) {
  const hosts = servers.map(({ host }) => host).join(",");
  const ports = servers.map(({ port }) => port).join(",");
  const file = `'${folder.replaceAll("'", `'\\''`)}/postgres.dump'`;
  const primary = servers.length > 1 ? " target_session_attrs=read-write" : "";
  const at = `--dbname "host=${hosts} port=${ports} user=${user} dbname=${database}${primary}"`;
  return {
    dump: `pg_dump --format=custom --schema=authserver --file=${file} ${at}`,
    load: `pg_restore --clean --if-exists --single-transaction ${at} ${file}`,
  };
}

/** Name of the manifest in a backup. */
export const MANIFEST = "manifest.json";

interface BackupFile {
  readonly path: string; // absolute, of the original
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly owner?: string; // names, since the numbers may belong to others on another host
  readonly group?: string;
  readonly sha256: string;
}

export interface Manifest {
  readonly format: 1;
  readonly version: string; // of the service that wrote it
  readonly made: string; // ISO 8601
  readonly configuration: string; // absolute path of the main file
  readonly files: readonly BackupFile[];
  readonly load?: string; // command that restores the dump of PostgreSQL
}

function copyOf(backup: string, path: string): string {
  return `${backup}/files${path}`;
}

/** Returns the SHA-256 of a file in hexadecimal. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const bytes of (await Deno.open(path)).readable) hash.update(bytes);
  return hash.digest("hex");
}

const DATABASES = new Map([[SHARE_DATABASE, SHARE_SCHEMA], [RECORD_DATABASE, RECORD_SCHEMA]]);

/** Reads the manifest of a backup. @throws {CommandFailed} If it is missing, damaged, or of a later version. */
export async function readManifest(backup: string): Promise<Manifest> {
  const file = `${backup}/${MANIFEST}`;
  let found: unknown;
  try {
    found = JSON.parse(await Deno.readTextFile(file));
  } catch (cause) {
    throw new CommandFailed(`${file}: not the manifest of a backup: ${cause}`, { cause });
  }
  const { format, version, configuration, files, made, load } = isJsonObject(found) ? found : {};
  if (format !== 1 || typeof version !== "string" || isNewer(version)) {
    throw new CommandFailed(
      `${file}: made by version ${version} (format ${format}), which this version ${VERSION} does not know`,
    );
  }
  if (!isPath(configuration) || !Array.isArray(files) || files.length === 0 || !files.every(isFile)) {
    throw new CommandFailed(`${file}: damaged`);
  }
  const texts = { made: String(made), load: typeof load === "string" ? load : undefined };
  return { format, version, configuration, files: files.filter(({ path }) => !isOfHost(path)), ...texts };
}

function isFile(found: unknown): found is BackupFile {
  if (!isJsonObject(found)) return false;
  const { path, mode, uid, gid, sha256, owner, group } = found;
  return isPath(path) && [mode, uid, gid].every((number) => Number.isSafeInteger(number)) &&
    [owner, group].every((name) => name === undefined || typeof name === "string") &&
    typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256);
}

/** Accepts only absolute paths without `..`, which cannot lead out of the backup. */
function isPath(found: unknown): found is string {
  return typeof found === "string" && found.startsWith("/") && resolve(found) === found;
}

function isNewer(version: string): boolean {
  const [theirs, ours] = [version, VERSION].map((text) =>
    text.split(/[.-]/).slice(0, 3).map((part) => part.padStart(9, "0")).join(".")
  );
  return theirs === undefined || ours === undefined || theirs > ours;
}

/** Command `authserver restore`. */
export const restore = defineCommand({
  name: "restore",
  summary: "Put the files of a backup back in their places; the service must not run",
  details: [
    "Checks the backup first, then the places. Refuses backups of later versions, missing or changed files, places in use by a running service, and existing files unless --replace is given. A failure changes nothing.",
    "Run it as root, so that files get their owners. With PostgreSQL, it prints the command that restores the database.",
  ],
  operands: { folder: "Folder of the backup" },
  options: {
    replace: { help: "Keep existing files under other names, and put those of the backup in their place" },
  },
}, async (given) => {
  const folder = resolve(given.operand("folder"));
  const manifest = await readManifest(folder);
  const { version, made, load } = manifest;
  let files: Awaited<ReturnType<typeof restoreFiles>>;
  try {
    await checkCopies(folder, manifest);
    await checkPlaces(manifest, given.flag("replace"));
    files = await restoreFiles(folder, Deno.uid() === 0 ? await ownedHere(manifest.files) : manifest.files);
  } catch (cause) {
    throw new CommandFailed(`${messageOf(cause)}\nNothing is restored`, { cause });
  }
  const owners = Deno.uid() === 0 ? "" : "You are not root, so all files belong to your account.\n";
  const text = files.map(({ path, kept }) => `restored ${path}${kept ? `, before: ${kept}` : ""}\n`).join("");
  const then = load === undefined ? "" : `Restore the database: ${load}\n`;
  const what = `${counted(files.length, "file", "files")} of version ${version}, ${made}.\n`;
  return { value: { version, made, files, load }, text: `${text}${what}${owners}${then}` };
});

/** Finds the owners on this host: by name, else by a number that is unused here. @throws {CommandFailed} For others. */
export async function ownedHere(files: readonly BackupFile[], { passwd, group } = SYSTEM_PATHS) {
  const ids = { owner: await localIds(passwd), group: await localIds(group) };
  const idOf = ({ path, ...file }: BackupFile, kind: "owner" | "group") => {
    const [name, id] = [file[kind], kind === "owner" ? file.uid : file.gid];
    const isTaken = id > 0 && nameOf(ids[kind], id) !== undefined;
    const found = name ? ids[kind].get(name) : name === "" && isTaken ? undefined : id;
    if (found !== undefined) return found;
    const expected = `add it, or name another "${kind}" in ${MANIFEST}`;
    throw new CommandFailed(`${path}: nobody here is surely its ${kind} ${name || id}; ${expected}`);
  };
  return files.map((file) => ({ ...file, uid: idOf(file, "owner"), gid: idOf(file, "group") }));
}

/** @throws {CommandFailed} If copies are missing, changed, or databases that this version cannot use. */
async function checkCopies(folder: string, { files }: Manifest): Promise<void> {
  const wrong = await Promise.all(files.map(async ({ path, sha256 }) => {
    const copy = copyOf(folder, path);
    const found = await ifExists(digestOf(copy));
    if (found === undefined) return [`${copy} is missing`];
    if (found !== sha256) return [`${copy} was changed`];
    const schema = DATABASES.get(path.split("/").at(-1) ?? "");
    return schema === undefined ? [] : await databaseDamage(copy, schema) ?? [];
  }));
  if (wrong.flat().length > 0) throw new CommandFailed(wrong.flat().join("\n"));
}

/** @throws {CommandFailed} If a service uses the places, or files are in the way. */
async function checkPlaces({ configuration, files }: Manifest, replace: boolean): Promise<void> {
  const there = await Promise.all(files.map(({ path }) => exists(path)));
  const present = files.filter((_, i) => there[i]).map(({ path }) => path);
  if (present.length > 0 && !replace) {
    throw new CommandFailed(`Expected --replace, since these files exist:\n${present.join("\n")}`);
  }
  if (present.includes(configuration) && await isServed(configuration)) throw inUse(configuration);
  for (const path of present.filter((path) => path.endsWith(".sqlite"))) {
    if (!leaveWalMode(path)) throw inUse(path);
  }
}

function inUse(path: string): CommandFailed {
  return new CommandFailed(`A running service uses ${path}; stop it first`);
}

async function isServed(configuration: string): Promise<boolean> {
  try {
    const text = (name: string) => name === "config" ? configuration : undefined;
    await askRunning({ text }, { command: "status" });
    return true;
  } catch (error) {
    if (error instanceof NotRunning) return false;
    // The restore replaces a damaged configuration; a service that refuses or does not answer is running.
    if (error instanceof CommandFailed) return !/control socket is not known/.test(error.message);
    throw error;
  }
}

/** Writes all files beside their places, then exchanges them; undoes everything after a failure. */
async function restoreFiles(folder: string, files: readonly BackupFile[]) {
  const stamp = new Date().toISOString().replace(/\D/g, ""); // in milliseconds: runs follow each other quickly
  const undo: (() => Promise<void>)[] = [];
  const made = new Map<string, number>();
  try {
    for (const file of files) {
      const next = `${file.path}.restored-${stamp}`;
      await makeFolder(dirname(file.path), file, made);
      undo.push(() => Deno.remove(next));
      await writeAs(next, await Deno.readFile(copyOf(folder, file.path)), file);
    }
    return await exchange(files.map(({ path }) => path), stamp, undo);
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => {}); // the caller reports the first failure
    throw error;
  }
}

async function exchange(paths: readonly string[], stamp: string, undo: (() => Promise<void>)[]) {
  const done: { readonly path: string; readonly kept?: string }[] = [];
  for (const path of paths) {
    const [next, kept] = [`${path}.restored-${stamp}`, `${path}.before-${stamp}`];
    const isReplaced = await exists(path);
    // SQLite would apply a remaining log to the database of the backup.
    for (const part of path.endsWith(".sqlite") ? ["", "-wal", "-shm"] : [""]) {
      if (!await exists(path + part)) continue;
      await Deno.rename(path + part, kept + part);
      undo.push(() => Deno.rename(kept + part, path + part));
    }
    await Deno.rename(next, path);
    undo.push(() => Deno.rename(path, next));
    done.push({ path, kept: isReplaced ? kept : undefined });
  }
  return done;
}

/** Writes a file; does not follow a link that the account of the service may have put there. */
async function writeAs(path: string, bytes: Uint8Array, { mode, uid, gid }: BackupFile): Promise<void> {
  await using file = await open(path, "wx", 0o600);
  await file.writeFile(bytes);
  await file.chmod(mode);
  if (Deno.uid() === 0) await file.chown(uid, gid);
  await file.sync();
}

/** Creates the missing folders of a file. Accounts that may read it may enter them. @param made Their modes so far. */
async function makeFolder(folder: string, owned: BackupFile, made: Map<string, number>): Promise<void> {
  const before = made.get(folder);
  if (before === undefined && await ifExists(Deno.stat(folder)) !== undefined) return;
  await makeFolder(dirname(folder), owned, made);
  if (before === undefined) await Deno.mkdir(folder, { mode: 0o700 });
  const readers = owned.mode & 0o044;
  const mode = (before ?? 0o700) | readers | readers >> 2;
  made.set(folder, mode);
  await Deno.chmod(folder, mode);
  if (before === undefined && Deno.uid() === 0) await Deno.chown(folder, owned.uid, owned.gid);
}
