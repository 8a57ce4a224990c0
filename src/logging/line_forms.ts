/** Other forms of log lines than `2026-01-05T09:15:00.123Z info  message key=value …`, made of these. */
/** syslog(3) priorities. */

const PRIORITIES: Readonly<Record<string, number>> = { debug: 7, info: 6, warn: 4, error: 3 };

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

/** Blank, name, `=`, quoted or bare value. */
const FIELD = / ([A-Za-z]\w*)=("(?:[^"\\]|\\.)*"|[^\s"]*)/g;

function valueOf(written: string): string | number {
  if (/^-?\d{1,15}(?:\.\d{1,9})?$/.test(written)) return Number(written);
  if (!written.startsWith('"')) return written;
  try {
    return String(JSON.parse(written));
  } catch {
    return written; // not our quoting
  }
}

function eachLine(text: string, form: (line: string) => string): string {
  return text.split("\n").map((line) => line === "" ? "" : form(line)).join("\n");
}
