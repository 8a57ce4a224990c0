import { open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { counted } from "../../model/text.ts";
import { unlessAbsent } from "../../model/regular_file.ts";
import { closeForGood, databaseDamage } from "../../store/sqlite_database.ts";
import { CommandFailed, defineCommand, tell } from "../command.ts";
import { askRunning, NotRunning } from "../running/ask_running.ts";
import { copyOf, DATABASES, digestOf, type Manifest, readManifest } from "./backup_manifest.ts";

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
}, async (given, io) => {
  const folder = resolve(given.operand("folder"));
  const manifest = await readManifest(folder);
  const { version, made, load } = manifest;
  let files: Awaited<ReturnType<typeof putBack>>;
  try {
    await checkCopies(folder, manifest);
    await checkPlaces(manifest, given.flag("replace"));
    files = await putBack(folder, manifest);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandFailed(`${reason}\nNothing is restored`, { cause });
  }
  const owners = Deno.uid() === 0 ? "" : "You are not root, so all files belong to your account.\n";
  const text = files.map(({ path, kept }) => `restored ${path}${kept ? `, before: ${kept}` : ""}\n`).join("");
  const then = load === undefined ? "" : `Restore the database: ${load}\n`;
  const what = `${counted(files.length, "file", "files")} of version ${version}, ${made}.\n`;
  tell(given, io, { value: { version, made, files, load }, text: `${text}${what}${owners}${then}` });
  return 0;
});

/** @throws {CommandFailed} If copies are missing, changed, or databases that this version cannot use. */
async function checkCopies(folder: string, { files }: Manifest): Promise<void> {
  const wrong = await Promise.all(files.map(async ({ path, sha256 }) => {
    const copy = copyOf(folder, path);
    const found = await unlessAbsent(digestOf(copy));
    if (found === undefined) return [`${copy} is missing`];
    if (found !== sha256) return [`${copy} was changed`];
    const schema = DATABASES.get(path.split("/").at(-1) ?? "");
    return schema === undefined ? [] : await databaseDamage(copy, schema) ?? [];
  }));
  if (wrong.flat().length > 0) throw new CommandFailed(wrong.flat().join("\n"));
}

/** @throws {CommandFailed} If a service uses the places, or files are in the way. */
async function checkPlaces({ configuration, files }: Manifest, replace: boolean): Promise<void> {
  const there = await Promise.all(files.map(({ path }) => isThere(path)));
  const present = files.filter((_, i) => there[i]).map(({ path }) => path);
  if (present.length > 0 && !replace) {
    throw new CommandFailed(`Expected --replace, since these files exist:\n${present.join("\n")}`);
  }
  if (present.includes(configuration) && await isServed(configuration)) throw inUse(configuration);
  for (const path of present.filter((path) => path.endsWith(".sqlite"))) {
    if (!closeForGood(path)) throw inUse(path);
  }
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false); // what else is wrong, writing finds
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
    // A damaged configuration is to be replaced; a service that refuses or is silent runs.
    if (error instanceof CommandFailed) return !/control socket is not known/.test(error.message);
    throw error;
  }
}

/** Writes all files beside their places, then exchanges them; undoes everything after a failure. */
async function putBack(folder: string, { files }: Manifest) {
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const undo: (() => Promise<void>)[] = [];
  try {
    for (const { path, ...about } of files) {
      const next = `${path}.restored-${stamp}`;
      await makeFolder(dirname(path), about);
      undo.push(() => Deno.remove(next));
      await writeAs(next, await Deno.readFile(copyOf(folder, path)), about);
    }
    return await exchange(files.map(({ path }) => path), stamp, undo);
  } catch (error) {
    for (const step of undo.toReversed()) await step().catch(() => {}); // the first failure is the one to tell
    throw error;
  }
}

async function exchange(paths: readonly string[], stamp: string, undo: (() => Promise<void>)[]) {
  const done: { readonly path: string; readonly kept?: string }[] = [];
  for (const path of paths) {
    const [next, kept] = [`${path}.restored-${stamp}`, `${path}.before-${stamp}`];
    const isReplaced = await isThere(path);
    // A log left by SQLite would be applied to the database of the backup.
    for (const part of path.endsWith(".sqlite") ? ["", "-wal", "-shm"] : [""]) {
      if (!await isThere(path + part)) continue;
      await Deno.rename(path + part, kept + part);
      undo.push(() => Deno.rename(kept + part, path + part));
    }
    await Deno.rename(next, path);
    undo.push(() => Deno.rename(path, next));
    done.push({ path, kept: isReplaced ? kept : undefined });
  }
  return done;
}

type Owned = Pick<Manifest["files"][number], "mode" | "uid" | "gid">;

/** Follows no link that the account of the service may have put there. */
async function writeAs(path: string, bytes: Uint8Array, { mode, uid, gid }: Owned): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.chmod(mode);
    if (Deno.uid() === 0) await file.chown(uid, gid);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function makeFolder(folder: string, { uid, gid }: Owned): Promise<void> {
  if (await unlessAbsent(Deno.stat(folder)) !== undefined) return;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  if (Deno.uid() === 0) await Deno.chown(folder, uid, gid);
}
