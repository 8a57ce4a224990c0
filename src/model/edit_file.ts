import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { openRegularFile } from "./regular_file.ts";
import { unlessAbsent } from "./unless_absent.ts";

/** A file that cannot be read or changed as wanted, or need not be; the message is for the operator. */
export class FileNotChanged extends Error {
  override readonly name = "FileNotChanged";
}

/** What was done to a file, besides its text. */
export interface EditOutcome {
  /** Things the operator should know, such as an owner that could not be kept. */
  readonly remarks: readonly string[];
}

/** Mode of files that hold secrets. */
const SECRET_MODE = 0o600;

/**
 * Changes a text file, so that a reader finds either the old or the new text, whole, at any moment: the new text is
 * written beside it and renamed over it. Editors wait for each other by a lock on `<path>.lock`, which the system takes
 * from one that is killed; a change by a program that knows nothing of it is noticed.
 *
 * The folder may be one that another account can write, and the editor may be root. So nothing is opened through a link,
 * owner and mode are read and set by the open file, and a link in place of the file counts by {@link followed} alone.
 * @param change Makes the new text of the old one, `undefined` if there is no file yet.
 * @param options.secret Whether the file holds secrets: its mode is 0600 then, whatever it was.
 * @throws {FileNotChanged} Or what `change` throws.
 */
export async function editFile(
  path: string,
  change: (text: string | undefined) => string,
  { secret }: { readonly secret: boolean },
): Promise<EditOutcome> {
  const target = await followed(path).catch((error: unknown) => {
    throw explained(error, path);
  });
  const beside = `${target}.${crypto.randomUUID()}.new`;
  const lock = `${target}.lock`;
  using _held = await held(lock);
  try {
    const before = await readOriginal(target);
    const text = change(before?.text);
    const next = await open(beside, NEW_FILE, secret || before !== undefined ? SECRET_MODE : 0o666);
    let remarks: readonly string[];
    try {
      await next.writeFile(text);
      await next.sync();
      remarks = before === undefined ? [] : await keepOwnerAndMode(before.status, next, secret);
    } finally {
      await next.close();
    }
    if ((await readOriginal(target))?.text !== before?.text) {
      throw new FileNotChanged(`${path} was changed by somebody else meanwhile, nothing was written`);
    }
    await Deno.rename(beside, target);
    return { remarks };
  } catch (error) {
    await unlessAbsent(Deno.remove(beside));
    throw explained(error, path);
  } finally {
    await unlessAbsent(Deno.remove(lock));
  }
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * Returns the path of the file that is meant. A link leads to it only if root made the link, or the owner of the file: any
 * other account could have the editor change a file that is not its own.
 * @throws {FileNotChanged}
 */
async function followed(path: string): Promise<string> {
  const link = await unlessAbsent(Deno.lstat(path));
  if (link?.isSymlink !== true) return path;
  const target = await unlessAbsent(Deno.realPath(path));
  if (target === undefined) throw new FileNotChanged(`${path} is a link that leads nowhere`);
  const { uid } = await Deno.lstat(target);
  if (link.uid !== 0 && link.uid !== uid) {
    throw new FileNotChanged(`${path} is a link to ${target}, made by another account than that of the file`);
  }
  return target;
}

/** Reads a file with its owner and mode, all of the same open file. */
async function readOriginal(path: string) {
  const file = await unlessAbsent(openRegularFile(path, { follow: false }));
  if (file === undefined) return undefined;
  try {
    return { text: decoded(await file.readFile(), path), status: await file.stat() };
  } finally {
    await file.close();
  }
}

/** @throws {FileNotChanged} If the file cannot be read, or is not UTF-8. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    const bytes = await unlessAbsent(Deno.readFile(path));
    return bytes && decoded(bytes, path);
  } catch (error) {
    throw explained(error, path);
  }
}

function decoded(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new FileNotChanged(`${path} is not UTF-8 text`, { cause: error });
    throw error;
  }
}

/** Waits for the lock, which is there as long as the file is open and under its path. It is made through no link. */
async function held(lock: string): Promise<Deno.FsFile> {
  for (;;) {
    try {
      const made = await open(
        lock,
        constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW,
        SECRET_MODE,
      );
      await made.close();
      const file = await unlessAbsent(Deno.open(lock, { write: true }));
      if (file === undefined) continue; // the one before us removed it
      await file.lock(true);
      const [mine, current] = [await file.stat(), await unlessAbsent(Deno.lstat(lock))];
      if (mine.ino === current?.ino && mine.dev === current.dev) return file;
      file.close();
    } catch (error) {
      throw explained(error, lock);
    }
  }
}

/** Gives the new file the owner and group of the old one. @returns What was not kept. */
async function keepOwnerAndMode(from: Stats, next: FileHandle, secret: boolean): Promise<string[]> {
  const to = await next.stat();
  const remarks: string[] = [];
  if (from.uid !== to.uid || from.gid !== to.gid) {
    await next.chown(from.uid, from.gid).catch((error: unknown) => {
      if (codeOf(error) !== "EPERM" && !(error instanceof Deno.errors.PermissionDenied)) throw error;
      remarks.push(`its owner was ${from.uid}:${from.gid} and is now ${to.uid}:${to.gid}`);
    });
  }
  const mode = from.mode & 0o777;
  if (!secret) await next.chmod(mode);
  else if ((mode & ~SECRET_MODE) !== 0) {
    remarks.push(`its mode was ${octal(mode)} and is now ${octal(SECRET_MODE)}`);
  }
  return remarks;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}

/** What the file system refuses, in words for the operator. */
function explained(error: unknown, path: string): unknown {
  if (error instanceof Deno.errors.PermissionDenied) {
    return new FileNotChanged(`${path}: permission denied`, { cause: error });
  }
  if (error instanceof Deno.errors.NotFound) {
    return new FileNotChanged(`${path}: no such folder`, { cause: error });
  }
  if (error instanceof Deno.errors.IsADirectory) {
    return new FileNotChanged(`${path} is a folder`, { cause: error });
  }
  const reason = TROUBLE.get(codeOf(error));
  return reason === undefined ? error : new FileNotChanged(`${path}: ${reason}`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** Of system calls, by their error code. */
const TROUBLE: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", "permission denied"],
  ["ENOENT", "no such folder"],
  ["EISDIR", "a folder is in its place"],
  ["ELOOP", "a link is in its place"],
  ["ENOSPC", "no space left on the disk"],
  ["EDQUOT", "the disk quota is used up"],
  ["EROFS", "the disk is read-only"],
  ["EIO", "the disk fails"],
]);
