import type { ErrorBody } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { TEXTS } from "./texts.ts";

/** Shows the error with the request id; tells callers without credentials how to sign in. */
export function errorPage(
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
