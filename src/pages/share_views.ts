import type { FileView, ShareViews } from "../resource/access/listing.ts";
import { listingPage } from "./listing_page.ts";
import { uploadPage } from "./upload_page.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { Call } from "../resource/call.ts";
import { noteOf } from "./elements.ts";
import { type Content, isolated, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { size } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import { aboutShare, trailLinks } from "./about_share.ts";

const SAYS = TEXTS.file;

function filePage(call: Call, view: FileView): HttpResponse {
  const { name, size: bytes, trail, href, share, now, shown } = view;
  return pageResponse(call, {
    title: name,
    heading: isolated(name),
    about: markup`${size(bytes)}. ${aboutShare(share, now)}`,
    body: markup`${trail.length > 0 && trailLinks(trail, { last: false })}
${noteOf(share.note)}
<p><a class="button" href="${href}">${SAYS.download}</a></p>
${content(view)}
${
      trail.length === 0 && markup`<p>${TEXTS.listing.muchData}</p>
<pre><code>${share.command}</code></pre>`
    }`,
    needs: shown.kind === "image" ? { images: true } : {},
  });
}

/** Returns the preview of a file. */
export function content({ name, shown }: Pick<FileView, "name" | "shown">): Content {
  switch (shown.kind) {
    case "offer":
      return markup`<p><a href="${shown.href}">${SAYS.preview}</a></p>`;
    case "image":
      return markup`<img class="preview" src="${shown.href}" alt="${SAYS.picture.with({ name })}">`;
    case "text":
      return markup`<pre tabindex="0" class="preview"><code>${shown.text}</code></pre>
${!shown.whole && markup`<p class="quiet">${SAYS.beginning}</p>`}`;
    case "unknown":
    case "limited":
      return markup`<p>${SAYS[shown.kind]}</p>`;
    case "nothing":
      return undefined;
  }
}

/** Returns the pages of shares for a reader. */
export function shareViews(call: Call): ShareViews {
  return {
    listing: listingPage(call),
    file: (view) => filePage(call, view),
    upload: (view) => uploadPage(call, view),
  };
}
