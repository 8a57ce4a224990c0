import { HttpError } from "../model/http_error.ts";
import type { Attempt } from "./login_throttle.ts";

/** Codes that say that what was shown is wrong, and not that something is out of order. */
const WRONG: ReadonlySet<string> = new Set([
  "ERR_CERTIFICATE_REFUSED",
  "ERR_LINK_PASSWORD",
  "ERR_NOT_FOUND",
  "ERR_UNAUTHENTICATED",
]);

/** How an attempt ends; `skipped` if nobody looked at what was shown. */
type AttemptEnd = "accepted" | "refused" | "undecided" | "skipped";

/**
 * Runs a check that an attempt admits, and ends the attempt by its result.
 * @param check Its parameter is the attempt's `knownAs`.
 * @param endOf Reads the end from the result; without it, a result is a success, and an error that names the credential wrong
 *   a failure.
 * @throws What `admitted` and `check` throw.
 */
export async function throttleLogin<T>(
  admitted: Attempt | Promise<Attempt>,
  check: (knownAs: string | undefined) => Promise<T>,
  endOf: (result: T) => AttemptEnd = () => "accepted",
): Promise<T> {
  const attempt = admitted instanceof Promise ? await admitted : admitted;
  let end: AttemptEnd = "undecided";
  try {
    const result = await check(attempt.knownAs);
    end = endOf(result);
    return result;
  } catch (error) {
    if (error instanceof HttpError && WRONG.has(error.code)) end = "refused";
    throw error;
  } finally {
    if (end === "accepted") attempt.succeeded();
    else if (end === "refused") attempt.failed();
    else attempt.undecided();
  }
}
