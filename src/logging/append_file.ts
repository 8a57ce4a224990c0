import { dirname } from "node:path";

const LINE_END = 10;

/** Append-only file. Recreated within a second after a rename (logrotate), and reopened after a failure. */
export class AppendFile {
  readonly path: string;
  #file: Deno.FsFile | undefined;
  #inode: number | null = null;
  #checkedAt = -Infinity;
  #torn = false; // whether the last write ended within a line

  constructor(path: string) {
    this.path = path;
  }

  /** Writes whole lines, after a partial write from the start of a line. @throws File system errors. */
  append(text: string): void {
    const bytes = new TextEncoder().encode(this.#torn ? `\n${text}` : text);
    try {
      const file = this.#open();
      for (let at = 0; at < bytes.length;) {
        at += file.writeSync(bytes.subarray(at));
        this.#torn = bytes[at - 1] !== LINE_END;
      }
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
      if (isNew) Deno.chmodSync(this.path, 0o640); // regardless of umask, the group may read
      this.#inode = this.#file.statSync().ino;
    }
    return this.#file;
  }
}

function inodeOf(path: string): number | null {
  try {
    return Deno.statSync(path).ino;
  } catch {
    return null; // removed
  }
}
