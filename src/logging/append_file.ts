import { dirname } from "node:path";

/**
 * A file that is only ever appended to. One that was moved away (logrotate) is made anew within a second; after a failure
 * it is opened again at the next write.
 */
export class AppendFile {
  readonly path: string;
  #file: Deno.FsFile | undefined;
  #inode: number | null = null;
  #checkedAt = -Infinity;

  constructor(path: string) {
    this.path = path;
  }

  /** @throws What the file system throws; a part of the text may be written then. */
  append(text: string): void {
    try {
      const file = this.#open();
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
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
    if (this.#file !== undefined && now - this.#checkedAt < 1000) return this.#file;
    this.#checkedAt = now;
    if (this.#file !== undefined && inodeOf(this.path) !== this.#inode) this.close();
    if (this.#file === undefined) {
      Deno.mkdirSync(dirname(this.path), { recursive: true });
      const isNew = inodeOf(this.path) === null;
      this.#file = Deno.openSync(this.path, { append: true, create: true, mode: 0o640 });
      if (isNew) Deno.chmodSync(this.path, 0o640); // whatever the umask: the group may read along
      this.#inode = this.#file.statSync().ino;
    }
    return this.#file;
  }
}

function inodeOf(path: string): number | null {
  try {
    return Deno.statSync(path).ino;
  } catch {
    return null; // gone, so not the file that is open
  }
}
