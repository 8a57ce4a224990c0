/** Changes to the text of a password file that leave every other line, and comments, as they are. */
import { formatStoredHash, type StoredHash } from "../../authentication/password/stored_hash.ts";

/** A user's line, without line end. */
export function passwordLine(user: string, stored: StoredHash, dn: string): string {
  const { hash, salt } = formatStoredHash(stored);
  return `${user}:${hash}:${salt}:${dn.trim()}`;
}

/**
 * Puts a line in the place of the user's, or at the end. Further lines for the user, of which only the last one
 * counted, go.
 * @param line Without line end; it gets the line end that the file has.
 */
export function putLine(text: string, user: string, line: string): string {
  const end = /\r\n/.test(text) ? "\r\n" : "\n";
  const lines = splitLines(text);
  const last = lines.findLastIndex((each) => userOf(each) === user);
  if (last === -1) {
    const before = text === "" || text.endsWith("\n") ? text : text + end;
    return before + line + end;
  }
  return lines.flatMap((each, i) => {
    if (i === last) return [line + (each.endsWith("\n") ? end : "")];
    return userOf(each) === user ? [] : [each];
  }).join("");
}

/** Removes all lines for the user. */
export function removeLines(text: string, user: string): string {
  return splitLines(text).filter((line) => userOf(line) !== user).join("");
}

/** The line that counts for the user, without its line end. */
export function lineFor(text: string, user: string): string | undefined {
  return splitLines(text).findLast((line) => userOf(line) === user)?.replace(/\r?\n$/, "");
}

/** Lines with their line ends. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Whom a line is for, usable or not; nobody for comments, blank lines and lines without colon. */
function userOf(line: string): string | undefined {
  if (/^\s*#/.test(line)) return undefined;
  const colon = line.indexOf(":");
  return colon === -1 ? undefined : line.slice(0, colon).replace(/^\ufeff/, "");
}
