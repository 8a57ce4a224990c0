import { addressInRange, canonicalAddress, isAddressRange } from "../../model/address.ts";
import { matchesWildcards } from "../../model/wildcards.ts";

/** The value of a `from=` option: where the owner of a key must come from. */
export type SourceAddresses = readonly SourceAddress[];

interface SourceAddress {
  readonly negated: boolean;
  /** An address, a range, or a pattern with `*` and `?` for the text of an address. */
  readonly pattern: string;
  readonly kind: "range" | "wildcards";
}

/**
 * Reads a `from=` value (sshd(8), "AUTHORIZED_KEYS FILE FORMAT"; PATTERNS in ssh_config(5)): addresses, ranges such as
 * `192.0.2.0/24` and patterns, separated by commas, each negated by a `!`.
 * @returns `undefined` if an entry is empty or a range is wrong; such a key must be refused, as OpenSSH does.
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

/**
 * Whether a client at this address may use the key: some entry matches and no negated one does. Addresses are never
 * resolved, so a host name matches nobody. What is no address may use no key with such an option.
 */
export function mayComeFrom(sources: SourceAddresses, address: string): boolean {
  const canonical = canonicalAddress(address);
  if (canonical === undefined) return false;
  const matching = sources.filter(({ kind, pattern }) =>
    kind === "range" ? addressInRange(canonical, pattern) : matchesWildcards(canonical, pattern)
  );
  return matching.length > 0 && matching.every(({ negated }) => !negated);
}
