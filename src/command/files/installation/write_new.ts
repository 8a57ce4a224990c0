import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { unlessAbsent } from "../../../model/unless_absent.ts";
import { CommandFailed } from "../../command.ts";
import type { SampleFile } from "./sample_file.ts";

/** Writes a file unless it exists. @returns Whether it was written. @throws {CommandFailed} */
export async function writeNew(path: string, { mode, text }: SampleFile): Promise<boolean> {
  try {
    if (await isThere(path)) return false;
    await Deno.mkdir(dirname(path), { recursive: true });
    const file = await open(path, "wx", mode);
    try {
      await file.chmod(mode); // whatever the umask is, and by the file: its folder may be another account's
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailed(`${path}: ${error.message}`, { cause: error });
  }
}

/** Reports whether a path exists, also as a dangling link. */
export async function isThere(path: string): Promise<boolean> {
  return await unlessAbsent(Deno.lstat(path)) !== undefined;
}
