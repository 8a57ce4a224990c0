/** What a rate expression means. */
type Rate =
  /** Bytes per second; 0 is no limit. */
  | { readonly kind: "rate"; readonly bytesPerSecond: number }
  | { readonly kind: "invalid"; readonly expected: string };

const MULTIPLIERS: ReadonlyMap<string, number> = new Map([["k", 1024], ["m", 1024 ** 2], ["g", 1024 ** 3]]);

/** Longest text that is read; also what may be told about it. */
const MAX_LENGTH = 100;

/**
 * Reads a rate such as `10M`, `10 MB/s` or `250000`: bytes per second, with a unit letter in either case that stands for
 * a power of 1024 (design decision "Multipliers"). What follows the letter says nothing; without a letter the text must
 * be a plain number (authentication.md 7.8). `0` is no limit; a negative rate is none at all, as is one too large to
 * count exactly.
 */
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
