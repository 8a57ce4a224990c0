import { withInvisibleShown } from "../model/absolute_path.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { type ResponseFacts, textResponse } from "../resource/text_response.ts";
import { type Content, Markup, markup } from "./markup.ts";
import { type PageNeeds, policyOf } from "./policy.ts";
import { STYLE } from "./style.ts";
import { TEXTS } from "./texts.ts";

interface PageContent {
  readonly title: string; // window title, and default heading
  readonly heading?: Content; // replaces the title as heading
  readonly aside?: Content; // beside the heading
  readonly body: Content;
  readonly footer?: Content;
  readonly needs?: PageNeeds;
}

/** Media type of pages. */
export const PAGE_TYPE = "text/html; charset=utf-8";

/** Inline, so that it needs no request. */
const ICON = `data:image/svg+xml,${
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b57a4"/>' +
      '<path d="M5 13V4M2.5 6.5 5 4l2.5 2.5M11 3v9M8.5 9.5 11 12l2.5-2.5" fill="none" stroke="#fff" stroke-width="1.5"/></svg>',
  )
}`;

/** Returns the markup before and behind the body. */
export function pageFrame(
  { title, heading = title, aside, footer, needs = {} }: Omit<PageContent, "body">,
): { readonly head: string; readonly tail: string } {
  const head = markup`<!doctype html>
<html lang="${TEXTS.language}" dir="${TEXTS.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="${referrerPolicy(needs)}">
<link rel="icon" href="${ICON}">
<title>${withInvisibleShown(title)}</title>
${Markup.style(STYLE)}
</head>
<body>
<header><h1>${heading}</h1>${aside !== undefined && markup`<div>${aside}</div>`}</header>
<main>
`;
  const tail = markup`
</main>
${footer !== undefined && markup`<footer>${footer}</footer>`}
${needs.script !== undefined && Markup.script(needs.script)}</body>
</html>
`;
  return { head: head.toString(), tail: tail.toString() };
}

/** With `no-referrer`, browsers send `Origin: null` with forms (Fetch standard, 3.1). */
function referrerPolicy({ forms }: PageNeeds): string {
  return forms ? "same-origin" : "no-referrer";
}

/** Returns the headers of a page. */
export function pageHeaders(needs: PageNeeds = {}): Readonly<Record<string, string>> {
  return {
    "Content-Security-Policy": policyOf(needs),
    "Referrer-Policy": referrerPolicy(needs),
    "X-Content-Type-Options": "nosniff",
    "Vary": "Accept",
  };
}

/** Returns a page as response. */
export function pageResponse(
  { body, ...frame }: PageContent,
  { status, headers }: ResponseFacts = {},
): HttpResponse {
  const { head, tail } = pageFrame(frame);
  return textResponse(`${head}${markup`${body}`}${tail}`, PAGE_TYPE, {
    status,
    headers: { ...headers, ...pageHeaders(frame.needs) },
  });
}
