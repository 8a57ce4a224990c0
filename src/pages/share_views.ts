import type { FilePreview, ShareViews } from "../resource/access/listing.ts";
import { LISTING_PAGE } from "./listing_page.ts";
import { uploadPage } from "./upload_page.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { type Content, isolated, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { size } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import { trailLinks } from "./about_share.ts";

const SAYS = TEXTS.preview;

/** Returns the preview page of a shared file. */
function previewPage(preview: FilePreview): HttpResponse {
  const { name, size: bytes, trail, href, shown } = preview;
  return pageResponse({
    title: name,
    heading: isolated(name),
    aside: size(bytes),
    body: markup`${trail.length > 0 && trailLinks(trail, { last: false })}
<p><a href="${href}">${SAYS.download}</a></p>
${content(preview)}`,
    needs: shown.kind === "image" ? { images: true } : {},
  }, { headers: { "Cache-Control": "private, no-cache" } });
}

function content({ name, shown }: FilePreview): Content {
  switch (shown.kind) {
    case "image":
      return markup`<img class="preview" src="${shown.href}" alt="${SAYS.picture(name)}">`;
    case "text":
      return markup`<pre tabindex="0" class="preview"><code>${shown.text}</code></pre>
${!shown.whole && markup`<p class="quiet">${SAYS.beginning}</p>`}`;
    case "nothing":
      return markup`<p>${SAYS.nothing}</p>`;
  }
}

/** Pages of shares. */
export const SHARE_VIEWS: ShareViews = { listing: LISTING_PAGE, preview: previewPage, upload: uploadPage };
