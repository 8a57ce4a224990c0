import { dirname } from "node:path";
import type { Level, LineSink } from "./logger.ts";

/**
 * Writes log lines to the console and appends them to a file. A file that was moved away (logrotate) is made anew
 * within a second; one that cannot be written is given up until then, and the console says so once.
 */
export class LogFile {
  readonly #path: string | undefined;
  #file: Deno.FsFile | undefined;
  #inode: number | null = null;
  #checkedAt = -Infinity;
  #failing = false;

  /** @param path Absent: to the console only. */
  constructor(path: string | undefined, readonly console: LineSink = toConsole) {
    this.#path = path;
  }

  readonly write: LineSink = (line, level) => this.writeAll([{ line, level }]);

  writeAll(lines: readonly { readonly line: string; readonly level: Level }[]): void {
    let text = "";
    for (const { line, level } of lines) {
      this.console(line, level);
      text += `${line}\n`;
    }
    if (this.#path === undefined || text === "") return;
    try {
      const file = this.#open(this.#path);
      const bytes = new TextEncoder().encode(text);
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) {
        this.console(`${new Date().toISOString()} error log file not written: ${error}`, "error");
      }
      this.#failing = true;
      this.#drop();
    }
  }

  close(): void {
    this.#drop();
  }

  #open(path: string): Deno.FsFile {
    const now = performance.now();
    if (this.#file !== undefined && now - this.#checkedAt < 1000) return this.#file;
    this.#checkedAt = now;
    if (this.#file !== undefined && inodeOf(path) !== this.#inode) this.#drop();
    if (this.#file === undefined) {
      Deno.mkdirSync(dirname(path), { recursive: true });
      this.#file = Deno.openSync(path, { append: true, create: true, mode: 0o640 });
      this.#inode = this.#file.statSync().ino;
    }
    return this.#file;
  }

  #drop(): void {
    this.#file?.close();
    this.#file = undefined;
  }
}

function inodeOf(path: string): number | null {
  try {
    return Deno.statSync(path).ino;
  } catch {
    return null; // gone, so not the file that is open
  }
}

/** Standard output; what is written there ends up in the journal or in the start-up log. */
function toConsole(line: string): void {
  const bytes = new TextEncoder().encode(`${line}\n`);
  try {
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  } catch {
    // A closed console takes nothing away from the file.
  }
}
