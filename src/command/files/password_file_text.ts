import { formatStoredHash, type StoredHash } from "../../authentication/password/stored_hash.ts";

/** Formats a user's line, without line end. */
export function passwordLine(user: string, stored: StoredHash, dn: string): string {
  const { hash, salt } = formatStoredHash(stored);
  return `${user}:${hash}:${salt}:${dn.trim()}`;
}

/** Replaces the user's lines, or appends the line, with the line end of the file. @param line Without line end. */
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

/** Removes all lines of the user. */
export function removeLines(text: string, user: string): string {
  return splitLines(text).filter((line) => userOf(line) !== user).join("");
}

/** Returns the effective line of the user, without line end. */
export function lineFor(text: string, user: string): string | undefined {
  return splitLines(text).findLast((line) => userOf(line) === user)?.replace(/\r?\n$/, "");
}

function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Returns the user of a line, usable or not; undefined for comments, blank lines and lines without colon. */
function userOf(line: string): string | undefined {
  if (/^\s*#/.test(line)) return undefined;
  const colon = line.indexOf(":");
  return colon === -1 ? undefined : line.slice(0, colon).replace(/^\ufeff/, "");
}
