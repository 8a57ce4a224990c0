import { escapeNameValue, ifValidDn, parseName } from "../../model/distinguished_name.ts";
import { isAccountName, isPrivilegedAccount } from "../../model/account_name.ts";
import { type Diagnostic, InvalidFile } from "../../model/diagnostic.ts";
import { eachLine } from "../../model/time_slicing.ts";
import { type AuthorizedKey, parseAuthorities, parseKeyLine } from "./authorized_keys.ts";
import type { KindInspection, KnownUser } from "../../config/kind.ts";
import { inspectFile, readRegularFile } from "../../model/regular_file.ts";
import { readRevokedKeys } from "./certificate/revoked_keys.ts";
import { UnusableKey } from "./public_key.ts";

/** Fills a DN template: `%s` becomes the escaped user name. */
export function nameFromTemplate(template: string, user: string): string {
  return template.replaceAll("%s", () => escapeNameValue(user));
}

interface NamedKey extends AuthorizedKey {
  readonly dn: string;
}

export interface KeysFile {
  /** By user, in the file's order; a user with only unusable lines has no keys. */
  readonly keys: ReadonlyMap<string, readonly NamedKey[]>;
  readonly diagnostics: readonly Diagnostic[]; // unusable lines; they quote neither user nor key
}

/**
 * Parses `user:key line:DN` lines in slices (specification 2.6, credentials.md 3.2). The first and last
 * colon delimit, so options and comments may contain colons. `#` begins comments.
 */
export async function parseKeysFile(text: string, file: string): Promise<KeysFile> {
  const keys = new Map<string, NamedKey[]>();
  const diagnostics: Diagnostic[] = [];
  await eachLine(text, (line, number) => {
    if (/^\s*(?:#|$)/.test(line)) return;
    const { user, key, expected } = parseLine(line);
    if (user !== undefined && !keys.has(user)) keys.set(user, []);
    if (user !== undefined && key !== undefined) keys.get(user)?.push(key);
    if (expected === undefined) return;
    const fix =
      `write ${file}:${number} anew with a public key as printed by: ssh-keygen -y -f <private key>`;
    diagnostics.push({ severity: "warning", file, line: number, expected, fix });
  });
  return { keys, diagnostics };
}

function parseLine(line: string): { user?: string; key?: NamedKey; expected?: string } {
  const [first, last] = [line.indexOf(":"), line.lastIndexOf(":")];
  const user = line.slice(0, Math.max(first, 0)).trim();
  if (!isAccountName(user) || isPrivilegedAccount(user)) {
    return { expected: "expected user:key:DN, the user a Unix account other than root" };
  }
  if (first === last) return { user, expected: "expected user:key:DN" };
  const [keyLine, dn] = [line.slice(first + 1, last), line.slice(last + 1).trim()];
  if (dn === "" || ifValidDn(() => parseName(dn)) === undefined) {
    return { user, expected: "expected a DN behind the last colon" };
  }
  // Such a key's comment is really the start of a DN with a colon.
  if (/:\s*[A-Za-z][A-Za-z0-9.]*\s*=/.test(keyLine.slice(keyLine.lastIndexOf('"') + 1))) {
    return { user, expected: "expected a DN without colons" };
  }
  const parsed = parseKeyLine(keyLine);
  if (parsed.kind === "key") return { user, key: { ...parsed.key, dn } };
  const isEmpty = parsed.kind === "empty";
  const expected = isEmpty ? "expected a public key between the colons" : `key is not used: ${parsed.reason}`;
  return { user, expected };
}

/** Checks keys, authorities and revocation list for the operator. */
export async function inspectKeys(
  { file, certificateAuthorities, revokedKeys }: Readonly<
    Record<"file" | "certificateAuthorities" | "revokedKeys", string | undefined>
  >,
): Promise<KindInspection> {
  const lists = [
    ...certificateAuthorities === undefined ? [] : await inspectFile(
      certificateAuthorities,
      async (text, file) => (await parseAuthorities(text, file)).diagnostics,
    ),
    ...await inspectRevoked(revokedKeys),
  ];
  if (file === undefined) return { diagnostics: lists };
  const users: KnownUser[] = [];
  const diagnostics = await inspectFile(file, async (text) => {
    const { keys, diagnostics } = await parseKeysFile(text, file);
    for (const named of keys.values()) users.push(...named.map(({ dn }) => ({ dn, file })));
    return diagnostics;
  });
  return { diagnostics: [...lists, ...diagnostics], users };
}

/** Checks a revocation list; a partly unreadable one keeps the service from starting. */
async function inspectRevoked(file: string | undefined): Promise<readonly Diagnostic[]> {
  if (file === undefined) return [];
  try {
    await readRevokedKeys(await readRegularFile(file));
    return [];
  } catch (error) {
    if (error instanceof InvalidFile) return error.diagnostics;
    const fix = `make the list anew: ssh-keygen -k -f ${file} <public keys>`;
    if (error instanceof UnusableKey) return [{ severity: "error", file, expected: error.message, fix }];
    return []; // reported with other missing files
  }
}
