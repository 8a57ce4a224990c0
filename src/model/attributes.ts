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
  /** First allowed value; all of them for `supplementaryGroups`; empty if there are none. */
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

/** The values of a standard attribute with its default (authentication.md 7.4). */
export function attributeValues(name: StandardAttribute, allowed: readonly string[]): AttributeValues {
  return { allowed, preferred: name === "supplementaryGroups" ? allowed : allowed.slice(0, 1) };
}
