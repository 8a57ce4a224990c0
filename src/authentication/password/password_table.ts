import type { Diagnostic } from "../../model/diagnostic.ts";
import { eachLine } from "../../model/time_slicing.ts";
import { parsePasswordLine } from "./password_line.ts";
import { sameCost, type ScryptCost } from "./scrypt_hash.ts";
import type { StoredHash } from "./stored_hash.ts";

/** Enabled user. */
export interface PasswordEntry {
  readonly hash: StoredHash;
  readonly dn: string;
}

/** One version of a password file. */
export interface PasswordTable {
  readonly entries: ReadonlyMap<string, PasswordEntry>;
  readonly costs: readonly ScryptCost[]; // distinct costs of scrypt hashes
  /** Invalid lines by number only, since their text may contain hashes. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A failed check does the work of every cost (see `PasswordCheck`). */
const MAX_COSTS = 4;

/** Parses a password file. Invalid lines disable their user; a user's last line wins (authentication.md 2.1). */
export async function parsePasswordFile(text: string, file: string): Promise<PasswordTable> {
  const entries = new Map<string, PasswordEntry>();
  const lineOf = new Map<string, number>();
  const costs: ScryptCost[] = [];
  const diagnostics: Diagnostic[] = [];
  await eachLine(text, (content, line) => {
    const report = (expected: string) => diagnostics.push({ severity: "warning", file, line, expected });

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
    }
  });
  return { entries, costs, diagnostics };
}

/** Adds the hash's cost unless there are too many. */
function admitCost(costs: ScryptCost[], hash: StoredHash): boolean {
  if (hash.kind !== "scrypt" || costs.some((cost) => sameCost(cost, hash.cost))) return true;
  if (costs.length >= MAX_COSTS) return false;
  costs.push(hash.cost);
  return true;
}
