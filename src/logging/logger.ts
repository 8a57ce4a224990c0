import type { Clock } from "../model/clock.ts";
import { printable } from "../model/text.ts";

/** Fields of a log line, formatted by {@link formatLine}; a `Secret` prints as `***`. */
export type Fields = Readonly<Record<string, unknown>>;

/** Severity, ascending; see {@link Logger}. */
export type Level = "debug" | "info" | "warn" | "error";

/**
 * Structured logger with constant messages. `error`: someone must act; `warn`: the service coped; `info`: changes of
 * state and sign-ins; `debug`: for developers.
 */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  child(fields: Fields): Logger;
}

/** Writer of finished lines without line end. */
export type LineSink = (line: string, level: Level) => void;

const ORDER: Readonly<Record<Level, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

interface Output {
  readonly sink: LineSink;
  readonly threshold: () => Level;
  readonly clock: Clock;
}

/** Creates a logger for `2026-01-05T09:15:00.123Z info  message key=value …` lines. @param threshold Least level. */
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

/** A class, since each request creates one. */
class LineLogger implements Logger {
  constructor(readonly output: Output, readonly fields: Fields) {}

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
    return new LineLogger(this.output, { ...this.fields, ...fields });
  }

  #write(level: Level, message: string, fields: Fields = {}): void {
    const { sink, threshold, clock } = this.output;
    if (ORDER[level] < ORDER[threshold()]) return;
    sink(formatLine(clock(), level, message, this.fields, fields), level);
  }
}

/** Logger that drops everything. */
export const SILENT: Logger = createLogger(() => {});

let written = { at: NaN, text: "" };

function timestamp(at: number): string {
  if (at !== written.at) written = { at, text: new Date(at).toISOString() };
  return written.text;
}

/** Formats an event as one line, escaped so that no value can forge lines or fields. */
export function formatLine(at: number, level: Level, message: string, ...groups: readonly Fields[]): string {
  // Joined into a flat text: concatenated parts that wait in a batch make each garbage collection slower.
  const parts = [timestamp(at), level.padEnd(5), message];
  for (const fields of groups) {
    for (const key of Object.keys(fields)) {
      const value = fields[key];
      if (value !== undefined) parts.push(`${key}=${formatValue(value)}`);
    }
  }
  return parts.join(" ");
}

function formatValue(value: unknown): string {
  if (typeof value === "number") return String(value);
  if (value instanceof Error) return quote(describeError(value));
  if (typeof value === "object" && value !== null) return quote(JSON.stringify(value) ?? "");
  return quote(String(value));
}

/** Formats an error with its causes on one line, without stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const name = error.name === "Error" ? error.constructor.name : error.name;
  const own = `${name}: ${error.message}`;
  return error.cause === undefined ? own : `${own} (cause: ${describeError(error.cause)})`;
}

const MAX_VALUE = 2000; // characters; callers may send more

function quote(whole: string): string {
  const text = whole.length > MAX_VALUE ? `${whole.slice(0, MAX_VALUE)}…` : whole;
  // Quotes numeric texts, to distinguish them from numbers.
  if (/^(?!-?\d+(?:\.\d+)?$)[\w.:/@+,*()-]+$/.test(text)) return text;
  if (/^[ !#-[\]-~]*$/.test(text)) return `"${text}"`; // nothing to escape
  // JSON escapes controls, quotes and backslashes.
  return printable(JSON.stringify(text));
}
