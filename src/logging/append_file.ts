import { dirname } from "node:path";

const LINE_END = 10;

/** When a file is renamed to `.1`, which was renamed to `.2`, and so on. */
export interface Rotation {
  readonly maxSize: number; // bytes; 0: never
  readonly maxFiles: number; // renamed files to keep
}

/** Returns the rotation among other settings; default: no rotation. */
export function rotationOf({ maxSize = 0, maxFiles = 1 }: Partial<Rotation>): Rotation {
  return { maxSize, maxFiles };
}

/** Append-only file. Recreated within a second after a rename (logrotate), and reopened after a failure. */
export class AppendFile {
  readonly path: string;
  #file: Deno.FsFile | undefined;
  #inode: number | null = null;
  #checkedAt = -Infinity;
  #torn = false; // whether the last write ended within a line
  #size = 0;
  readonly #rotation: Rotation;

  constructor(path: string, rotation = rotationOf({})) {
    this.path = path;
    this.#rotation = rotation;
  }

  /** Writes whole lines, after a partial write from the start of a line. @throws File system errors. */
  append(text: string): void {
    const bytes = new TextEncoder().encode(this.#torn ? `\n${text}` : text);
    try {
      const file = this.#open();
      for (let at = 0; at < bytes.length;) {
        const written = file.writeSync(bytes.subarray(at));
        at += written;
        this.#size += written;
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
    const { maxSize } = this.#rotation;
    if (this.#file !== undefined && maxSize > 0 && this.#size >= maxSize) this.#rotate();
    if (this.#file !== undefined && now - this.#checkedAt < 1000) return this.#file;
    this.#checkedAt = now;
    if (this.#file !== undefined && inodeOf(this.path) !== this.#inode) this.close();
    if (this.#file === undefined) {
      Deno.mkdirSync(dirname(this.path), { recursive: true });
      const isNew = inodeOf(this.path) === null;
      this.#file = Deno.openSync(this.path, { append: true, create: true, mode: 0o640 });
      if (isNew) Deno.chmodSync(this.path, 0o640); // regardless of umask, the group may read
      const { ino, size } = this.#file.statSync();
      this.#inode = ino;
      this.#size = size;
    }
    return this.#file;
  }

  /** Renames the file and the earlier ones; the oldest goes. Goes on with the same file if it cannot. */
  #rotate(): void {
    this.close();
    try {
      this.#rename();
    } catch (error) {
      if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
    }
  }

  #rename(): void {
    for (let number = this.#rotation.maxFiles - 1; number > 0; number--) {
      if (inodeOf(`${this.path}.${number}`) !== null) {
        Deno.renameSync(`${this.path}.${number}`, `${this.path}.${number + 1}`);
      }
    }
    if (inodeOf(this.path) !== null) Deno.renameSync(this.path, `${this.path}.1`);
  }
}

function inodeOf(path: string): number | null {
  try {
    return Deno.statSync(path).ino;
  } catch {
    return null; // removed
  }
}
