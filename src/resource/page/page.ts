import type { HttpResponse } from "../../model/http_message.ts";
import { type ResponseFacts, textResponse } from "../text_response.ts";
import { type Content, Markup, markup } from "./markup.ts";
import { PAGE_POLICY, STYLE } from "./style.ts";

/** What a page consists of besides its frame. */
interface PageContent {
  /** Shown in the window's title and as heading. */
  readonly title: string;
  /** Beside the heading, such as who is signed in. */
  readonly aside?: Content;
  readonly body: Content;
  readonly footer?: Content;
}

/** What stands before and behind the body of a page: without scripts, and it loads nothing from anywhere. */
export function pageFrame(
  { title, aside, footer }: Omit<PageContent, "body">,
): { readonly head: string; readonly tail: string } {
  const head = markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
${Markup.style(STYLE)}
</head>
<body>
<header><h1>${title}</h1>${aside !== undefined && markup`<p>${aside}</p>`}</header>
<main>
`;
  const tail = markup`
</main>
${footer !== undefined && markup`<footer>${footer}</footer>`}
</body>
</html>
`;
  return { head: head.toString(), tail: tail.toString() };
}

/** A page of this service. */
function pageText({ body, ...frame }: PageContent): string {
  const { head, tail } = pageFrame(frame);
  return `${head}${markup`${body}`}${tail}`;
}

/** The same as an answer. */
export function pageResponse(content: PageContent, facts?: ResponseFacts): HttpResponse {
  const response = textResponse(pageText(content), "text/html; charset=utf-8", facts);
  const { headers } = response;
  headers.set("Content-Security-Policy", PAGE_POLICY);
  headers.set("Referrer-Policy", "no-referrer");
  headers.append("Vary", "Accept");
  return response;
}
