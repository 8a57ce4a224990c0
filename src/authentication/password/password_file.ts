import { scryptSync } from "node:crypto";
import type { Logger } from "../../logging/logger.ts";
import { canonicalDn, sameName } from "../../model/distinguished_name.ts";
import { formatDiagnostic } from "../../model/diagnostic.ts";
import { userKey, valuesOfUser } from "../../model/credentials.ts";
import { TimeSlicer } from "../../model/time_slicing.ts";
import { watchFile } from "../../watch/watched_file.ts";
import { wholeLines } from "../../watch/whole_lines.ts";
import type { AuthenticationResult, Authenticator } from "../authenticator.ts";
import { waiterOf } from "../requester_of.ts";
import { EntryFingerprints } from "../credential_fingerprint.ts";
import type { AccountStatus, UserReference } from "../account_status.ts";
import { PasswordCheck } from "./password_check.ts";
import { formatStoredHash } from "./stored_hash.ts";
import { parsePasswordFile, type PasswordEntry, type PasswordTable } from "./password_table.ts";

/** Opens a watched password file (`FilebasedAuthenticator`, credentials.md 2). @throws If unreadable. */
export async function passwordFile(
  { name, file, log }: { name: string; file: string; log: Logger },
): Promise<Authenticator> {
  const check = new PasswordCheck();
  const parse = wholeLines(async (text) => {
    const table = await parsePasswordFile(text, file);
    for (const diagnostic of table.diagnostics) {
      log.warn("password file", { diagnostic: formatDiagnostic(diagnostic) });
    }
    return table;
  });
  const watched = await watchFile(file, parse, { log });

  return {
    name,
    challenges: ["Basic"],
    async authenticate(credentials, signal): Promise<AuthenticationResult> {
      const { authorization } = credentials;
      if (authorization.kind !== "basic") return { kind: "skipped" };
      const { user, password } = authorization;
      const table = watched.current;
      const entry = await check.entryOf(table, user, password.reveal(), waiterOf(credentials, signal));
      if (entry !== undefined) {
        const credential = FINGERPRINTS.of(entry, user);
        const identity = { dn: entry.dn, method: "PASSWORD_FILE", via: name, login: user, credential };
        return { kind: "accepted", identity };
      }
      const reason = table.entries.has(user) ? "wrong password" : "no such user, or disabled";
      return { kind: "refused", reason };
    },
    async accountStatusOf({ dn, login, credential }): Promise<AccountStatus> {
      const table = watched.current;
      const known = login === undefined
        ? (await NAMES.getOrInsertComputed(table, collectNames)).has(canonicalDn(dn))
        : hasName(table, { login, dn, credential });
      return { kind: known ? "known" : "gone" };
    },
    namesOf: (login, anyCase) => valuesOfUser(watched.current.entries, login, anyCase).map(({ dn }) => dn),
    lists(login, another) {
      const user = watched.current.userKeys.get(userKey(login));
      return user !== undefined && !(another && user === login);
    },
    close: () => watched.close(),
  };
}

/** Reports whether a login is enabled and has this name, and the given password fingerprint if any. */
function hasName(
  { entries }: PasswordTable,
  { login, dn, credential }: UserReference & { readonly login: string },
): boolean {
  const entry = entries.get(login);
  if (entry === undefined || !sameName(entry.dn, dn)) return false;
  return credential === undefined || credential === FINGERPRINTS.of(entry, login);
}

const RANDOM_SALT = 12; // least length of a salt that is probably random, in characters

const FINGERPRINTS = new EntryFingerprints<PasswordEntry>("password", ({ hash: stored }) => {
  const { hash, salt } = formatStoredHash(stored);
  // Tokens contain the fingerprint, from which an MD5 hash without a random salt could be guessed too quickly.
  const isWeak = stored.kind === "md5" && salt.length < RANDOM_SALT;
  return `${isWeak ? scryptSync(hash, salt, 32).toString("base64") : hash}:${salt}`;
});

/** Names of all enabled users, collected on demand. */
const NAMES = new WeakMap<PasswordTable, Promise<ReadonlySet<string>>>();

async function collectNames({ entries }: PasswordTable): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const steps = new TimeSlicer();
  for (const { dn } of entries.values()) {
    names.add(canonicalDn(dn));
    if (steps.shouldYield) await steps.yield();
  }
  return names;
}
