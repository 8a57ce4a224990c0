import type { X509Certificate } from "node:crypto";

/** Validity period, inclusive, in milliseconds since the epoch. */
export interface Validity {
  readonly from: number;
  readonly to: number;
}

const DAY_MS = 86_400_000;

/** Returns a certificate's validity period. */
export function validityOf({ validFromDate, validToDate }: X509Certificate): Validity {
  return { from: validFromDate.getTime(), to: validToDate.getTime() };
}

/** @param at Milliseconds since the epoch. */
export function isValidAt({ from, to }: Validity, at: number): boolean {
  return from <= at && at <= to;
}

/** Describes a validity for the operator: current, ending soon, or over. */
export function describeValidity(
  { from, to }: Validity,
  at: number,
): { readonly kind: "valid" | "ending" | "invalid"; readonly text: string } {
  const day = (date: number) => new Date(date).toISOString().slice(0, 10);
  if (!(from <= at)) return { kind: "invalid", text: `is not valid before ${day(from)}` };
  if (!(at <= to)) return { kind: "invalid", text: `has expired on ${day(to)}` };
  if (to - at < 7 * DAY_MS) return { kind: "ending", text: `expires on ${day(to)}` };
  return { kind: "valid", text: `is valid until ${day(to)}` };
}
