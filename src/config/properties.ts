import type { Diagnostic } from "../model/diagnostic.ts";
import { trimEndCharacters } from "../model/trim.ts";

/** One `key=value` of a file. */
export interface PropertyEntry {
  readonly key: string;
  /** With escapes resolved; trailing blanks belong to it. */
  readonly value: string;
  readonly file: string;
  /** Counted from 1; the first one of an entry with continuation lines. */
  readonly line: number;
}

/** UTF-8, or ISO-8859-1 if the bytes are not (Java's property files are either). A byte-order mark is dropped. */
export function decodeProperties(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  }
}

/**
 * Reads the text of a Java property file as `java.util.Properties` does, each key at its line.
 * Of a key that is there twice the last one counts, and a warning says so; a bad `\u` escape is an error.
 * (Compared with Java on 20,000 random texts: the one difference is a lone backslash in the last line, in which Java
 * sometimes sees an empty key.)
 */
export function parseProperties(
  text: string,
  file: string,
): { readonly entries: readonly PropertyEntry[]; readonly diagnostics: readonly Diagnostic[] } {
  const entries = new Map<string, PropertyEntry>();
  const diagnostics: Diagnostic[] = [];
  for (const { content, line } of logicalLines(text)) {
    const { key: rawKey, value: rawValue } = splitEntry(content);
    const key = unescape(rawKey);
    const value = unescape(rawValue);
    if (key === undefined || value === undefined) {
      diagnostics.push({
        severity: "error",
        file,
        line,
        key: key ?? rawKey,
        expected: "expected four hexadecimal digits after \\u",
      });
      continue;
    }
    const earlier = entries.get(key);
    if (earlier !== undefined) {
      const expected = `is also set in line ${earlier.line}; this line counts`;
      diagnostics.push({ severity: "warning", file, line, key, expected });
      entries.delete(key);
    }
    entries.set(key, { key, value, file, line });
  }
  return { entries: [...entries.values()], diagnostics };
}

/** Lines without comments and blank ones, continuation lines joined; escapes stay as they are. */
function* logicalLines(text: string): Generator<{ content: string; line: number }> {
  // Cut and joined once for each entry: a text that grows piece by piece and is cut each time costs its length each time.
  let parts: string[] = [];
  let first = 0;
  let line = 0;
  for (const natural of text.split(/\r\n|\r|\n/)) {
    line += 1;
    const part = natural.replace(/^[ \t\f]+/, "");
    // While nothing of an entry was read, blank lines and comments are skipped, also after a lone backslash.
    if (parts.length === 0) {
      if (part === "" || part.startsWith("#") || part.startsWith("!")) continue;
      first = line;
    }
    if (endsInOddBackslashes(part)) {
      if (part.length > 1) parts.push(part.slice(0, -1));
      continue;
    }
    yield { content: parts.join("") + part, line: first };
    parts = [];
  }
  if (parts.length > 0) yield { content: parts.join(""), line: first };
}

function endsInOddBackslashes(text: string): boolean {
  return (text.length - trimEndCharacters(text, "\\").length) % 2 === 1;
}

/** The key ends at the first unescaped `=`, `:` or blank. */
function splitEntry(content: string): { key: string; value: string } {
  const key = /^(?:\\.|[^\\=: \t\f])*/su.exec(content)?.[0] ?? "";
  const value = content.slice(key.length).replace(/^[ \t\f]*[=:]?[ \t\f]*/, "");
  return { key, value };
}

const ESCAPES: ReadonlyMap<string, string> = new Map([["t", "\t"], ["n", "\n"], ["r", "\r"], ["f", "\f"]]);

/** `undefined` if a `\u` is not followed by four hexadecimal digits. */
function unescape(text: string): string | undefined {
  let valid = true;
  const plain = text.replace(
    /\\(?:u([0-9A-Fa-f]{4})|(.)|$)/gsu,
    (_, code: string | undefined, letter = "") => {
      if (code !== undefined) return String.fromCharCode(parseInt(code, 16));
      valid &&= letter !== "u";
      return ESCAPES.get(letter) ?? letter;
    },
  );
  return valid ? plain : undefined;
}
