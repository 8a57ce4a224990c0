import { groupNames } from "./account_name.ts";

/** Attribute names every source may give, spelled as here whatever the case in a file (authentication.md 7.4). */
const STANDARD_ATTRIBUTES = [
  "role",
  "xlogin",
  "group",
  "supplementaryGroups",
  "addDefaultGroups",
  "queue",
] as const;

/** One of {@link STANDARD_ATTRIBUTES}. */
export type StandardAttribute = typeof STANDARD_ATTRIBUTES[number];

/** Values of one standard attribute: what may be chosen, and what holds if nothing is chosen. */
export interface AttributeValues {
  readonly allowed: readonly string[];
  /** First allowed value, of `group` with those that go with it; all for `supplementaryGroups`; empty if there are none. */
  readonly preferred: readonly string[];
}

/** What one source, or several combined, know about one user. */
export interface AttributeSet {
  readonly standard: ReadonlyMap<StandardAttribute, AttributeValues>;
  /** All other attributes by exact name, such as `uftpd.HPC.rateLimit`; with several values the last one counts. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** What is known of a user whom a source does not know. */
export const NO_ATTRIBUTES: AttributeSet = { standard: new Map(), extra: new Map() };

/**
 * Returns the values of a standard attribute with its default (authentication.md 7.4). A value of a group can be a list
 * with colons, wherever it comes from.
 */
export function attributeValues(name: StandardAttribute, values: readonly string[]): AttributeValues {
  const isGroup = name === "group" || name === "supplementaryGroups";
  const allowed = isGroup ? [...new Set(values.flatMap(groupNames))] : values;
  if (name === "supplementaryGroups") return { allowed, preferred: allowed };
  const [first] = values;
  return { allowed, preferred: first === undefined ? [] : isGroup ? groupNames(first) : [first] };
}
