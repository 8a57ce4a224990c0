import type { AcceptedLogin } from "../authentication/accepted_logins.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { Call } from "../resource/call.ts";
import { DEVICE_PATHS } from "../resource/device_paths.ts";
import { markup } from "./markup.ts";
import { message } from "./messages.ts";
import { pageResponse } from "./page.ts";
import { TEXTS } from "./texts.ts";

const SAYS = TEXTS.help;

/** Serves `GET /help`: received links, the pages in the menu, and logins on the command line. */
export function helpPage(
  call: Call,
  { accepted, hasDeviceLogin }: {
    readonly accepted: readonly AcceptedLogin[];
    readonly hasDeviceLogin: boolean;
  },
): HttpResponse {
  return pageResponse(call, {
    title: SAYS.title,
    current: "help",
    body: [
      markup`<h2>${SAYS.received}</h2>
`,
      SAYS.sections.map(([heading, text]) =>
        markup`<h3>${heading}</h3>
<p>${text}</p>
`
      ),
      Object.entries(SAYS.pages).filter(([page]) => call.menu.has(`/${page}`)).map(([, [heading, text]]) =>
        markup`<h2>${heading}</h2>
<p>${text?.with({ dav: `${call.base}/dav/` })}</p>
`
      ),
      markup`<h2>${SAYS.logins}</h2>
<p>${SAYS.accepts}</p>
<ul>${
        accepted.map(({ words, option }) =>
          markup`<li>${message(words)}${option !== undefined && markup`: <code>pyuftp ls ${option}</code>`}${
            option?.startsWith("-O") && [" (", SAYS.agent, ")"]
          }</li>`
        )
      }</ul>
${
        hasDeviceLogin && markup`<p>${SAYS.script}</p>
<pre><code>curl -fsSO ${call.base}${DEVICE_PATHS.script} &amp;&amp; sh login.sh</code></pre>`
      }`,
    ],
  });
}
