import { type HttpError, httpError } from "./http_error.ts";

/** Characters; a command line of a daemon holds 8192, a session request line 4096 (daemon-protocol.md 1.10, 5.1). */
const MAX_LENGTH = 2048;

/**
 * Characters that must never reach a daemon: C0 and C1 controls, DEL, the line and paragraph separators, and halves of
 * surrogate pairs (daemon-protocol.md 1.10).
 */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Surrogate}/u;

/** Whether a text has a character that must never reach a daemon. */
export function hasForbiddenCharacter(text: string): boolean {
  return FORBIDDEN.test(text);
}

/**
 * Characters by which a name looks like another one: of no width, for the direction of writing (UAX 9), fillers, and tags; a
 * joiner (U+200D) only where it joins no pictures.
 */
const INVISIBLE =
  /[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d|\u200d(?!\p{Extended_Pictographic})/gu;

/** Whether a text has a character that cannot be seen, or that changes the direction of writing. */
export function hasInvisibleCharacter(text: string): boolean {
  return withInvisibleShown(text) !== text;
}

/** The text with each character that cannot be seen, or changes the direction of writing, as `\u{…}`. */
export function withInvisibleShown(text: string): string {
  return text.replace(
    INVISIBLE,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/**
 * Brings an absolute path into its one normal form (rest-api.md 2.9): `.`, `..` and doubled slashes resolved, a
 * trailing slash kept. Backslashes are ordinary characters (D29). Symbolic links are not looked at.
 * @throws {ERR_INVALID_PATH} Not absolute, beyond the root, too long, or with control characters.
 */
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
  const directory = /\/\.{0,2}$/.test(text) && parts.length > 0;
  return `/${parts.join("/")}${directory ? "/" : ""}`;
}

/** Bytes of a name that file systems hold; a few hold more, so a daemon is asked all the same. */
const MAX_NAME = 255;

/** Why a daemon that cannot write to a path cannot: a name that file systems do not hold; `undefined` if it is not that. */
export function tooLongName(path: string): string | undefined {
  const tooLong = path.split("/").some((name) => new TextEncoder().encode(name).length > MAX_NAME);
  return tooLong ? `a name in it is longer than ${MAX_NAME} bytes` : undefined;
}

/** The directory that holds a path, with trailing slash; of the root, the root. */
export function parentOf(path: string): string {
  return path.slice(0, withoutSlash(path).lastIndexOf("/") + 1) || "/";
}

/** Last component, without slash; empty for the root. */
export function nameOf(path: string): string {
  const bare = withoutSlash(path);
  return bare.slice(bare.lastIndexOf("/") + 1);
}

/** The path without trailing slash; the root stays `/`. */
export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** A path that no daemon is asked about. @param diagnostic Told to the caller. */
export function invalidPath(diagnostic: string): HttpError {
  return httpError("ERR_INVALID_PATH", { diagnostic });
}
