import { type HttpError, httpError } from "../model/http_error.ts";

/** Creates {ERR_INVALID_REQUEST}. @param text Names the field and what was expected, never the value. */
export function invalidRequest(text: string): HttpError {
  return httpError("ERR_INVALID_REQUEST", { text });
}
