import { AppendFile } from "./append_file.ts";
import { toConsole } from "./log_file.ts";
import type { Logger } from "./logger.ts";

/** Lines kept in memory while the file cannot be written: some 5 MB. */
const MOST_KEPT = 10_000;

/**
 * Where audit lines go: a file of their own, or the console. Lines that cannot be written are kept and written later, in
 * their order; if there are too many, the oldest are given up, and the log says how many.
 */
export class AuditFile {
  readonly #file: AppendFile | undefined;
  readonly #log: Logger;
  readonly #console: (line: string) => void;
  #kept: string[] = [];
  #lost = 0;
  #failing = false;

  /** @param path Absent: to the console. */
  constructor(
    path: string | undefined,
    { log, console = toConsole }: { readonly log: Logger; readonly console?: (line: string) => void },
  ) {
    this.#file = path === undefined ? undefined : new AppendFile(path);
    this.#log = log;
    this.#console = console;
  }

  /** @param lines Finished, without line ends. */
  write(lines: readonly string[]): void {
    if (this.#file === undefined) {
      lines.forEach(this.#console);
      return;
    }
    this.#kept.push(...lines);
    this.retry();
  }

  /** Writes what is kept, if it can be written now. */
  retry(): void {
    if (this.#file === undefined || this.#kept.length === 0) return;
    // A line that was cut off by a full disk stays alone.
    const text = `${this.#failing ? "\n" : ""}${this.#kept.join("\n")}\n`;
    try {
      this.#file.append(text);
    } catch (error) {
      if (!this.#failing) {
        this.#log.error("audit file not written, lines are kept in memory", { file: this.#file.path, error });
      }
      this.#failing = true;
      const excess = this.#kept.length - MOST_KEPT;
      if (excess > 0) {
        this.#kept = this.#kept.slice(excess);
        this.#lost += excess;
      }
      return;
    }
    if (this.#failing) {
      this.#log.warn("audit file written again", { lines: this.#kept.length, lost: this.#lost });
    }
    this.#failing = false;
    this.#lost = 0;
    this.#kept = [];
  }

  close(): void {
    this.retry();
    this.#file?.close();
  }
}
