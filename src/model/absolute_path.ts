import { type HttpError, httpError } from "./http_error.ts";

/** Characters; a command line of a daemon holds 8192, a session request line 4096 (daemon-protocol.md 1.10, 5.1). */
const [MAX_LENGTH, MAX_LEVELS] = [2048, 256]; // unknown clients can have the shares of all levels looked up

/** Controls, line separators and lone surrogates, which must never reach a daemon (daemon-protocol.md 1.10). */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate}/u;

/** Reports whether a text has a character that must never reach a daemon. */
export function hasForbiddenCharacter(text: string): boolean {
  return FORBIDDEN.test(text);
}

/** Invisible and bidirectional characters (UAX 9), fillers and tags; a joiner (U+200D) except between pictures. */
const INVISIBLE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|\u200d(?!\p{Extended_Pictographic})/gu;

/** Reports whether a text has an invisible character or one that changes the direction of writing. */
export function hasInvisibleCharacter(text: string): boolean {
  return withInvisibleShown(text) !== text;
}

/** Escapes invisible and bidirectional characters, and each blank of a text without other characters, as `\u{…}`. */
export function withInvisibleShown(text: string): string {
  const invisible = text.trim() === "" ? /\s/gu : INVISIBLE;
  return text.replace(invisible, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}

/** Normalises an absolute path (rest-api.md 2.9); links are not resolved (D29). @throws {ERR_INVALID_PATH} */
export function absolutePath(text: string): string {
  if (text.length > MAX_LENGTH) throw invalidPath(`longer than ${MAX_LENGTH} characters`);
  if (hasForbiddenCharacter(text)) throw invalidPath("it contains control characters");
  if (!text.startsWith("/")) throw invalidPath("it must begin with a slash");
  const parts: string[] = [];
  for (const part of text.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) throw invalidPath("it leads beyond the root directory");
  }
  if (parts.length > MAX_LEVELS) throw invalidPath(`more than ${MAX_LEVELS} levels deep`);
  const directory = /\/\.{0,2}$/.test(text) && parts.length > 0;
  return `/${parts.join("/")}${directory ? "/" : ""}`;
}

/** Returns the parent directory with a trailing slash; the parent of the root is the root. */
export function parentOf(path: string): string {
  return path.slice(0, withoutSlash(path).lastIndexOf("/") + 1) || "/";
}

/** Returns the last component without slash; empty for the root. */
export function nameOf(path: string): string {
  const bare = withoutSlash(path);
  return bare.slice(bare.lastIndexOf("/") + 1);
}

/** Appends `/.` to a path or pattern that ends in a blank, which daemons would trim. */
export function protectEnd(path: string): string {
  return /\s$/u.test(path) ? `${path}/.` : path;
}

/** Returns the path without trailing slash; the root stays `/`. */
export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** Returns the error for a path that the service rejects itself. The caller sees the diagnostic. */
export function invalidPath(diagnostic: string): HttpError {
  return httpError("ERR_INVALID_PATH", { diagnostic });
}
