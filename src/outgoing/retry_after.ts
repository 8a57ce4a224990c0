import type { OutgoingResponse } from "./outgoing_http.ts";

/** Longest time that another system may have us leave it alone, in seconds. */
const LONGEST = 600;

/**
 * How long the sender of an answer asks to be left alone (`Retry-After`, RFC 9110, 10.2.3).
 * @param now Milliseconds since the epoch; for those that name a date.
 * @returns Whole seconds from 1 to 600; `undefined` if it does not say, or nobody can read it.
 */
export function retryAfterSeconds(
  { headers }: Pick<OutgoingResponse, "headers">,
  now: number,
): number | undefined {
  const text = headers["retry-after"]?.trim() ?? "";
  const seconds = /^\d{1,15}$/.test(text)
    ? Number(text)
    : /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(text)
    ? (Date.parse(text) - now) / 1000
    : NaN;
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(1, Math.ceil(seconds)), LONGEST);
}
