import { type AttributeSet, type AttributeValues, NO_ATTRIBUTES } from "../model/attributes.ts";
import type { CombiningPolicy } from "../config/keys/attribute_keys.ts";

interface Combined {
  readonly attributes: AttributeSet;
  readonly decided: boolean; // whether no further source is needed
}

/** Result before the first source. */
export const NOTHING_YET: Combined = { attributes: NO_ATTRIBUTES, decided: false };

/** Adds the next source's result. */
export function combine(policy: CombiningPolicy, { attributes }: Combined, next: AttributeSet): Combined {
  switch (policy) {
    case "MERGE_LAST_OVERRIDES":
      return {
        attributes: merge(attributes, next, (_, later) => later, (_, later) => later),
        decided: false,
      };
    case "MERGE":
      return { attributes: merge(attributes, next, joinValues, union), decided: false };
    case "FIRST_APPLICABLE":
      return { attributes: next, decided: next.standard.size > 0 || next.extra.size > 0 };
    case "FIRST_ACCESSIBLE":
      return { attributes: next, decided: true };
  }
}

function merge(
  a: AttributeSet,
  b: AttributeSet,
  standard: (earlier: AttributeValues, later: AttributeValues) => AttributeValues,
  extra: (earlier: readonly string[], later: readonly string[]) => readonly string[],
): AttributeSet {
  return { standard: mergeMaps(a.standard, b.standard, standard), extra: mergeMaps(a.extra, b.extra, extra) };
}

function mergeMaps<K, V>(
  a: ReadonlyMap<K, V>,
  b: ReadonlyMap<K, V>,
  both: (a: V, b: V) => V,
): ReadonlyMap<K, V> {
  const merged = new Map(a);
  for (const [key, value] of b) {
    const earlier = merged.get(key);
    merged.set(key, earlier === undefined ? value : both(earlier, value));
  }
  return merged;
}

/** Merges allowed values; the later source's default wins if it has one. */
function joinValues(earlier: AttributeValues, later: AttributeValues): AttributeValues {
  return {
    allowed: union(earlier.allowed, later.allowed),
    preferred: later.preferred.length > 0 ? later.preferred : earlier.preferred,
  };
}

function union(a: readonly string[], b: readonly string[]): readonly string[] {
  return [...new Set([...a, ...b])];
}
