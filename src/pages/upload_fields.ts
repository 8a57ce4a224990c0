import type { UploadTarget } from "../resource/access/listing.ts";
import { FORM_TOKEN } from "../resource/form.ts";
import { type Markup, markup } from "./markup.ts";
import type { PageNeeds } from "./policy.ts";
import { jsonOf, TEXTS } from "./texts.ts";
import script from "./upload.js" with { type: "text" };

const SAYS = TEXTS.upload;

/** Needs of a page with {@link uploadFields}: its script resumes uploads; without it they are a plain form. */
export const UPLOAD_NEEDS: PageNeeds = { script, connects: true, forms: true };

/** Returns the form fields and the list of uploads. */
export function uploadFields({ to, form, taken, formToken }: UploadTarget): Markup {
  const says = jsonOf("upload", "script");
  const replace = taken === "ask" &&
    markup` <button class="plain" formaction="${form}?replace">${SAYS.sendAndReplace}</button>`;
  return markup`<form id="upload" class="fields" hidden data-to="${to}" data-taken="${taken}" data-token="${formToken}" data-says="${says}">
<p><label for="files">${SAYS.choose}</label> <input id="files" type="file" multiple></p>
<p><label for="folder">${SAYS.chooseFolder}</label> <input id="folder" type="file" webkitdirectory></p>
<p class="quiet">${SAYS.drop}</p>
</form>
<noscript><form class="fields" method="post" enctype="multipart/form-data" action="${form}">
${formToken !== undefined && markup`<input type="hidden" name="${FORM_TOKEN}" value="${formToken}">`}
<p><label for="sent">${SAYS.choose}</label> <input id="sent" name="files" type="file" multiple required></p>
<p><button>${SAYS.send}</button>${replace}</p></form>
<p class="quiet">${SAYS.noScript}</p></noscript>
<p id="total" class="total" hidden></p>
<ul id="uploads" class="uploads" aria-label="${SAYS.list}"></ul>`;
}
