import {
  type AttributeSet,
  type AttributeValues,
  attributeValues,
  type StandardAttribute,
} from "../../model/attributes.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";

/** What a map file says about one user, or about all users a pattern matches. */
export interface MapEntry {
  /** Distinguished name or pattern, as written. */
  readonly key: string;
  /** Counted from 1. */
  readonly line: number;
  readonly attributes: readonly MapAttribute[];
  /** Its piece of the file, from which `readMapEntry` reads it again. */
  readonly source: string;
}

/** An attribute of an entry, as written. */
export interface MapAttribute {
  readonly name: string;
  readonly values: readonly string[];
  readonly line: number;
}

/** Takes note of something wrong; an error unless said otherwise. */
export type Report = (
  diagnostic: Omit<Diagnostic, "file" | "severity"> & { readonly severity?: "warning" },
) => void;

/** Spellings in map files, compared without case (authentication.md 7.5). Every other name is an extra attribute. */
const STANDARD_NAMES: ReadonlyMap<string, StandardAttribute> = new Map([
  ["role", "role"],
  ["xlogin", "xlogin"],
  ["group", "group"],
  ["supplementarygroups", "supplementaryGroups"],
  ["addosgroups", "addDefaultGroups"],
  ["queue", "queue"],
]);

/** The names that are told to whoever mistyped one. */
export const ATTRIBUTE_NAMES = [
  "role",
  "xlogin",
  "group",
  "supplementaryGroups",
  "addOsGroups",
  "queue",
] as const;

/** The standard attribute that a name in a map file means. */
export function standardAttribute(name: string): StandardAttribute | undefined {
  return STANDARD_NAMES.get(name.toLowerCase());
}

/**
 * The attributes of an entry. Of a standard attribute given twice the last holds, of an extra one all values are kept.
 * One without values is present and empty.
 */
export function attributesOfEntry(entry: MapEntry): AttributeSet {
  const standard = new Map<StandardAttribute, AttributeValues>();
  const extra = new Map<string, readonly string[]>();
  for (const { name, values } of entry.attributes) {
    const known = standardAttribute(name);
    if (known === undefined) extra.set(name, [...(extra.get(name) ?? []), ...values]);
    else standard.set(known, attributeValues(known, values));
  }
  return { standard, extra };
}
