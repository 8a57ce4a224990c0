import { readRegularFile } from "../model/regular_file.ts";
import { unlessAbsent } from "../model/unless_absent.ts";

/** File system access for watching; follows links. */
export interface FileSource {
  /** Returns a stamp of identity, size and time, equal for changes within a clock tick; `undefined` without a file. */
  stamp(path: string): Promise<string | undefined>;
  /**
   * Reads a file; `undefined` without one. Never blocks on pipes.
   * @throws {InvalidFile} If longer than `maxBytes`; nothing is read then.
   * @throws {TypeError} If it is no regular file.
   */
  read(path: string, maxBytes?: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** Local disk. */
export const DISK: FileSource = {
  stamp: (path) => unlessAbsent(Deno.stat(path).then(stampOf)),
  read: (path, maxBytes) => unlessAbsent(readRegularFile(path, maxBytes)),
};

/** Returns a {@link FileSource} stamp. */
export function stampOf({ mtime, ctime, size, ino, dev }: Deno.FileInfo): string {
  return [mtime?.getTime(), ctime?.getTime(), size, ino, dev].join(" ");
}
