import { groupNames } from "./account_name.ts";
import type { HttpError } from "./http_error.ts";

/** Attribute names of every source; files may use any case (credentials.md 7.4). The last two have no use here. */
const STANDARD_ATTRIBUTES = [
  "role",
  "xlogin",
  "group",
  "supplementaryGroups",
  "addDefaultGroups",
  "queue",
] as const;

export type StandardAttribute = typeof STANDARD_ATTRIBUTES[number];

export interface AttributeValues {
  readonly allowed: readonly string[];
  /** First allowed value, for `group` with its further groups, for `supplementaryGroups` all; may be empty. */
  readonly preferred: readonly string[];
}

/** Attributes of one user, from one or several sources. */
export interface AttributeSet {
  readonly standard: ReadonlyMap<StandardAttribute, AttributeValues>;
  /** All other attributes by exact name, such as `uftpd.HPC.rateLimit`; the last value wins. */
  readonly extra: ReadonlyMap<string, readonly string[]>;
  readonly outage?: HttpError | undefined; // of a source that was asked and skipped: something may be missing
}

/** Attributes of an unknown user. */
export const NO_ATTRIBUTES: AttributeSet = { standard: new Map(), extra: new Map() };

/** Returns a standard attribute's values with its default (credentials.md 7.4). Groups may be colon lists. */
export function attributeValues(name: StandardAttribute, values: readonly string[]): AttributeValues {
  const isGroup = name === "group" || name === "supplementaryGroups";
  const allowed = isGroup ? [...new Set(values.flatMap(groupNames))] : values;
  if (name === "supplementaryGroups") return { allowed, preferred: allowed };
  const [first] = values;
  return { allowed, preferred: first === undefined ? [] : isGroup ? groupNames(first) : [first] };
}

/** Joins lists without repetitions, of which the first has none. */
export function union(unique: readonly string[], more: readonly string[]): readonly string[] {
  return more.length === 0 ? unique : [...new Set([...unique, ...more])];
}

/** Makes a set of the standard attributes that have values, and of others. */
export function attributeSet(
  values: Partial<Record<StandardAttribute, readonly (string | undefined)[]>>,
  extra = NO_ATTRIBUTES.extra,
): AttributeSet {
  const standard = new Map<StandardAttribute, AttributeValues>();
  for (const name of STANDARD_ATTRIBUTES) {
    const given = values[name]?.filter((value) => value !== undefined) ?? [];
    if (given.length > 0) standard.set(name, attributeValues(name, given));
  }
  return standard.size === 0 && extra.size === 0 ? NO_ATTRIBUTES : { standard, extra };
}
