import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Logger } from "../logging/logger.ts";

/**
 * The parsed content of a file, read again as a whole when the file changes.
 *
 * The file is looked at by path several times a second instead of through change events: that works on network file
 * systems and through symbolic links, rename-over and switched link targets alike. A change is read once the file has
 * been at rest for one interval, so that a half-written file is not taken for a finished one. What cannot be read or
 * parsed changes nothing: the last good content stays, and the log says why.
 */
export interface WatchedFile<T> {
  readonly path: string;
  /** Last good content. */
  readonly current: T;
  /** Why the newest version of the file is not in use; absent if it is. */
  readonly problem?: string;
  /** Looks at the file now; a change is taken over without waiting for rest. */
  check(): Promise<void>;
  close(): void;
}

export interface WatchOptions<T> {
  readonly log: Logger;
  /** Milliseconds between two looks; default 400. */
  readonly intervalMs?: number;
  /** Longest file that is read; a longer one is refused before it takes up memory. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Content while there is no file. Without it a missing file is an error at the start and ignored later. */
  readonly missing?: T;
  /** Called after each change, not for the first content. */
  readonly onChange?: (content: T) => void;
}

/** Parses a file's text; `file` is for messages. May take its time, but must not hold the event loop. */
export type Parse<T> = (text: string, file: string) => T | Promise<T>;

/**
 * Reads a file and keeps watching it.
 * @throws What `parse` throws for the first content, or a `Deno.errors` error if the file cannot be read.
 */
export async function watchFile<T>(
  path: string,
  parse: Parse<T>,
  options: WatchOptions<T>,
): Promise<WatchedFile<T>> {
  const file = new PolledFile(path, parse, options);
  await file.start();
  return file;
}

const ABSENT = "absent";

class PolledFile<T> implements WatchedFile<T> {
  #content: { value: T } | undefined;
  #problem: string | undefined;
  /** Stamp of the version in use or refused. */
  #read: string | undefined;
  #digest = "";
  /** Stamp at the last look. */
  #seen: string | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;
  #busy: Promise<void> | undefined;

  constructor(readonly path: string, readonly parse: Parse<T>, readonly options: WatchOptions<T>) {}

  get current(): T {
    if (this.#content === undefined) throw new TypeError(`${this.path} was not read yet`);
    return this.#content.value;
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  async start(): Promise<void> {
    const stamp = await this.#stamp();
    if (stamp === ABSENT && "missing" in this.options) this.#content = { value: this.options.missing as T };
    else this.#content = { value: await this.#load() };
    this.#read = this.#seen = stamp;
    this.#schedule();
  }

  async check(): Promise<void> {
    await this.#busy;
    await this.#look(true);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #schedule(): void {
    if (this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#busy = this.#look(false).finally(() => {
        this.#busy = undefined;
        this.#schedule();
      });
    }, this.options.intervalMs ?? 400);
    Deno.unrefTimer(this.#timer as unknown as number);
  }

  async #look(atOnce: boolean): Promise<void> {
    const stamp = await this.#stamp();
    const atRest = atOnce || stamp === this.#seen;
    this.#seen = stamp;
    if (stamp === this.#read || !atRest) return;
    this.#read = stamp;
    try {
      if (stamp === ABSENT) {
        if (!("missing" in this.options)) throw new Deno.errors.NotFound("the file is gone");
        this.#replace(this.options.missing as T);
        this.#digest = "";
        return;
      }
      const before = this.#digest;
      const value = await this.#load();
      if (this.#digest === before && this.#problem === undefined) return;
      if (await this.#stamp() !== stamp) {
        // Changed while it was read: what we have may be half of it.
        this.#read = undefined;
        return;
      }
      this.#replace(value);
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      this.options.log.error("file not usable, the last good content stays", { file: this.path, error });
    }
  }

  #replace(value: T): void {
    this.#content = { value };
    this.#problem = undefined;
    this.options.log.info("file read again", { file: this.path });
    this.options.onChange?.(value);
  }

  async #load(): Promise<T> {
    const { maxBytes = 64 * 1024 * 1024 } = this.options;
    const { size } = await Deno.stat(this.path);
    if (size > maxBytes) throw new RangeError(`${this.path} has ${size} bytes, expected at most ${maxBytes}`);
    const bytes = await Deno.readFile(this.path);
    if (!isUtf8(bytes)) throw new TypeError(`${this.path} is not UTF-8`);
    const text = new TextDecoder().decode(bytes);
    const value = await this.parse(text, this.path);
    this.#digest = createHash("sha256").update(bytes).digest("base64");
    return value;
  }

  async #stamp(): Promise<string> {
    try {
      const { mtime, ctime, size, ino, dev } = await Deno.stat(this.path);
      return [mtime?.getTime(), ctime?.getTime(), size, ino, dev].join(" ");
    } catch (error) {
      return error instanceof Deno.errors.NotFound ? ABSENT : `unreadable: ${error}`;
    }
  }
}
