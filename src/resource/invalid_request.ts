import { type HttpError, httpError } from "../model/http_error.ts";

/** A request that says something it may not say. @param text Names the field and what was expected, never the value. */
export function invalidRequest(text: string): HttpError {
  return httpError("ERR_INVALID_REQUEST", { text });
}
