import { refuse, type ServiceError } from "../model/service_error.ts";

/** A request that says something it may not say. @param text Names the field and what was expected, never the value. */
export function invalidRequest(text: string): ServiceError {
  return refuse("ERR_INVALID_REQUEST", { text });
}
