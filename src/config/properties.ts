import type { Diagnostic } from "../model/diagnostic.ts";
import { trimEndCharacters } from "../model/trim.ts";

/** Entry of a property file. */
export interface PropertyEntry {
  readonly key: string;
  readonly value: string; // unescaped, with trailing blanks
  readonly file: string;
  readonly line: number; // from 1; the first line of a continued entry
}

/** Decodes UTF-8, or ISO-8859-1 as the fallback; drops a byte-order mark. */
export function decodeProperties(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  }
}

/**
 * Parses like `java.util.Properties`, except for a lone backslash in the last line. The last of a repeated key wins
 * with a warning; a bad `\u` escape is an error.
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

/** Yields logical lines: continued lines joined, without comments; escapes unchanged. */
function* logicalLines(text: string): Generator<{ content: string; line: number }> {
  // Joined once per entry, to stay linear.
  let parts: string[] = [];
  let first = 0;
  let line = 0;
  for (const natural of text.split(/\r\n|\r|\n/)) {
    line += 1;
    const part = natural.replace(/^[ \t\f]+/, "");
    // Skips blank lines and comments before an entry, also after a lone backslash.
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

/** Splits at the first unescaped `=`, `:` or blank. */
function splitEntry(content: string): { key: string; value: string } {
  const key = /^(?:\\.|[^\\=: \t\f])*/su.exec(content)?.[0] ?? "";
  const value = content.slice(key.length).replace(/^[ \t\f]*[=:]?[ \t\f]*/, "");
  return { key, value };
}

const ESCAPES: ReadonlyMap<string, string> = new Map([["t", "\t"], ["n", "\n"], ["r", "\r"], ["f", "\f"]]);

/** Returns `undefined` for a bad `\u`. */
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
