import { UnreadableDump } from "./csv_rows.ts";

/** Record of a Java table: JSON in the second column, after the id. */
interface SqlRecord {
  readonly line: number; // first line, counted from 1
  readonly record: string;
}

/** Reports whether a text is SQL of pg_dump, mysqldump or H2's `SCRIPT`. */
export function isSqlDump(text: string): boolean {
  return /^\s*(?:--|\/\*|SET |CREATE |INSERT |COPY )/.test(text);
}

/** Returns the second column of all inserted rows. @throws {UnreadableDump} The dump is cut off. */
export function sqlRecords(text: string): readonly SqlRecord[] {
  const lineAt = lineCounter(text);
  // Only mysqldump escapes plain strings.
  const escapes = /^(?:-- M|\/\*M?!)/m.test(text.slice(0, 500));
  const found: SqlRecord[] = [];
  const start = /^(?:INSERT INTO .*|COPY .* FROM stdin;\r?\n)/gm;
  for (let match = start.exec(text); match !== null; match = start.exec(text)) {
    const from = match.index;
    const end = text.startsWith("COPY", from)
      ? copiedRows(text, start.lastIndex, (at, record) => found.push({ line: lineAt(at), record }))
      : insertedRows(text, from, escapes, (at, record) => found.push({ line: lineAt(at), record }));
    if (end === undefined) throw new UnreadableDump(lineAt(text.length), "the dump ends within a statement");
    start.lastIndex = end;
  }
  return found;
}

type Found = (at: number, record: string) => void;

/** Reads tab-separated lines up to `\.`. @returns End position; absent if it is cut off. */
function copiedRows(text: string, from: number, found: Found): number | undefined {
  for (let at = from; at < text.length;) {
    const lineEnd = text.indexOf("\n", at);
    const end = lineEnd < 0 ? text.length : lineEnd;
    const line = text.slice(at, text[end - 1] === "\r" ? end - 1 : end);
    if (line === "\\.") return at;
    const [, record] = line.split("\t");
    if (record !== undefined) found(at, unescaped(record));
    at = end + 1;
  }
  return undefined;
}

/** Reads `(…), (…);`. @returns End position; absent if it is cut off. */
function insertedRows(text: string, from: number, escapes: boolean, found: Found): number | undefined {
  const plain = escapes ? String.raw`(?:[^'\\]|''|\\[^])*` : "(?:[^']|'')*";
  const tokens = new RegExp(`(U&|STRINGDECODE\\()?'(${plain})'|[(),;]`, "g");
  tokens.lastIndex = from;
  let depth = 0;
  let column = 0;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    const [whole, form = "", quoted] = token;
    if (quoted !== undefined) {
      if (form === "STRINGDECODE(") depth++;
      if (column === 1) found(token.index, literal(quoted.replaceAll("''", "'"), form, escapes));
    } else if (whole === "(") {
      if (depth++ === 0) column = 0;
    } else if (whole === ")") depth--;
    else if (whole === "," && depth === 1) column++;
    else if (whole === ";" && depth === 0) return tokens.lastIndex;
  }
  return undefined;
}

function literal(quoted: string, form: string, escapes: boolean): string {
  if (form === "U&") {
    return quoted.replace(
      /\\(?:\+([0-9a-f]{6})|([0-9a-f]{4})|(\\))/gi,
      (whole, long?: string, short?: string) =>
        long === undefined && short === undefined
          ? whole.slice(1)
          : String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(long ?? short ?? "", 16))),
    );
  }
  return form !== "" || escapes ? unescaped(quoted) : quoted;
}

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["r", "\r"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["0", "\0"],
  ["Z", "\x1a"],
]);

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-f]{4})|([^]))/gi,
    (_, code?: string, letter = "") =>
      code === undefined ? ESCAPED.get(letter) ?? letter : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Returns a line counter for increasing positions. */
function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let counted = 0;
  return (at) => {
    for (let next = text.indexOf("\n", counted); next >= 0 && next < at; next = text.indexOf("\n", counted)) {
      line++;
      counted = next + 1;
    }
    return line;
  };
}
