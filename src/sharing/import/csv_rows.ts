/** Row of a CSV text. @property line Counted from 1. */
interface CsvRow {
  readonly line: number;
  readonly fields: readonly string[];
}

/** Error for text that is not a dump, or only a part of one. */
export class UnreadableDump extends Error {
  constructor(readonly line: number, message: string) {
    super(message);
  }
}

/** Parses comma-separated values (RFC 4180); skips blank lines. @throws {UnreadableDump} */
export function csvRows(text: string): readonly CsvRow[] {
  const rows: CsvRow[] = [];
  const separator = /,|\r?\n/g;
  let fields: string[] = [];
  let line = 1;
  let first = 1;
  for (let at = 0; at < text.length || fields.length > 0;) {
    const start = line;
    let field: string;
    if (text[at] === '"') {
      const end = closingQuote(text, at, start);
      field = text.slice(at + 1, end).replaceAll('""', '"');
      line += text.slice(at, end).split("\n").length - 1;
      at = end + 1;
      if (at < text.length && !/^(?:,|\r?\n)/.test(text.slice(at, at + 2))) {
        throw new UnreadableDump(line, "expected a comma or the end of the line behind a closing quote");
      }
    } else {
      separator.lastIndex = at;
      const end = separator.exec(text)?.index ?? text.length;
      field = text.slice(at, end);
      at = end;
    }
    fields.push(field);
    if (text[at] === ",") {
      at++;
      continue; // also at the end: an empty field follows
    }
    if (fields.length > 1 || fields[0] !== "") rows.push({ line: first, fields });
    fields = [];
    at += text.startsWith("\r\n", at) ? 2 : 1;
    first = ++line;
  }
  return rows;
}

function closingQuote(text: string, start: number, line: number): number {
  for (let at = start + 1;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) throw new UnreadableDump(line, "expected a closing quote");
    if (text[quote + 1] !== '"') return quote;
    at = quote + 2;
  }
}
