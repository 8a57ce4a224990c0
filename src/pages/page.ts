import { withInvisibleShown } from "../model/absolute_path.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { PartialCall } from "../resource/call.ts";
import { type ResponseFacts, textResponse } from "../resource/text_response.ts";
import { type HeaderPage, pageHeader } from "./header.ts";
import { type Content, Markup, markup, plain } from "./markup.ts";
import PAGE_SCRIPT from "./page.js" with { type: "text" };
import { type PageNeeds, policyOf } from "./policy.ts";
import STYLE from "./style.css" with { type: "text" };
import { languageOf } from "./texts.ts";

interface PageContent {
  readonly title: Content; // window title, and default heading; without markup
  readonly heading?: Content; // replaces the title as heading
  readonly about?: Content; // below the heading
  readonly current?: HeaderPage; // marked in the header
  readonly body: Content;
  readonly footer?: Content;
  readonly needs?: PageNeeds;
}

/** Media type of pages. */
export const PAGE_TYPE = "text/html; charset=utf-8";

/** Inline icon, which needs no request. */
const ICON = `data:image/svg+xml,${
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/>' +
      '<path d="M5 13V4M2.5 6.5 5 4l2.5 2.5M11 3v9M8.5 9.5 11 12l2.5-2.5" fill="none" stroke="#fff" stroke-width="1.5"/></svg>',
  )
}`;

/** Returns the markup before and after the body. */
export function pageFrame(
  call: PartialCall,
  { title, heading = title, about, current, footer, needs = {} }: Omit<PageContent, "body">,
): { readonly head: string; readonly tail: string } {
  const language = languageOf(call.request);
  const head = markup`<!doctype html>
<html lang="${language}" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="${referrerPolicy(needs)}">
<link rel="icon" href="${ICON}">
<title>${withInvisibleShown(plain(title, language))}</title>
${Markup.style(STYLE)}
</head>
<body>
${pageHeader(call, current)}
<main>
<h1>${heading}</h1>
${about !== undefined && markup`<p class="about">${about}</p>`}
`;
  const tail = markup`
<p id="news" class="hidden" role="status"></p>
</main>
${footer !== undefined && markup`<footer>${footer}</footer>`}
${Markup.script(scriptOf(needs))}</body>
</html>
`;
  return { head: head.toString(language), tail: tail.toString(language) };
}

function scriptOf({ script = "" }: PageNeeds): string {
  return PAGE_SCRIPT + script;
}

/** Returns the referrer policy: with `no-referrer`, browsers send `Origin: null` with forms (Fetch standard, 3.1). */
function referrerPolicy({ forms }: PageNeeds): string {
  return forms ? "same-origin" : "no-referrer";
}

/** Returns the headers of a page. */
export function pageHeaders(needs: PageNeeds = {}): Readonly<Record<string, string>> {
  return {
    "Content-Security-Policy": policyOf({ ...needs, script: scriptOf(needs) }),
    "Referrer-Policy": referrerPolicy(needs),
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept, Accept-Language",
  };
}

/** Returns a page as response, in the reader's language. */
export function pageResponse(
  call: PartialCall,
  { body, needs, ...frame }: PageContent,
  { status, headers }: ResponseFacts = {},
): HttpResponse {
  // A signed-in reader can sign out on each page, which is a form.
  const all = call.signIn === undefined ? needs : { ...needs, forms: true as const };
  const { head, tail } = pageFrame(call, { ...frame, needs: all });
  const content = markup`${body}`.toString(languageOf(call.request));
  // After the reader signs out, the next user of the browser must not see their pages.
  const keeping = call.caller?.kind === "authenticated" ? "no-store" : "no-cache";
  return textResponse(`${head}${content}${tail}`, PAGE_TYPE, {
    status,
    headers: { "Cache-Control": `private, ${keeping}`, ...headers, ...pageHeaders(all) },
  });
}
