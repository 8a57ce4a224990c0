import type { Caller } from "../../model/identity.ts";
import { HttpError, httpError } from "../../model/http_error.ts";

/** A known caller who may not do this. @param text What is not allowed. */
export function notPermitted(text: string): HttpError {
  return httpError("ERR_NOT_PERMITTED", { text });
}

/** The refusal that fits the caller: somebody unknown is asked for credentials, somebody known is turned away. */
export function refusal(
  caller: Caller,
  message: string,
  { unauthenticated }: { readonly unauthenticated: (reason: string) => HttpError },
): HttpError {
  return caller.kind === "anonymous" ? unauthenticated(message) : notPermitted(message);
}
