import { attempt } from "./attempt.ts";
import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { OperatorError } from "./diagnostic.ts";
import { ifExists, openRegularFile } from "./regular_file.ts";

/** Error for a file that was left unchanged, with the reason for the operator. */
export class FileNotChanged extends OperatorError {}

const SECRET_MODE = 0o600;

/**
 * Replaces a text file with secrets atomically, under a lock on `<path>.lock`. Another account may own the folder while the editor
 * is root: no file is opened through a link, and owner and mode are read and set on the open file.
 * @param change Returns the new text for the old one, `undefined` without a file. @throws {FileNotChanged}
 * @returns Notes for the operator, such as an owner that could not be kept.
 */
export async function editFile(
  path: string,
  change: (text: string | undefined) => string,
): Promise<{ readonly remarks: readonly string[] }> {
  const target = await resolveLink(path).catch((error: unknown) => {
    throw describeFailure(error, path);
  });
  const temporary = `${target}.${crypto.randomUUID()}.new`;
  const lock = `${target}.lock`;
  using _held = await acquireLock(lock);
  try {
    const before = await readOriginal(target);
    const text = change(before?.text);
    const next = await open(temporary, NEW_FILE, SECRET_MODE);
    let remarks: readonly string[];
    try {
      await next.writeFile(text);
      await next.sync();
      remarks = before === undefined ? [] : await keepOwner(before.status, next);
    } finally {
      await next.close();
    }
    if ((await readOriginal(target))?.text !== before?.text) {
      throw new FileNotChanged(`${path} was changed by somebody else meanwhile, nothing was written`);
    }
    await Deno.rename(temporary, target);
    return { remarks };
  } catch (error) {
    await ifExists(Deno.remove(temporary));
    throw describeFailure(error, path);
  } finally {
    await ifExists(Deno.remove(lock));
  }
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Follows a link that root or the file's owner made: others could redirect the edit. @throws {FileNotChanged} */
async function resolveLink(path: string): Promise<string> {
  const link = await ifExists(Deno.lstat(path));
  if (link?.isSymlink !== true) return path;
  const target = await ifExists(Deno.realPath(path));
  if (target === undefined) throw new FileNotChanged(`${path} is a link that leads nowhere`);
  const { uid } = await Deno.lstat(target);
  if (link.uid !== 0 && link.uid !== uid) {
    throw new FileNotChanged(`${path} is a link to ${target}, made by another account than that of the file`);
  }
  return target;
}

async function readOriginal(path: string) {
  await using file = await ifExists(openRegularFile(path, { follow: false }));
  if (file === undefined) return undefined;
  return { text: decoded(await file.readFile(), path), status: await file.stat() };
}

/** @throws {FileNotChanged} If the file cannot be read, or is not UTF-8. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    const bytes = await ifExists(Deno.readFile(path));
    return bytes && decoded(bytes, path);
  } catch (error) {
    throw describeFailure(error, path);
  }
}

function decoded(bytes: Uint8Array, path: string): string {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(bytes), TypeError, (cause) => {
    throw new FileNotChanged(`${path} is not UTF-8 text`, { cause });
  });
}

/** Waits for the lock and returns its file, still at the same path. Follows no link. */
async function acquireLock(lock: string): Promise<Deno.FsFile> {
  for (;;) {
    try {
      const made = await open(
        lock,
        constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW,
        SECRET_MODE,
      );
      await made.close();
      const file = await ifExists(Deno.open(lock, { write: true }));
      if (file === undefined) continue; // the previous holder removed it
      await file.lock(true);
      const [mine, current] = [await file.stat(), await ifExists(Deno.lstat(lock))];
      if (mine.ino === current?.ino && mine.dev === current.dev) return file;
      file.close();
    } catch (error) {
      throw describeFailure(error, lock);
    }
  }
}

async function keepOwner(from: Stats, next: FileHandle): Promise<string[]> {
  const to = await next.stat();
  const remarks: string[] = [];
  if (from.uid !== to.uid || from.gid !== to.gid) {
    await next.chown(from.uid, from.gid).catch((error: unknown) => {
      if (codeOf(error) !== "EPERM" && !(error instanceof Deno.errors.PermissionDenied)) throw error;
      remarks.push(`its owner was ${from.uid}:${from.gid} and is now ${to.uid}:${to.gid}`);
    });
  }
  const mode = from.mode & 0o777;
  if ((mode & ~SECRET_MODE) !== 0) {
    remarks.push(`its mode was ${octal(mode)} and is now ${octal(SECRET_MODE)}`);
  }
  return remarks;
}

function octal(mode: number): string {
  return `0${mode.toString(8)}`;
}

function describeFailure(error: unknown, path: string): unknown {
  if (error instanceof Deno.errors.PermissionDenied) {
    return new FileNotChanged(`${path}: permission denied`, { cause: error });
  }
  if (error instanceof Deno.errors.NotFound) {
    return new FileNotChanged(`${path}: no such folder`, { cause: error });
  }
  if (error instanceof Deno.errors.IsADirectory) {
    return new FileNotChanged(`${path} is a folder`, { cause: error });
  }
  const reason = REASONS.get(codeOf(error));
  return reason === undefined ? error : new FileNotChanged(`${path}: ${reason}`, { cause: error });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

const REASONS: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", "permission denied"],
  ["ENOENT", "no such folder"],
  ["ENOTDIR", "a file is in the place of its folder"],
  ["EISDIR", "a folder is in its place"],
  ["ELOOP", "a link is in its place"],
  ["ENOSPC", "no space left on the disk"],
  ["EDQUOT", "the disk quota is used up"],
  ["EROFS", "the disk is read-only"],
  ["EIO", "the disk fails"],
]);
