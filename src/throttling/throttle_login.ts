import type { Credentials } from "../model/credentials.ts";
import { HttpError } from "../model/http_error.ts";
import type { LoginThrottle } from "./login_throttle.ts";

/**
 * Has credentials checked under throttling: a 401 counts as a failure, a result as a success, anything else as neither.
 * @param check Finds out who is calling, by the credentials and with what is known of their user.
 * @param signal Gives up waiting for leave.
 * @throws {ERR_TOO_MANY_FAILURES | ERR_TOO_MANY_AT_ONCE} 429, without asking `check`.
 * @throws What `check` throws.
 */
export async function throttleLogin<T>(
  throttle: LoginThrottle,
  credentials: Credentials,
  check: (credentials: Credentials) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const admitted = throttle.admit(credentials, signal);
  const attempt = admitted instanceof Promise ? await admitted : admitted;
  try {
    const { knownAs } = attempt;
    const result = await check(knownAs === undefined ? credentials : { ...credentials, knownAs });
    attempt.succeeded();
    return result;
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) attempt.failed();
    else attempt.undecided();
    throw error;
  }
}
