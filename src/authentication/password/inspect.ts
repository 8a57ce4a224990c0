import type { KindInspection, KnownUser } from "../../config/kind.ts";
import { inspectFile } from "../../model/regular_file.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { parsePasswordFile } from "./password_table.ts";

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
  }];
}
