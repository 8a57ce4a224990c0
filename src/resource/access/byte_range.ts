/** `Range` header applied to a file of known size (RFC 9110, 14.1-14.2; rest-api.md 2.7). */
export type ByteRange =
  /** No range, or an invalid range. */
  | { readonly kind: "whole" }
  /** Inclusive bounds. */
  | { readonly kind: "part"; readonly first: number; readonly last: number }
  /** Answered with 416. */
  | { readonly kind: "unsatisfiable" };

const WHOLE: ByteRange = { kind: "whole" };

/** Parses a `Range` header with one range `a-b`, `a-` or `-n` of bytes; ignores several ranges. */
export function parseByteRange(header: string | null, size: number): ByteRange {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  const from = match?.[1] ?? "";
  const to = match?.[2] ?? "";
  if (from === "" && to === "") return WHOLE;
  if (from === "") return rangeWithin(Math.max(0, size - Number(to)), size - 1, size);
  if (to !== "" && BigInt(to) < BigInt(from)) return WHOLE;
  return rangeWithin(Number(from), to === "" ? size - 1 : Math.min(Number(to), size - 1), size);
}

function rangeWithin(first: number, last: number, size: number): ByteRange {
  return first >= size ? { kind: "unsatisfiable" } : { kind: "part", first, last };
}
