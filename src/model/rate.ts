type Rate =
  /** 0: no limit. */
  | { readonly kind: "rate"; readonly bytesPerSecond: number }
  | { readonly kind: "invalid"; readonly expected: string };

const MULTIPLIERS: ReadonlyMap<string, number> = new Map([["k", 1024], ["m", 1024 ** 2], ["g", 1024 ** 3]]);

const MAX_LENGTH = 100;

/** Parses `10M`, `10 MB/s` or `250000` to bytes per second, by powers of 1024 (credentials.md 7.8). `0`: no limit. */
export function parseRate(text: string): Rate {
  const [, digits, unit] = text.length > MAX_LENGTH
    ? []
    : /^([0-9]+)(?:\s*([kmg]).*)?$/is.exec(text.trim()) ?? [];
  if (digits === undefined) {
    return { kind: "invalid", expected: "expected bytes per second, such as 250000, 500K, 10M or 1G" };
  }
  const bytesPerSecond = Number(digits) * (MULTIPLIERS.get(unit?.toLowerCase() ?? "") ?? 1);
  return Number.isSafeInteger(bytesPerSecond)
    ? { kind: "rate", bytesPerSecond }
    : { kind: "invalid", expected: "expected a smaller number" };
}
