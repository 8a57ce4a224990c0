/** A path segment that names a logical server, or one physical instance of it. */
export interface ServerAddress {
  readonly name: string;
  /** Counted from 1; absent for the whole group. May be 0 or out of range: then there is no such instance. */
  readonly instance?: number;
}

/**
 * Takes `HPC1-2` apart. A dash at position 0 or 1, or one that no decimal 32-bit number follows, belongs to the name
 * (rest-api.md 1.2).
 */
export function parseServerAddress(segment: string): ServerAddress {
  const dash = segment.lastIndexOf("-");
  if (dash <= 1) return { name: segment };
  const digits = segment.slice(dash + 1);
  if (!/^\+?\d{1,10}$/.test(digits) || Number(digits) > 0x7fff_ffff) return { name: segment };
  return { name: segment.slice(0, dash), instance: Number(digits) };
}
