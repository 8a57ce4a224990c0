import type { EffectiveValue } from "./key_reader.ts";

/** Keys whose value is another one than before, sorted; keys that came or went are among them. */
export function changedKeys(before: readonly EffectiveValue[], after: readonly EffectiveValue[]): string[] {
  const [old, now] = [before, after].map((values) => new Map(values.map(({ key, value }) => [key, value])));
  const keys = new Set([...before, ...after].map(({ key }) => key));
  return [...keys].filter((key) => old?.get(key) !== now?.get(key)).sort();
}
