import { attempt } from "../model/attempt.ts";
import { fstatSync } from "node:fs";

const PRIORITIES: Readonly<Record<string, number>> = { debug: 7, info: 6, warn: 4, error: 3 };

/** Log line, which other forms are made from: `2026-01-05T09:15:00.123Z info  message key=value …`. */
const LINE = /^(\d{4}-\d\d-\d\dT[\d:.]+Z) (debug|info|warn|error) +([^]*)/;

/** Formats lines for the journal: priority prefix (sd-daemon(3)), no time. @param text Whole lines. */
export function forJournal(text: string): string {
  return eachLine(text, (line) => {
    const [, , level, rest] = LINE.exec(line) ?? [];
    if (level !== undefined) return `<${PRIORITIES[level]}>${rest}`;
    const [, ofJson = ""] = /^\{"time":"[^"]*","level":"(\w+)"/.exec(line) ?? [];
    return ofJson in PRIORITIES ? `<${PRIORITIES[ofJson]}>${line}` : line;
  });
}

/** Formats whole lines as JSON objects; unquoted numbers stay numbers, JSON lines stay unchanged. */
export function asJsonLines(text: string): string {
  return eachLine(text, (line) => {
    const [, time, level, rest = ""] = LINE.exec(line) ?? [];
    if (time === undefined) return line.startsWith("{") ? line : JSON.stringify({ message: line });
    const found = [...rest.matchAll(FIELD)];
    const start = found[0]?.index ?? rest.length;
    const fields = found.map(([, key = "", value = ""]) => [key, valueOf(value)] as const);
    return JSON.stringify({ time, level, message: rest.slice(0, start), ...Object.fromEntries(fields) });
  });
}

const FIELD = / ([A-Za-z]\w*)=("(?:[^"\\]|\\.)*"|[^\s"]*)/g; // blank, name, `=`, quoted or bare value

function valueOf(written: string): string | number {
  if (/^-?\d{1,15}(?:\.\d{1,9})?$/.test(written)) return Number(written);
  if (!written.startsWith('"')) return written;
  return attempt(() => String(JSON.parse(written)), SyntaxError, () => written); // else not our quoting
}

function eachLine(text: string, form: (line: string) => string): string {
  return text.split("\n").map((line) => line === "" ? "" : form(line)).join("\n");
}

/**
 * Reports whether a stream leads to the journal, by device and inode in `JOURNAL_STREAM` (systemd.exec(5)), which
 * children inherit even if redirected.
 * @param stream 1: standard output; 2: standard error.
 */
export function isJournal(stream: 1 | 2, environment: (name: string) => string | undefined): boolean {
  const named = environment("JOURNAL_STREAM") ?? "";
  if (named === "") return false;
  try {
    const { dev, ino } = fstatSync(stream, { bigint: true });
    return named === `${dev}:${ino}`;
  } catch {
    return false; // closed
  }
}

/** Prefixes warnings of a command with their journal priority. */
export function messagesForJournal(text: string): string {
  return eachLine(text, (line) => `<${/^(?:warning|note)\b/i.test(line) ? 4 : 3}>${line}`);
}

/** Reports whether the runtime sends console messages by OTLP, and prints none of them. */
export function exportsLines(environment: (name: string) => string | undefined): boolean {
  return environment("OTEL_DENO") === "true" && environment("OTEL_DENO_CONSOLE") === "replace";
}

/** Hands each line to the runtime, with its level, and writes it. */
export function exportedLines(write: (text: string) => void): typeof write {
  return (text) => {
    for (const line of text.trimEnd().split("\n")) console[levelOf(line)](line);
    write(text);
  };
}

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Reads the level of a line of text or JSON; other lines, such as those of the audit stream, are information. */
function levelOf(line: string) {
  const word = line.startsWith("{") ? /"level":"(\w+)"/.exec(line)?.[1] : line.split(" ", 2)[1];
  return LEVELS.find((level) => level === word) ?? "info";
}
