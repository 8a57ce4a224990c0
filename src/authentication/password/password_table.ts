import { attempt } from "../../model/attempt.ts";
import { userKey } from "../../model/credentials.ts";
import { InvalidName, parseName } from "../../model/distinguished_name.ts";
import { parseStoredHash, sameCost, type ScryptCost, type StoredHash } from "./stored_hash.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { eachLine } from "../../model/time_slicing.ts";
import type { KindInspection, KnownUser } from "../../config/kind.ts";
import { inspectFile } from "../../model/regular_file.ts";

type PasswordLine =
  | { readonly kind: "nothing" }
  | { readonly kind: "entry"; readonly user: string; readonly hash: StoredHash; readonly dn: string }
  /** Disabled user: on purpose by an empty hash, or by a mistake with `expected`. */
  | { readonly kind: "disabled"; readonly user: string; readonly expected?: string }
  | { readonly kind: "unusable"; readonly expected: string };

/** Parses `username:hash:salt:DN` (specification 2.5, credentials.md 2.1); only the DN is trimmed. */
export function parsePasswordLine(line: string): PasswordLine {
  if (/^\s*(?:#|$)/.test(line)) return { kind: "nothing" };
  const [user, hash, salt, ...rest] = line.split(":");
  if (user === undefined || hash === undefined || salt === undefined || rest.length === 0) {
    const missing = salt === undefined ? "all four fields" : "the distinguished name at the end";
    const expected =
      `expected username:hash:salt:DN: without ${missing} nobody can log in by this line, append what is missing ` +
      "or let authserver passwd write the line";
    return { kind: "unusable", expected };
  }
  if (user === "") return { kind: "unusable", expected: "expected a user name before the first colon" };
  if (hash === "") return { kind: "disabled", user };
  const stored = parseStoredHash({ hash, salt });
  if ("expected" in stored) return { kind: "disabled", user, expected: stored.expected };
  const dn = rest.join(":").trim();
  const diagnostic = nameDiagnostic(dn);
  if (diagnostic === undefined) return { kind: "entry", user, hash: stored, dn };
  const expected = `expected a distinguished name after the third colon: ${diagnostic}`;
  return { kind: "disabled", user, expected };
}

/** Returns why a text cannot be a user's DN. */
export function nameDiagnostic(dn: string): string | undefined {
  if (dn === "") return "it is empty";
  return attempt(
    () => void parseName(dn),
    InvalidName,
    ({ reason, position }) => `${reason} (at its character ${position})`,
  );
}

/** Enabled user. */
export interface PasswordEntry {
  readonly hash: StoredHash;
  readonly dn: string;
}

/** One version of a password file. */
export interface PasswordTable {
  readonly entries: ReadonlyMap<string, PasswordEntry>;
  /** A user of each key, or "" if there are several; perhaps also of some whom a later line disables. */
  readonly userKeys: ReadonlyMap<string, string>;
  readonly costs: readonly ScryptCost[]; // distinct costs of scrypt hashes
  /** Invalid lines by number only, since their text may contain hashes. */
  readonly diagnostics: readonly Diagnostic[];
}

const MAX_COSTS = 4; // a failed check does the work of every cost (see `PasswordCheck`)

/** Parses a password file. Invalid lines disable their user; a user's last line wins (credentials.md 2.1). */
export async function parsePasswordFile(text: string, file: string): Promise<PasswordTable> {
  const entries = new Map<string, PasswordEntry>();
  const userKeys = new Map<string, string>();
  const lineOf = new Map<string, number>();
  const costs: ScryptCost[] = [];
  const diagnostics: Diagnostic[] = [];
  await eachLine(text, (content, line) => {
    const report = (expected: string) => {
      const fix = `remove ${file}:${line}, or write it anew: authserver passwd change <user>`;
      diagnostics.push({ severity: "warning", file, line, expected, fix });
    };
    const parsed = parsePasswordLine(content);
    if (parsed.kind === "nothing") return;
    if (parsed.kind === "unusable") return void report(parsed.expected);
    const earlier = lineOf.get(parsed.user);
    if (earlier !== undefined) report(`expected each user once: this line replaces line ${earlier}`);
    lineOf.set(parsed.user, line);
    entries.delete(parsed.user);
    if (parsed.kind === "disabled") {
      if (parsed.expected !== undefined) report(parsed.expected);
    } else if (!admitCost(costs, parsed.hash)) {
      report(`expected at most ${MAX_COSTS} different scrypt costs in one file`);
    } else {
      entries.set(parsed.user, { hash: parsed.hash, dn: parsed.dn });
      const key = userKey(parsed.user);
      const isUnique = (userKeys.get(key) ?? parsed.user) === parsed.user;
      if (!isUnique) report("expected another name: throttling and bans take it for an earlier user's");
      userKeys.set(key, isUnique ? parsed.user : "");
    }
  });
  return { entries, userKeys, costs, diagnostics };
}

function admitCost(costs: ScryptCost[], hash: StoredHash): boolean {
  if (hash.kind !== "scrypt" || costs.some((cost) => sameCost(cost, hash.cost))) return true;
  if (costs.length >= MAX_COSTS) return false;
  costs.push(hash.cost);
  return true;
}

/** Checks a password file and its mode for the operator. */
export async function inspectPasswordFile(file: string): Promise<KindInspection> {
  const users: KnownUser[] = [];
  const diagnostics = await inspectFile(file, async (text) => {
    const { entries, diagnostics } = await parsePasswordFile(text, file);
    for (const [login, { dn }] of entries) users.push({ login, dn, file });
    return diagnostics;
  });
  return { diagnostics: [...diagnostics, ...await inspectMode(file)], users };
}

async function inspectMode(file: string): Promise<readonly Diagnostic[]> {
  const { mode } = await Deno.stat(file).catch(() => ({ mode: null }));
  if (mode === null || (mode & 0o007) === 0) return [];
  const found = `mode ${(mode & 0o777).toString(8).padStart(4, "0")}`;
  return [{
    severity: "warning",
    file,
    found,
    expected: "holds secrets, expected no access for others (chmod o-rwx)",
    fix: `chmod o-rwx ${file}`,
  }];
}
