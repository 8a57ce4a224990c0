import { AppendFile, type Rotation } from "./append_file.ts";
import { asJsonLines } from "./line_forms.ts";
import { createLogger, formatLine, type LineSink, type Logger } from "./logger.ts";
import { OutputQueue } from "./output_queue.ts";
import { Sink, type SinkState } from "./sink.ts";

interface LogOptions extends Rotation {
  readonly format?: "text" | "json"; // `time level message key=value …`, or JSON objects
}

/** Writer of whole lines. */
export type Console = (text: string) => void;

/** Log on console and file. Recreates a renamed file (logrotate) and retries a failed one within a second. */
export class LogFile {
  readonly #sinks: { file: Sink; readonly console: Sink };
  readonly #log: Logger;
  #file: AppendFile | undefined;
  #options: LogOptions;
  prefersFile = false; // whether lines written to the file stay off the console

  /** @param path Absent: console only. @param console Writes to the console alone. @throws If it cannot. */
  constructor(path: string | undefined, readonly console: Console = toConsole, options: LogOptions = {}) {
    this.#log = createLogger(this.write);
    this.#sinks = { file: new Sink("log", this.#log), console: new Sink("console", this.#log) };
    this.#options = options;
    this.#file = this.#openFile(path);
  }

  readonly write: LineSink = (line) => this.writeLines(`${line}\n`);

  writeLines(lines: string): void {
    const text = this.#formatted(lines);
    const count = text.split("\n").length - 1;
    if (this.prefersFile && this.#append(text, count)) return;
    tryWrite(this.#sinks.console, count, () => this.console(text));
    if (!this.prefersFile) this.#append(text, count);
  }

  /** Tries a failed file again, also if there is nothing to log. */
  retry(): void {
    if (!this.#sinks.file.failing) return;
    const line = `${formatLine(Date.now(), "info", "log file tried again")}\n`;
    this.#append(this.#formatted(line), 0);
  }

  /** State of the console and, if there is one, of the file. */
  get sinks(): readonly SinkState[] {
    const { file, console } = this.#sinks;
    return this.#file === undefined ? [console.state] : [file.state, console.state];
  }

  /** Switches file and options. @param path Absent: console only. */
  moveTo(path: string | undefined, options: LogOptions = {}): void {
    this.#options = options;
    if (path === this.#file?.path) return;
    this.#file?.close();
    this.#file = this.#openFile(path);
    this.#sinks.file = new Sink("log", this.#log);
  }

  #openFile(path: string | undefined): AppendFile | undefined {
    return path === undefined ? undefined : new AppendFile(path, () => this.#options);
  }

  #formatted(lines: string): string {
    return this.#options.format === "json" ? asJsonLines(lines) : lines;
  }

  close(): void {
    this.#file?.close();
  }

  #append(text: string, count: number): boolean {
    const file = this.#file;
    if (file !== undefined) tryWrite(this.#sinks.file, count, () => file.append(text), file.path);
    return file !== undefined && !this.#sinks.file.failing;
  }
}

function tryWrite(sink: Sink, lines: number, write: () => void, to?: string): void {
  try {
    write();
  } catch (error) {
    return sink.failed(error, to, lines);
  }
  sink.written();
}

/** Standard output, for the journal or start-up log. */
export const CONSOLE = new OutputQueue(Deno.stdout);

/** @throws If standard output is closed or full, or its reader too slow. */
export const toConsole: Console = (text) => CONSOLE.write(text);
