import { HttpError, httpError } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { jsonResponse } from "../../resource/text_response.ts";
import type { PartialCall } from "../../resource/call.ts";
import type { Acceptance } from "./acceptance.ts";

/** Converts any thrown value to an HTTP error. */
export function asServiceError(error: unknown): HttpError {
  return error instanceof HttpError ? error : httpError("ERR_INTERNAL", "unexpected failure", error);
}

/** Returns the response for an error; no other code creates one. */
export async function errorResponse(
  error: HttpError,
  requestId: string,
  accepted: Acceptance,
  call?: PartialCall,
): Promise<HttpResponse> {
  const body = error.body(requestId);
  if (accepted.prefersHtml && call !== undefined) {
    return (await import("../../pages/error_page.ts")).errorPage(call, body, error.headers);
  }
  if (call?.request.headers.get("Sec-Fetch-Site") !== "same-origin") return jsonResponse(body, error);
  const { localised } = await import("../../pages/messages.ts"); // the script of a page shows it
  return jsonResponse(localised(call, body), error);
}
