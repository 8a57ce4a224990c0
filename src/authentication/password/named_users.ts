import { comparableForm, sameName } from "../../model/distinguished_name.ts";
import { SmallSteps } from "../../model/small_steps.ts";
import type { PasswordTable } from "./password_table.ts";

/** Whether this login may sign in and gets this name. */
export function hasName({ entries }: PasswordTable, login: string, dn: string): boolean {
  const entry = entries.get(login);
  return entry !== undefined && sameName(entry.dn, dn);
}

/** Whether anybody who may sign in gets this name; the names of a table are put together when first asked for. */
export async function isNamedIn(table: PasswordTable, dn: string): Promise<boolean> {
  let names = NAMES.get(table);
  if (names === undefined) NAMES.set(table, names = collectNames(table));
  return (await names).has(comparableForm(dn));
}

const NAMES = new WeakMap<PasswordTable, Promise<ReadonlySet<string>>>();

async function collectNames({ entries }: PasswordTable): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  const steps = new SmallSteps();
  for (const { dn } of entries.values()) {
    names.add(comparableForm(dn));
    if (steps.isLong) await steps.rest();
  }
  return names;
}
