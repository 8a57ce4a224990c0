import { unlessAbsent } from "./unless_absent.ts";
import { writeAll } from "./write_all.ts";

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
 * from one that is killed; a change by a program that knows nothing of it is noticed. Symbolic links stay.
 * @param change Makes the new text of the old one, `undefined` if there is no file yet.
 * @param options.secret Whether the file holds secrets: its mode is 0600 then, whatever it was.
 * @throws {FileNotChanged} Or what `change` throws.
 */
export async function editFile(
  path: string,
  change: (text: string | undefined) => string,
  { secret }: { readonly secret: boolean },
): Promise<EditOutcome> {
  const target = await unlessAbsent(Deno.realPath(path)).catch((error: unknown) => {
    throw explained(error, path);
  }) ?? path;
  const beside = `${target}.${crypto.randomUUID()}.new`;
  const lock = `${target}.lock`;
  using _held = await held(lock);
  try {
    const before = await readText(target);
    await writeSynced(beside, change(before), secret || before !== undefined ? SECRET_MODE : 0o666);
    const remarks = await keepOwnerAndMode(target, beside, secret);
    if (await readText(target) !== before) {
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

/** @throws {FileNotChanged} If the file cannot be read, or is not UTF-8. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    const bytes = await unlessAbsent(Deno.readFile(path));
    return bytes && new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new FileNotChanged(`${path} is not UTF-8 text`, { cause: error });
    throw explained(error, path);
  }
}

/** Waits for the lock, which is there as long as the file is open and under its path. */
async function held(lock: string): Promise<Deno.FsFile> {
  for (;;) {
    try {
      const file = await Deno.open(lock, { write: true, create: true, mode: SECRET_MODE });
      await file.lock(true);
      const [mine, current] = [await file.stat(), await unlessAbsent(Deno.stat(lock))];
      if (mine.ino === current?.ino && mine.dev === current.dev) return file;
      file.close(); // the one before us removed it
    } catch (error) {
      throw explained(error, lock);
    }
  }
}

async function writeSynced(path: string, text: string, mode: number): Promise<void> {
  const file = await Deno.open(path, { write: true, createNew: true, mode });
  try {
    await writeAll(file, new TextEncoder().encode(text));
    await file.sync();
  } finally {
    file.close();
  }
}

/** Gives the new file the owner and group of the old one, if there is one. @returns What was not kept. */
async function keepOwnerAndMode(old: string, next: string, secret: boolean): Promise<string[]> {
  const [from, to] = await Promise.all([unlessAbsent(Deno.stat(old)), Deno.stat(next)]);
  if (from === undefined) return [];
  const remarks: string[] = [];
  if (from.uid !== null && from.gid !== null && (from.uid !== to.uid || from.gid !== to.gid)) {
    await Deno.chown(next, from.uid, from.gid).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      remarks.push(`its owner was ${from.uid}:${from.gid} and is now ${to.uid}:${to.gid}`);
    });
  }
  const mode = (from.mode ?? SECRET_MODE) & 0o777;
  if (!secret) await Deno.chmod(next, mode);
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
  const reason = error instanceof Error && "code" in error ? DISK_TROUBLE.get(error.code) : undefined;
  return reason === undefined ? error : new FileNotChanged(`${path}: ${reason}`, { cause: error });
}

/** Of system calls, by their error code. */
const DISK_TROUBLE: ReadonlyMap<unknown, string> = new Map([
  ["ENOSPC", "no space left on the disk"],
  ["EDQUOT", "the disk quota is used up"],
  ["EROFS", "the disk is read-only"],
  ["EIO", "the disk fails"],
]);
