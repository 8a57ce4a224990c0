/** Python's text handling, as far as it is visible in the daemon's replies. */

/** White space by `str.isspace`; JavaScript's `trim` differs in U+001C to U+001F, U+0085 and U+FEFF. */
const SPACE = "\\t-\\r\\x1c- \\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const LEADING = new RegExp(`^[${SPACE}]+`);
const SPACE_CHARACTER = new RegExp(`[${SPACE}]`);

/** Does the same as `str.strip()`. */
export function strip(text: string): string {
  let end = text.length;
  while (end > 0 && SPACE_CHARACTER.test(text.charAt(end - 1))) end--;
  return text.slice(0, end).replace(LEADING, "");
}

/** Does the same as `str.split(separator, 1)`: splits at the first separator, if any. */
export function splitOnce(text: string, separator: string): [string] | [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + separator.length)];
}

/**
 * Does the same as `int(text)` for ASCII digits: accepts a sign, white space around and single underscores
 * between digits.
 */
export function toInteger(text: string): number {
  if (!/^[+-]?\d+(_\d+)*$/.test(strip(text))) {
    throw new PythonError(`invalid literal for int() with base 10: ${quoted(text)}`);
  }
  return Number(strip(text).replaceAll("_", ""));
}

/** Does the same as `repr(text)`. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll(quote, `\\${quote}`)
    .replaceAll("\t", "\\t").replaceAll("\n", "\\n").replaceAll("\r", "\\r")
    .replace(/(?! )[\p{C}\p{Z}]/gu, escapeCode);
  return `${quote}${escaped}${quote}`;
}

/** Escapes a character that is not printable, in the shortest of Python's three forms. */
function escapeCode(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16);
  if (code.length <= 2) return `\\x${code.padStart(2, "0")}`;
  return code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
}

/** Does the same as `str(list)`, for texts. */
export const listed = (texts: readonly string[]): string => `[${texts.map(quoted).join(", ")}]`;

/** An exception whose text the daemon puts into a reply. */
export class PythonError extends Error {
  override readonly name = "PythonError";
}

const ERRORS: Readonly<Record<string, readonly [number, string]>> = {
  EPERM: [1, "Operation not permitted"],
  ENOENT: [2, "No such file or directory"],
  EIO: [5, "Input/output error"],
  EACCES: [13, "Permission denied"],
  EEXIST: [17, "File exists"],
  EXDEV: [18, "Invalid cross-device link"],
  ENOTDIR: [20, "Not a directory"],
  EISDIR: [21, "Is a directory"],
  EINVAL: [22, "Invalid argument"],
  ENOSPC: [28, "No space left on device"],
  EROFS: [30, "Read-only file system"],
  EPIPE: [32, "Broken pipe"],
  ENAMETOOLONG: [36, "File name too long"],
  ENOTEMPTY: [39, "Directory not empty"],
  ELOOP: [40, "Too many levels of symbolic links"],
  EADDRNOTAVAIL: [99, "Cannot assign requested address"],
  ECONNRESET: [104, "Connection reset by peer"],
};

/** Returns a system error in Python's words: `[Errno 2] No such file or directory: '/x'`. */
export function systemError(code: string, ...paths: readonly string[]): PythonError {
  const [number, text] = ERRORS[code] ?? [0, code];
  const where = paths.length === 0 ? "" : `: ${paths.map(quoted).join(" -> ")}`;
  return new PythonError(`[Errno ${number}] ${text}${where}`);
}

/** Returns the code of a system error, such as `ENOENT`; the empty text for other errors. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Runs an action on files; throws its system errors in Python's words. */
export function withPaths<T>(paths: readonly string[], action: () => T): T {
  try {
    return action();
  } catch (error) {
    throw errorCode(error) === "" ? error : systemError(errorCode(error), ...paths);
  }
}
