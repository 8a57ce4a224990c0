import type { ErrorBody } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { PartialCall } from "../resource/call.ts";
import { markup } from "./markup.ts";
import { message } from "./messages.ts";
import { pageResponse } from "./page.ts";
import { TEXTS } from "./texts.ts";
import { wantedPage } from "./sign_in_attempt.ts";

/** Shows the error with the request id, and links: to the previous page as filled in, or anew if it is outdated, and for callers without credentials to the sign-in. */
export function errorPage(
  call: PartialCall,
  { status, errorMessage, code, requestId }: ErrorBody,
  headers: Readonly<Record<string, string>>,
): HttpResponse {
  const says = TEXTS.failure;
  const { request: { method, path, query, headers: shown }, root, base, menu, signIn } = call;
  const before = shown.get("Referer") ?? "";
  const anew = (code === "ERR_PAGE_OUTDATED" || code === "ERR_CONTENT_CHANGED") && "anew";
  const isOwn = before.startsWith(`${base}/`);
  const to = method === "GET" ? wantedPage(`${path.slice(1)}${query === "" ? "" : `?${query}`}`) : "";
  return pageResponse(call, {
    title: message(errorMessage),
    body: markup`${
      status === 401 && signIn === undefined && menu.has("/login") &&
      markup`<p><a href="${root}login?to=${encodeURIComponent(to)}">${says.signIn}</a></p>`
    }${isOwn && markup`<p><a class="button" data-back="${anew}" href="${before}">${says.back}</a></p>`}
<dl><dt>${says.status}</dt><dd>${status}</dd><dt>${says.code}</dt><dd><code>${code}</code></dd>
<dt>${says.request}</dt><dd><code>${requestId}</code></dd></dl>
<p class="quiet">${says.help}</p>`,
  }, { status, headers });
}
