import { InvalidResponse } from "./invalid_response.ts";
import type { XmlElement } from "./xml_element.ts";

/** A moment, in milliseconds since the epoch; SAML writes all of them in UTC (saml-core-2.0-os 1.3.3). */
export function parseInstant(text: string): number {
  const [, seconds, fraction = ""] =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?Z$/.exec(text) ?? [];
  const at = Date.parse(`${seconds}${fraction.slice(0, 4)}Z`);
  if (seconds === undefined || Number.isNaN(at) || !new Date(at).toISOString().startsWith(seconds)) {
    throw new InvalidResponse("a time is not given in UTC");
  }
  return at;
}

/**
 * Asserts that the present lies in an element's `NotBefore` and `NotOnOrAfter`, as far as they are there.
 * @param tolerance Milliseconds by which the clocks may differ.
 */
export function checkPeriod(element: XmlElement, now: number, tolerance: number): void {
  const [from, until] = ["NotBefore", "NotOnOrAfter"].map((name) => element.attribute(name));
  if (from !== undefined && now + tolerance < parseInstant(from)) {
    throw new InvalidResponse(`${element.name} is not valid yet`);
  }
  if (until !== undefined && now - tolerance >= parseInstant(until)) {
    throw new InvalidResponse(`${element.name} is no longer valid`);
  }
}
