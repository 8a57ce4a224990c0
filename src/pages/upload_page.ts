import type { HttpResponse } from "../model/http_message.ts";
import { dropForm } from "../resource/access/drop/drop_upload.ts";
import type { UploadView } from "../resource/access/listing.ts";
import type { Call } from "../resource/call.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { isolated, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { aboutShare } from "./about_share.ts";
import { size } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import SCRIPT from "./upload.js" with { type: "text" };

const SAYS = TEXTS.upload;

/** The page of a share for uploads: it says how, and shows nothing of what is there. */
export function uploadPage({ share, to, form, command, quota, now }: UploadView): HttpResponse {
  return pageResponse({
    title: SAYS.title(share.name),
    heading: markup`${SAYS.heading} ${isolated(share.name)}`,
    aside: aboutShare(share, now),
    body: markup`<p>${SAYS.muchData}</p>
<pre><code>${command}</code></pre>
${share.note !== undefined && markup`<p class="note">${isolated(share.note)}</p>`}
${quota?.files !== undefined && markup`<p>${SAYS.filesLeft(quota.files)}</p>`}
${quota?.bytes !== undefined && markup`<p>${SAYS.bytesLeft(size(quota.bytes))}</p>`}
<form id="upload" class="fields" hidden data-to="${to}" data-says="${JSON.stringify(SAYS.script)}">
<p><label for="files">${SAYS.choose}</label> <input id="files" type="file" multiple></p>
<p><label for="folder">${SAYS.chooseFolder}</label> <input id="folder" type="file" webkitdirectory></p>
<p class="quiet">${SAYS.drop}</p>
</form>
<noscript><form class="fields" method="post" enctype="multipart/form-data" action="${form}">
<p><label for="sent">${SAYS.choose}</label> <input id="sent" name="files" type="file" multiple required></p>
<p><button>${SAYS.send}</button></p></form>
<p class="quiet">${SAYS.noScript}</p></noscript>
<ul id="brought" class="uploads"></ul>
<p id="news" class="hidden" role="status"></p>`,
    footer: markup`<p>${SAYS.promise}</p><p><a href="${share.help}">${TEXTS.help.link}</a></p>`,
    needs: { script: SCRIPT, forms: true },
  }, { headers: { "Cache-Control": "private, no-store" } });
}

/** `POST /drop/<server>/<id>`: takes files from the form of the page, which browsers without script send. */
export async function bringByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const names = await dropForm(call, parts);
  const { server, id } = Object.fromEntries(call.params);
  return pageResponse({
    title: names.length === 0 ? SAYS.nothing : SAYS.brought(names.length),
    body: markup`<ul>${names.map((name) => markup`<li>${isolated(name)}</li>`)}</ul>
<p><a href="${call.root}rest/access/${encodeURIComponent(server ?? "")}/${id}">${SAYS.more}</a></p>`,
  }, { status: names.length === 0 ? 400 : 201, headers: { "Cache-Control": "private, no-store" } });
}
