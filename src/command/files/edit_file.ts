import { CommandFailed } from "../command.ts";

/** What was done to a file, besides its text. */
export interface EditOutcome {
  /** Things the operator should know, such as an owner that could not be kept. */
  readonly remarks: readonly string[];
}

const MODE = 0o600;

/**
 * Changes a text file that holds secrets, so that a reader finds either the old or the new text, whole, at any moment:
 * the new text is written beside it, with mode 0600, and renamed over it. A file `<path>.lock` keeps a second editor
 * out meanwhile, and a change by a program that knows nothing of it is noticed. Symbolic links stay.
 * @param change Makes the new text of the old one, `undefined` if there is no file yet.
 * @throws {CommandFailed}
 */
export async function editFile(
  path: string,
  change: (text: string | undefined) => string,
): Promise<EditOutcome> {
  const target = await followLinks(path);
  return await locked(target, async () => {
    const before = await readText(target);
    const text = change(before);
    const beside = `${target}.${crypto.randomUUID()}.new`;
    try {
      await writeSynced(beside, text);
      const remarks = await keepOwner(target, beside);
      if (await readText(target) !== before) {
        throw new CommandFailed(`${path} was changed by somebody else meanwhile, nothing was written`);
      }
      await Deno.rename(beside, target);
      return { remarks };
    } catch (error) {
      await Deno.remove(beside).catch(ignoreAbsence);
      throw explained(error, path);
    }
  });
}

/** @throws {CommandFailed} If the file cannot be read, or is not UTF-8. */
export async function readText(path: string): Promise<string | undefined> {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await Deno.readFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof TypeError) throw new CommandFailed(`${path} is not UTF-8 text`, { cause: error });
    throw explained(error, path);
  }
}

async function locked<T>(path: string, work: () => Promise<T>): Promise<T> {
  const lock = `${path}.lock`;
  try {
    (await Deno.open(lock, { write: true, createNew: true, mode: MODE })).close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw explained(error, lock);
    const hint = `if nobody is, remove ${lock}`;
    throw new CommandFailed(`${path} is being changed by somebody else; ${hint}`, { cause: error });
  }
  try {
    return await work();
  } finally {
    await Deno.remove(lock).catch(ignoreAbsence);
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await Deno.open(path, { write: true, createNew: true, mode: MODE });
  try {
    const bytes = new TextEncoder().encode(text);
    for (let written = 0; written < bytes.length;) written += await file.write(bytes.subarray(written));
    await file.sync();
  } finally {
    file.close();
  }
}

/** Gives the new file the owner and group of the old one, if there is one. @returns What was not kept. */
async function keepOwner(old: string, next: string): Promise<string[]> {
  const [from, to] = await Promise.all([Deno.stat(old).catch(ignoreAbsence), Deno.stat(next)]);
  if (from === undefined) return [];
  const remarks: string[] = [];
  if (from.uid !== null && from.gid !== null && (from.uid !== to.uid || from.gid !== to.gid)) {
    await Deno.chown(next, from.uid, from.gid).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
      remarks.push(`its owner was ${from.uid}:${from.gid} and is now ${to.uid}:${to.gid}`);
    });
  }
  if (from.mode !== null && (from.mode & 0o777 & ~MODE) !== 0) {
    remarks.push(`its mode was ${octal(from.mode)} and is now ${octal(MODE)}`);
  }
  return remarks;
}

function octal(mode: number): string {
  return `0${(mode & 0o777).toString(8)}`;
}

async function followLinks(path: string): Promise<string> {
  return await Deno.realPath(path).catch(ignoreAbsence) ?? path;
}

function ignoreAbsence(error: unknown): undefined {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
  return undefined;
}

/** What the file system refuses, in words for the operator. */
function explained(error: unknown, path: string): unknown {
  if (error instanceof Deno.errors.PermissionDenied) {
    return new CommandFailed(`${path}: permission denied`, { cause: error });
  }
  if (error instanceof Deno.errors.NotFound) {
    return new CommandFailed(`${path}: no such folder`, { cause: error });
  }
  if (error instanceof Deno.errors.IsADirectory) {
    return new CommandFailed(`${path} is a folder`, { cause: error });
  }
  const reason = error instanceof Error && "code" in error ? DISK_TROUBLE.get(error.code) : undefined;
  return reason === undefined ? error : new CommandFailed(`${path}: ${reason}`, { cause: error });
}

/** Of system calls, by their error code. */
const DISK_TROUBLE: ReadonlyMap<unknown, string> = new Map([
  ["ENOSPC", "no space left on the disk"],
  ["EDQUOT", "the disk quota is used up"],
  ["EROFS", "the disk is read-only"],
  ["EIO", "the disk fails"],
]);
