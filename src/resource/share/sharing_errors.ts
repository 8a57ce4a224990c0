import type { Caller } from "../../model/identity.ts";
import { HttpError, httpError } from "../../model/http_error.ts";

/** Creates {ERR_NOT_PERMITTED}. @param text Forbidden action. */
export function notPermitted(text: string): HttpError {
  return httpError("ERR_NOT_PERMITTED", { text });
}

/** Creates 401 for anonymous callers and 403 for known ones. */
export function refusal(
  caller: Caller,
  message: string,
  { unauthenticated }: { readonly unauthenticated: (reason: string) => HttpError },
): HttpError {
  return caller.kind === "anonymous" ? unauthenticated(message) : notPermitted(message);
}
