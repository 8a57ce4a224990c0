import type { HttpResponse } from "../model/http_message.ts";
import { markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { TEXTS } from "./texts.ts";

const SAYS = TEXTS.help;

/** Serves `GET /help`, for people who received a link. */
export function helpPage(): HttpResponse {
  return pageResponse({
    title: SAYS.title,
    body: SAYS.sections.map(([heading, text]) =>
      markup`<h2>${heading}</h2>
<p>${text}</p>
`
    ),
  });
}
