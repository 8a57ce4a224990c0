import type { OutgoingResponse } from "./outgoing_http.ts";

const LONGEST = 600; // seconds

/** Parses `Retry-After` (RFC 9110, 10.2.3) to 1 to 600 seconds; `undefined` if absent or malformed. */
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
