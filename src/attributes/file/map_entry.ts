import {
  type AttributeSet,
  type AttributeValues,
  attributeValues,
  type StandardAttribute,
} from "../../model/attributes.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";

/** Entry for one user, or for those matching a pattern. */
export interface MapEntry {
  readonly key: string;
  readonly line: number; // from 1
  readonly attributes: readonly MapAttribute[];
  readonly source: string; // source text for `readMapEntry`
}

/** Attribute as written. */
export interface MapAttribute {
  readonly name: string;
  readonly values: readonly string[];
  readonly line: number;
}

/** Reports a mistake, an error by default. */
export type Report = (
  diagnostic: Omit<Diagnostic, "file" | "severity"> & { readonly severity?: "warning" },
) => void;

/** Case-insensitive (authentication.md 7.5); all other names are extra attributes. */
const STANDARD_NAMES: ReadonlyMap<string, StandardAttribute> = new Map([
  ["role", "role"],
  ["xlogin", "xlogin"],
  ["group", "group"],
  ["supplementarygroups", "supplementaryGroups"],
  ["addosgroups", "addDefaultGroups"],
  ["queue", "queue"],
]);

/** Valid names, for messages. */
export const ATTRIBUTE_NAMES = [
  "role",
  "xlogin",
  "group",
  "supplementaryGroups",
  "addOsGroups",
  "queue",
] as const;

/** Returns the standard attribute for a name. */
export function standardAttribute(name: string): StandardAttribute | undefined {
  return STANDARD_NAMES.get(name.toLowerCase());
}

/** Returns an entry's attributes: the last of repeated standard ones, all values of extra ones. */
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
