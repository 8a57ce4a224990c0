import { HttpError } from "../model/http_error.ts";
import type { Attempt } from "./login_throttle.ts";

/** Codes for wrong credentials, as opposed to outages. */
const WRONG: ReadonlySet<string> = new Set([
  "ERR_CERTIFICATE_REFUSED",
  "ERR_LINK_PASSWORD",
  "ERR_NOT_FOUND",
  "ERR_UNAUTHENTICATED",
]);

/** Result of an attempt; `skipped` if no authenticator read the credentials. */
type AttemptEnd = "accepted" | "refused" | "undecided" | "skipped";

/**
 * Runs a check in a permitted attempt, whose end is the result. By default an error for wrong credentials is
 * a failure. @throws What `admitted` and `check` throw.
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
