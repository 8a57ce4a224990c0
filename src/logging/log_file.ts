import { AppendFile } from "./append_file.ts";
import type { LineSink } from "./logger.ts";

/** Takes whole lines, with their ends: one line, or many that came together. */
export type Console = (text: string) => void;

/**
 * Writes log lines to the console and appends them to a file. A file that was moved away (logrotate) is made anew
 * within a second; one that cannot be written is given up until then, and the console says so once.
 */
export class LogFile {
  #file: AppendFile | undefined;
  #failing = false;

  /** @param path Absent: to the console only. */
  constructor(path: string | undefined, readonly console: Console = toConsole) {
    this.#file = path === undefined ? undefined : new AppendFile(path);
  }

  readonly write: LineSink = (line) => this.writeLines(`${line}\n`);

  /** @param text Whole lines, with their ends. */
  writeLines(text: string): void {
    this.console(text);
    if (this.#file === undefined) return;
    try {
      this.#file.append(text);
      this.#failing = false;
    } catch (error) {
      if (!this.#failing) {
        this.console(`${new Date().toISOString()} error log file not written: ${error}\n`);
      }
      this.#failing = true;
    }
  }

  /** Appends to another file from now on. @param path Absent: to the console only. */
  moveTo(path: string | undefined): void {
    if (path === this.#file?.path) return;
    this.#file?.close();
    this.#file = path === undefined ? undefined : new AppendFile(path);
    this.#failing = false;
  }

  close(): void {
    this.#file?.close();
  }
}

/** Standard output; what is written there ends up in the journal or in the start-up log. */
export function toConsole(text: string): void {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  } catch {
    // A closed console takes nothing away from the file.
  }
}
