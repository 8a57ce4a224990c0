import type { Diagnostic } from "../../model/diagnostic.ts";
import { eachLine } from "../../model/time_slicing.ts";
import { parsePasswordLine } from "./password_line.ts";
import { sameCost, type ScryptCost } from "./scrypt_hash.ts";
import type { StoredHash } from "./stored_hash.ts";

/** Who may log in, and as whom. */
export interface PasswordEntry {
  readonly hash: StoredHash;
  readonly dn: string;
}

/** One version of a password file. */
export interface PasswordTable {
  /** By user name. Whoever is disabled is not in it. */
  readonly entries: ReadonlyMap<string, PasswordEntry>;
  /** The different costs of the scrypt hashes in it. */
  readonly costs: readonly ScryptCost[];
  /** Lines that are not as they should be, by number alone: their text may hold hashes. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A failed check does the work of every cost in the file, so there must not be many (see `PasswordCheck`). */
const MAX_COSTS = 4;

/**
 * Reads a password file. Lines that are not understood are reported and skipped, and whoever they name cannot log in;
 * of several lines for a user the last one counts (authentication.md 2.1).
 * @param file For the problems.
 */
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

/** Whether there is room for the hash's cost among those seen so far; adds it. */
function admitCost(costs: ScryptCost[], hash: StoredHash): boolean {
  if (hash.kind !== "scrypt" || costs.some((cost) => sameCost(cost, hash.cost))) return true;
  if (costs.length >= MAX_COSTS) return false;
  costs.push(hash.cost);
  return true;
}
