/** Syntax or evaluation error with its place; contains no external values. */
export class InvalidExpression extends Error {
  readonly line: number; // from 1, as is the column
  readonly column: number;

  /** @param at UTF-16 offset in the source. */
  constructor(source: string, at: number, readonly reason: string) {
    const before = source.slice(0, at).split("\n");
    const line = before.length;
    const column = (before.at(-1) ?? "").length + 1;
    super(`line ${line}, column ${column}: ${reason}`);
    this.line = line;
    this.column = column;
  }
}

/** Limits of expressions (credentials.md 6.2). */
export const MAX_STEPS = 10_000;
/** Longest source and longest result, in UTF-16 units. */
export const MAX_TEXT = 64 * 1024;
/** Nested parentheses, brackets, conditionals and blocks. */
export const MAX_NESTING = 32;

/** Token; `at` is its source offset. */
export type Token =
  | { readonly kind: "string"; readonly at: number; readonly text: string }
  | { readonly kind: "integer"; readonly at: number; readonly value: number }
  | { readonly kind: "name"; readonly at: number; readonly text: string }
  | { readonly kind: "fixed"; readonly at: number; readonly text: string }
  | { readonly kind: "end"; readonly at: number };

const WORDS = new Set(["null", "true", "false", "instanceof", "return", "if", "else", "for", "while"]);

const BLANK = /\s+|\/\/[^\n]*/y;
const WORD = /[A-Za-z_][A-Za-z0-9_]*/y;
const INTEGER = /[0-9]+/y;
const SIGN = /&&|\|\||==|!=|\+=|[=!?:;,.+()[\]{}]/y;
/** No line ends; a backslash only before a valid escape. */
const DOUBLE_QUOTED = /"((?:[^"\\\r\n]|\\[\\"'nt]|\\u[0-9A-Fa-f]{4})*)"/y;
const SINGLE_QUOTED = /'((?:[^'\\\r\n]|\\[\\"'nt]|\\u[0-9A-Fa-f]{4})*)'/y;

/** Splits an expression into tokens, the last of kind `end`. C comments count as blanks. @throws {InvalidExpression} */
export function tokenize(source: string): readonly Token[] {
  if (source.length > MAX_TEXT) throw new InvalidExpression(source, 0, `longer than ${MAX_TEXT} characters`);
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(source);
  };
  while (at < source.length) {
    const blankEnd = endOfBlank(source, at);
    if (blankEnd > at) {
      at = blankEnd;
      continue;
    }
    const found = take(WORD) ?? take(INTEGER) ?? take(DOUBLE_QUOTED) ?? take(SINGLE_QUOTED) ?? take(SIGN);
    if (found === null) throw new InvalidExpression(source, at, describeStray(source, at));
    tokens.push(toToken(source, at, found));
    at += found[0].length;
  }
  tokens.push({ kind: "end", at });
  return tokens;
}

/** Returns the end of blanks or of a comment at an offset, or the offset; unterminated comments stay for the error. */
function endOfBlank(source: string, at: number): number {
  BLANK.lastIndex = at;
  if (BLANK.test(source)) return BLANK.lastIndex;
  const end = source.startsWith("/*", at) ? source.indexOf("*/", at + 2) : -1;
  return end < 0 ? at : end + 2;
}

function toToken(source: string, at: number, [all, quoted]: RegExpExecArray): Token {
  if (quoted !== undefined) return { kind: "string", at, text: unescape(quoted) };
  const first = all.charCodeAt(0);
  if (first >= 0x30 && first <= 0x39) {
    if (/^(?:0|[1-9][0-9]{0,14})$/.test(all)) return { kind: "integer", at, value: Number(all) };
    throw new InvalidExpression(source, at, "expected an integer of up to 15 digits without leading zero");
  }
  const isName = /^\w/.test(all) && !WORDS.has(all);
  return { kind: isName ? "name" : "fixed", at, text: all };
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t" };

function unescape(quoted: string): string {
  return quoted.replace(
    /\\(?:u([0-9A-Fa-f]{4})|(.))/g,
    (_all, code: string | undefined, sign: string) =>
      code === undefined ? ESCAPES[sign] ?? sign : String.fromCharCode(parseInt(code, 16)),
  );
}

function describeStray(source: string, at: number): string {
  const sign = String.fromCodePoint(source.codePointAt(at) ?? 0);
  if (sign === '"' || sign === "'") {
    return `a text that does not end on its line, or an escape other than \\\\ \\" \\' \\n \\t \\uXXXX`;
  }
  if (source.startsWith("/*", at)) return "a comment that does not end";
  return `unexpected ${JSON.stringify(sign)}`;
}
