import type { HttpResponse } from "../model/http_message.ts";
import type { UploadView } from "../resource/access/listing.ts";
import { isolated, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { aboutShare } from "./about_share.ts";
import { size } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import SCRIPT from "./upload.js" with { type: "text" };

const SAYS = TEXTS.upload;

/** The page of a share for uploads: it says how, and shows nothing of what is there. */
export function uploadPage({ share, to, command, quota, now }: UploadView): HttpResponse {
  return pageResponse({
    title: SAYS.title(share.name),
    heading: markup`${SAYS.heading} ${isolated(share.name)}`,
    aside: aboutShare(share, now),
    body: markup`<p>${SAYS.muchData}</p>
<pre><code>${command}</code></pre>
${share.note !== undefined && markup`<p class="note">${isolated(share.note)}</p>`}
${quota?.files !== undefined && markup`<p>${SAYS.filesLeft(quota.files)}</p>`}
${quota?.bytes !== undefined && markup`<p>${SAYS.bytesLeft(size(quota.bytes))}</p>`}
<form id="upload" hidden data-to="${to}" data-says="${JSON.stringify(SAYS.script)}">
<label for="files">${SAYS.choose}</label> <input id="files" type="file" multiple>
</form>
<noscript><p>${SAYS.noScript}</p></noscript>
<ul id="brought" class="uploads"></ul>
<p id="news" class="hidden" role="status"></p>`,
    footer: markup`<p>${SAYS.promise}</p>`,
    needs: { script: SCRIPT },
  }, { headers: { "Cache-Control": "private, no-store" } });
}
