import { HttpError } from "../model/http_error.ts";
import type { Attempt } from "../throttling/login_throttle.ts";
import type { Call } from "./call.ts";

/** Who slows down those who try. */
export interface ThrottledParts {
  /** Leave for an address to have something looked at that is counted as keys are. @throws {ERR_TOO_MANY_FAILURES} */
  readonly admit: (clientAddress: string, signal: AbortSignal) => Attempt | Promise<Attempt>;
}

/** Codes that say that what was shown is wrong, and not that something is out of order. */
const WRONG: ReadonlySet<string> = new Set([
  "ERR_CERTIFICATE_REFUSED",
  "ERR_NOT_FOUND",
  "ERR_UNAUTHENTICATED",
]);

/** Whoever tries what is refused, or not there, waits as whoever tries keys; an outage counts for nobody. */
export async function throttled<T>(
  { clientAddress, signal }: Pick<Call, "clientAddress" | "signal">,
  { admit }: ThrottledParts,
  work: () => Promise<T>,
): Promise<T> {
  const attempt = await admit(clientAddress, signal);
  try {
    const result = await work();
    attempt.succeeded();
    return result;
  } catch (error) {
    if (error instanceof HttpError && WRONG.has(error.code)) attempt.failed();
    else attempt.undecided();
    throw error;
  }
}
