import type { ErrorBody } from "../model/error_body.ts";
import { ServiceError } from "../model/service_error.ts";
import { jsonResponse, textResponse } from "../resource/text_response.ts";
import { prefersHtml } from "./negotiation.ts";

/** A failure that no class names: a defect of ours. */
export class InternalError extends ServiceError {
  readonly code = "ERR_INTERNAL";
  readonly status = 500;
  readonly publicMessage = "Internal error";
}

/** The class of error that any thrown value stands for. */
export function asServiceError(error: unknown): ServiceError {
  return error instanceof ServiceError ? error : new InternalError("unexpected failure", { cause: error });
}

/** The one place where an error becomes an HTTP answer. */
export function errorResponse(error: ServiceError, requestId: string, accept: string | null): Response {
  const { status, publicMessage: errorMessage, code, headers } = error;
  if (prefersHtml(accept)) return errorPage({ status, errorMessage, code, requestId }, headers);
  const body: ErrorBody = { status, errorMessage, code, requestId };
  return jsonResponse(body, { status, headers });
}

function errorPage(body: ErrorBody, headers: Readonly<Record<string, string>>): Response {
  const text = (value: string) => value.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>${body.status}</title></head>
<body><h1>${body.status}</h1><p>${text(body.errorMessage)}</p>
<p><small>${text(body.code)}, request ${text(body.requestId)}</small></p></body></html>
`;
  return textResponse(page, "text/html; charset=utf-8", {
    status: body.status,
    headers: { ...headers, "Content-Security-Policy": "default-src 'none'" },
  });
}
