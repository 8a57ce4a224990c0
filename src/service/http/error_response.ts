import type { ErrorBody } from "../../model/error_body.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import { markup } from "../../pages/markup.ts";
import { pageResponse } from "../../pages/page.ts";
import { TEXTS } from "../../pages/texts.ts";
import { jsonResponse } from "../../resource/text_response.ts";
import type { Acceptance } from "./acceptance.ts";

/** Converts any thrown value to an http error. */
export function asServiceError(error: unknown): HttpError {
  return error instanceof HttpError ? error : httpError("ERR_INTERNAL", "unexpected failure", error);
}

/** Returns the response for an error; the only place that does. */
export function errorResponse(error: HttpError, requestId: string, accepted: Acceptance): HttpResponse {
  const { status, publicMessage: errorMessage, code, headers } = error;
  if (accepted.prefersHtml) return errorPage({ status, errorMessage, code, requestId }, headers);
  const body: ErrorBody = { status, errorMessage, code, requestId };
  return jsonResponse(body, { status, headers });
}

/** Shows the error with the request id; tells callers without credentials how to sign in. */
function errorPage(
  { status, errorMessage, code, requestId }: ErrorBody,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const says = TEXTS.failure;
  return pageResponse({
    title: errorMessage,
    body: markup`${status === 401 && markup`<p><a href="">${says.signIn}</a></p>`}
<dl><dt>${says.status}</dt><dd>${status}</dd><dt>${says.code}</dt><dd><code>${code}</code></dd>
<dt>${says.request}</dt><dd><code>${requestId}</code></dd></dl>
<p class="quiet">${says.help}</p>`,
  }, { status, headers });
}
