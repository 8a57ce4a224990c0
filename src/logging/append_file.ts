import { attempt } from "../model/attempt.ts";
import { dirname } from "node:path";

const LINE_END = 10;

/** Limits of log rotation: the file is renamed to `.1`, the former `.1` to `.2`, and so on. */
export interface Rotation {
  readonly maxSize?: number; // bytes; 0 or absent: never
  readonly maxFiles?: number; // renamed files to keep; absent: 1
}

/** Append-only file, reopened within a second after a rename (logrotate) or failure. Several writers may rotate it. */
export class AppendFile {
  #file: Deno.FsFile | undefined;
  #inode: number | null = null;
  #size = 0;
  #checkedAt = -Infinity;
  #endsMidLine = false; // whether the last write ended within a line

  /** @param rotation Called before each write. */
  constructor(readonly path: string, readonly rotation: () => Rotation = () => ({})) {}

  /** Writes whole lines, after a partial write from the start of a line. @throws If not all of the text is written. */
  append(text: string): void {
    const bytes = new TextEncoder().encode(this.#endsMidLine ? `\n${text}` : text);
    try {
      const file = this.#open();
      for (let at = 0; at < bytes.length;) {
        at += file.writeSync(bytes.subarray(at));
        this.#endsMidLine = bytes[at - 1] !== LINE_END;
      }
      this.#size += bytes.length;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #open(): Deno.FsFile {
    const now = performance.now();
    const { maxSize = 0, maxFiles = 1 } = this.rotation();
    const isFull = maxSize > 0 && this.#size >= maxSize;
    if (this.#file !== undefined && !isFull && now - this.#checkedAt < 1000) return this.#file;
    this.#checkedAt = now;
    if (this.#file !== undefined && isFull) this.#rotate(this.#file, maxFiles);
    if (statOf(this.path)?.ino !== this.#inode) this.close();
    if (this.#file === undefined) {
      Deno.mkdirSync(dirname(this.path), { recursive: true });
      const isNew = statOf(this.path) === undefined;
      this.#file = Deno.openSync(this.path, { append: true, create: true, mode: 0o640 });
      if (isNew) Deno.chmodSync(this.path, 0o640); // regardless of umask, the group may read
    }
    const { ino, size, isFile } = this.#file.statSync();
    this.#inode = ino;
    this.#size = isFile ? size : -Infinity; // devices and pipes are never renamed
    return this.#file;
  }

  /** Renames the file and the earlier ones, and deletes the oldest. Keeps the file after an error, so that no line is lost. */
  #rotate(file: Deno.FsFile, maxFiles: number): void {
    try {
      if (!file.tryLockSync(true) || statOf(this.path)?.ino !== this.#inode) return; // another writer renames it
      for (let number = maxFiles - 1; number > 0; number--) {
        const older = `${this.path}.${number}`;
        if (statOf(older) !== undefined) Deno.renameSync(older, `${this.path}.${number + 1}`);
      }
      Deno.renameSync(this.path, `${this.path}.1`);
    } catch {
      this.close(); // opened again, also to release the lock
    }
  }
}

function statOf(path: string): Deno.FileInfo | undefined {
  return attempt(() => Deno.statSync(path), Error, () => undefined); // if it was removed
}
