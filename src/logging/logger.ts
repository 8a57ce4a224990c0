import type { Clock } from "../model/clock.ts";
import { printable } from "../model/printable.ts";

/** Particulars of a log line. Values are printed with {@link formatLine}; a `Secret` prints as `***`. */
export type Fields = Readonly<Record<string, unknown>>;

/** How much an event matters, from least to most; see {@link Logger}. */
export type Level = "debug" | "info" | "warn" | "error";

/**
 * Writes events. The message is a constant, the particulars are fields. `error`: someone must act; `warn`: we coped;
 * `info`: a change of state or a sign-in; `debug`: for us.
 */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger that adds these fields to every line. */
  child(fields: Fields): Logger;
}

/** Takes finished lines, without line end. */
export type LineSink = (line: string, level: Level) => void;

const ORDER: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

/** Where lines go, and which. */
interface Output {
  readonly sink: LineSink;
  readonly threshold: () => Level;
  readonly clock: Clock;
}

/**
 * A logger that writes `2026-01-05T09:15:00.123Z info  message key=value …` lines to a sink.
 * @param threshold Minimum level of log entries; a function where that may change.
 */
export function createLogger(
  sink: LineSink,
  { threshold = "info", fields = {}, clock = Date.now }: {
    threshold?: Level | (() => Level);
    fields?: Fields;
    clock?: Clock;
  } = {},
): Logger {
  const least = typeof threshold === "function" ? threshold : () => threshold;
  return new LineLogger({ sink, threshold: least, clock }, fields);
}

/** A class, and not functions in an object, since each request makes one. */
class LineLogger implements Logger {
  readonly #output: Output;
  readonly #fields: Fields;

  constructor(output: Output, fields: Fields) {
    this.#output = output;
    this.#fields = fields;
  }

  debug(message: string, fields?: Fields): void {
    this.#write("debug", message, fields);
  }

  info(message: string, fields?: Fields): void {
    this.#write("info", message, fields);
  }

  warn(message: string, fields?: Fields): void {
    this.#write("warn", message, fields);
  }

  error(message: string, fields?: Fields): void {
    this.#write("error", message, fields);
  }

  child(fields: Fields): Logger {
    return new LineLogger(this.#output, { ...this.#fields, ...fields });
  }

  #write(level: Level, message: string, fields: Fields = {}): void {
    const { sink, threshold, clock } = this.#output;
    if (ORDER[level] < ORDER[threshold()]) return;
    sink(formatLine(clock(), level, message, this.#fields, fields), level);
  }
}

/** A logger that drops everything, for tests and for code run without an operator. */
export const SILENT: Logger = createLogger(() => {});

/** The moment written last: many lines come within a millisecond. */
let written = { at: NaN, text: "" };

function timestamp(at: number): string {
  if (at !== written.at) written = { at, text: new Date(at).toISOString() };
  return written.text;
}

/** One event as one line: control characters are escaped, so that no value can forge a line or a field. */
export function formatLine(at: number, level: Level, message: string, ...groups: readonly Fields[]): string {
  let line = `${timestamp(at)} ${level.padEnd(5)} ${message}`;
  for (const fields of groups) {
    for (const key of Object.keys(fields)) {
      const value = fields[key];
      if (value !== undefined) line += ` ${key}=${formatValue(value)}`;
    }
  }
  return line;
}

function formatValue(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (value instanceof Error) return quote(describeError(value));
  if (typeof value === "object" && value !== null) return quote(JSON.stringify(value) ?? "");
  return quote(String(value));
}

/** An error with the chain of its causes, on one line and without stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own} (cause: ${describeError(error.cause)})`;
}

/** Characters of a value that are written; what callers send may be longer. */
const MAX_VALUE = 2000;

function quote(whole: string): string {
  const text = whole.length > MAX_VALUE ? `${whole.slice(0, MAX_VALUE)}…` : whole;
  // A text that looks like a number is not one: whoever reads the line again can tell.
  if (/^[\w.:/@+,*()-]+$/.test(text) && !/^-?\d+(?:\.\d+)?$/.test(text)) return text;
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`; // nothing to escape
  // JSON escapes C0 controls, quotes and backslashes.
  return printable(JSON.stringify(text));
}
