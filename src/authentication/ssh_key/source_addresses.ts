import { addressInRange, canonicalAddress, isAddressRange } from "../../model/address.ts";
import { matchesWildcards } from "../../model/wildcards.ts";

/** Parsed `from=` option. */
export type SourceAddresses = readonly SourceAddress[];

interface SourceAddress {
  readonly negated: boolean;
  readonly pattern: string; // address, range, or pattern with `*` and `?`
  readonly kind: "range" | "wildcards";
}

/**
 * Parses `from=` (sshd(8), PATTERNS in ssh_config(5)). Returns `undefined` for an empty entry or wrong range,
 * which OpenSSH refuses too.
 */
export function parseSourceAddresses(value: string): SourceAddresses | undefined {
  const list: SourceAddress[] = [];
  for (const entry of value.split(",")) {
    const negated = entry.startsWith("!");
    const pattern = entry.slice(negated ? 1 : 0).toLowerCase();
    const kind = isAddressRange(pattern) ? "range" : "wildcards";
    if (pattern === "" || (kind === "wildcards" && /[/\s]/.test(pattern))) return undefined;
    list.push({ negated, pattern, kind });
  }
  return list;
}

/** Reports whether an entry and no negated one matches. Host names are not resolved and never match. */
export function mayComeFrom(sources: SourceAddresses, address: string): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return false;
  const matching = sources.filter(({ kind, pattern }) =>
    kind === "range" ? addressInRange(canonical, pattern) : matchesWildcards(canonical, pattern)
  );
  return matching.length > 0 && matching.every(({ negated }) => !negated);
}
