import { isAccountName, isPrivilegedAccount } from "../../model/account_name.ts";
import { InvalidName, parseName } from "../../model/distinguished_name.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { eachLine } from "../../model/time_slicing.ts";
import { type AuthorizedKey, parseKeyLine } from "./authorized_keys.ts";

/** A key from the keys file, with the name that its owner gets. */
interface NamedKey extends AuthorizedKey {
  readonly dn: string;
}

/** What a keys file says, and what in it cannot be used. */
export interface KeysFile {
  /** Keys by user, in the order of the file. A user whose lines are all unusable is listed, without keys. */
  readonly keys: ReadonlyMap<string, readonly NamedKey[]>;
  /** Lines that are not used, with the reason; they name neither user nor key. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads `user:key line:DN` lines in small steps (specification 2.6, authentication.md 3.2). The user name ends at the first colon and the DN
 * begins behind the last, so options and comments may hold colons. Blank lines and lines that begin with `#` are skipped.
 * @param file For the problems.
 */
export async function parseKeysFile(text: string, file: string): Promise<KeysFile> {
  const keys = new Map<string, NamedKey[]>();
  const diagnostics: Diagnostic[] = [];
  await eachLine(text, (line, number) => {
    if (/^\s*(?:#|$)/.test(line)) return;
    const { user, key, expected } = parseLine(line);
    if (user !== undefined && !keys.has(user)) keys.set(user, []);
    if (user !== undefined && key !== undefined) keys.get(user)?.push(key);
    if (expected !== undefined) diagnostics.push({ severity: "warning", file, line: number, expected });
  });
  return { keys, diagnostics };
}

/** What a line gives; `expected` if something about it is wrong. */
function parseLine(line: string): { user?: string; key?: NamedKey; expected?: string } {
  const [first, last] = [line.indexOf(":"), line.lastIndexOf(":")];
  const user = line.slice(0, Math.max(first, 0)).trim();
  if (!isAccountName(user) || isPrivilegedAccount(user)) {
    return { expected: "expected user:key:DN, the user a Unix account other than root" };
  }
  if (first === last) return { user, expected: "expected user:key:DN" };
  const [keyLine, dn] = [line.slice(first + 1, last), line.slice(last + 1).trim()];
  if (dn === "" || !isName(dn)) return { user, expected: "expected a DN behind the last colon" };
  if (endsWithinName(keyLine)) return { user, expected: "expected a DN without colons" };
  const parsed = parseKeyLine(keyLine);
  switch (parsed.kind) {
    case "key":
      return { user, key: { ...parsed.key, dn } };
    case "empty":
      return { user, expected: "expected a public key between the colons" };
    case "refused":
      return { user, expected: `key is not used: ${parsed.reason}` };
  }
}

/** Whether what is taken for the comment of a key is the first half of a DN that holds a colon. */
function endsWithinName(keyLine: string): boolean {
  return /:\s*[A-Za-z][A-Za-z0-9.]*\s*=/.test(keyLine.slice(keyLine.lastIndexOf('"') + 1));
}

function isName(text: string): boolean {
  try {
    parseName(text);
    return true;
  } catch (error) {
    if (error instanceof InvalidName) return false;
    throw error;
  }
}
