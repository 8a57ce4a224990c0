import { AppendFile } from "./append_file.ts";
import { asJsonLines } from "./line_forms.ts";
import type { LineSink } from "./logger.ts";

/** `time level message key=value …`, or JSON objects. */
type LogFormat = "text" | "json";

/** Writer of whole lines. */
export type Console = (text: string) => void;

/** Log on console and file. Recreates a renamed file (logrotate) and retries a failed one within a second. */
export class LogFile {
  #file: AppendFile | undefined;
  #failing = false;

  readonly #console: Console;
  #format: LogFormat;

  /** @param path Absent: console only. */
  constructor(path: string | undefined, console: Console = toConsole, format: LogFormat = "text") {
    this.#console = console;
    this.#format = format;
    this.#file = path === undefined ? undefined : new AppendFile(path);
  }

  readonly write: LineSink = (line) => this.writeLines(`${line}\n`);

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

  console(text: string): void {
    this.#console(text);
  }

  /** Switches file and format. @param path Absent: console only. */
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

/** Writes to standard output, for the journal or start-up log. */
export function toConsole(text: string): void {
  const bytes = new TextEncoder().encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
  } catch {
    // A closed console must not affect the file.
  }
}
