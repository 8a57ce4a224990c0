import { readRegularFile } from "../model/regular_file.ts";
import { unlessAbsent } from "../model/unless_absent.ts";

/** The little of a file system that watching needs; symbolic links are followed. */
export interface FileSource {
  /**
   * A text that differs when the file does: another file under the path, another size, another time of change. Not
   * the other way round: within one tick of the file system's clock a change may leave it as it is.
   * @returns `undefined` if there is no file.
   */
  stamp(path: string): Promise<string | undefined>;
  /**
   * All bytes of the file, or `undefined` if there is no file. Comes back in any case: what is no regular file, such as
   * a pipe that nobody writes to, is not waited for.
   * @throws {InvalidFile} If it is longer than `maxBytes`; it then takes up no memory.
   * @throws {TypeError} If it is no regular file.
   */
  read(path: string, maxBytes?: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** The disk of this machine. Stamps tell files of one name apart, not contents that change within a tick. */
export const DISK: FileSource = {
  stamp: (path) => unlessAbsent(Deno.stat(path).then(stampOf)),
  read: (path, maxBytes) => unlessAbsent(readRegularFile(path, maxBytes)),
};

/** The stamp of a file or folder; see {@link FileSource}. */
export function stampOf({ mtime, ctime, size, ino, dev }: Deno.FileInfo): string {
  return [mtime?.getTime(), ctime?.getTime(), size, ino, dev].join(" ");
}
