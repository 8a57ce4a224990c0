import { AppendFile } from "./append_file.ts";
import { asJsonLines } from "./line_forms.ts";
import type { LineSink } from "./logger.ts";

/** How lines are written: `time level message key=value …`, or a JSON object each. */
type LogFormat = "text" | "json";

/** Takes whole lines, with their ends: one line, or many that came together. */
export type Console = (text: string) => void;

/**
 * Writes log lines to the console and appends them to a file. A file that was moved away (logrotate) is made anew
 * within a second; one that cannot be written is given up until then, and the console says so once.
 */
export class LogFile {
  #file: AppendFile | undefined;
  #failing = false;

  readonly #console: Console;
  #format: LogFormat;

  /** @param path Absent: to the console only. */
  constructor(path: string | undefined, console: Console = toConsole, format: LogFormat = "text") {
    this.#console = console;
    this.#format = format;
    this.#file = path === undefined ? undefined : new AppendFile(path);
  }

  readonly write: LineSink = (line) => this.writeLines(`${line}\n`);

  /** @param lines Whole lines, with their ends. */
  writeLines(lines: string): void {
    const text = this.#format === "json" ? asJsonLines(lines) : lines;
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

  /** To the console alone. */
  console(text: string): void {
    this.#console(text);
  }

  /** Appends to another file, or in another form, from now on. @param path Absent: to the console only. */
  moveTo(path: string | undefined, format: LogFormat = "text"): void {
    this.#format = format;
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
