import { aboutShare, trailLinks } from "./about_share.ts";
import { previewQuery } from "../resource/access/file_view.ts";
import type {
  Entries,
  Listing,
  ListingEntry,
  ListingForm,
  UploadTarget,
} from "../resource/access/listing.ts";
import type { PartialCall } from "../resource/call.ts";
import { listingQueryText, type Order } from "../resource/access/listing_query.ts";
import { noteOf, section } from "./elements.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";
import { PAGE_TYPE, pageFrame, pageHeaders } from "./page.ts";
import type { PageNeeds } from "./policy.ts";
import { size, zone } from "./quantities.ts";
import { languageOf, TEXTS } from "./texts.ts";
import { UPLOAD_NEEDS, uploadFields } from "./upload_fields.ts";

const SAYS = TEXTS.listing;

const NEEDS: PageNeeds = { forms: true };

const MANY = 20; // number of entries from which the page offers a search

/** Returns the listing page for a reader, produced in pieces. */
export function listingPage(call: PartialCall): ListingForm {
  return {
    type: PAGE_TYPE,
    headers: (upload) => pageHeaders(upload ? UPLOAD_NEEDS : NEEDS),
    most: 1000,
    pieces: (listing) => pieces(call, listing),
  };
}

function* pieces(call: PartialCall, listing: Listing): Generator<string, void> {
  const { trail, share, upload } = listing;
  const folder = trail.at(-1)?.name ?? share.name;
  const language = languageOf(call.request);
  const { head, tail } = pageFrame(call, {
    title: folder,
    heading: isolated(folder),
    about: aboutShare(share, listing.now),
    footer: markup`<p>${SAYS.neverListed}</p>`,
    needs: upload === undefined ? NEEDS : UPLOAD_NEEDS,
  });
  yield head;
  yield markup`${trail.length > 1 && trailLinks(trail)}
${noteOf(share.note)}
<p><a class="button" href="?view=zip" rel="nofollow">${SAYS.zip}</a></p>
${upload !== undefined && uploadSection(upload)}
`.toString(language);
  for (const piece of entryTable(listing, { previews: !share.counted })) yield piece.toString(language);
  yield markup`<p>${SAYS.muchData}</p>
<pre><code>${share.command}</code></pre>`.toString(language);
  yield tail;
}

interface EntryOptions {
  readonly previews: boolean; // whether previews are offered
  readonly actions?: (entry: ListingEntry) => Content; // last column
}

/** Yields the table of a part of a directory, with search, orders and links to the other parts. */
export function* entryTable(listing: Entries, options: EntryOptions): Generator<Markup, void> {
  const more = parts(listing);
  yield markup`${search(listing)}
${more}
<div class="wide"><table class="listing">
<caption>${caption(listing)}</caption>
<thead><tr>${[
    column(listing, "name", SAYS.name),
    column(listing, "modified", [
      SAYS.modified,
      listing.zone !== undefined && markup`<span class="zone"> (${zone(listing.zone)})</span>`,
    ]),
    column(listing, "size", SAYS.size),
    options.actions !== undefined && markup`<td></td>`,
  ]}</tr></thead>
<tbody>
`;
  for (const entry of listing.entries) yield row(entry, listing, options);
  yield markup`</tbody>
</table></div>
${more}
`;
}

/** Returns the upload section; its list of uploads also serves drag and drop. */
export function uploadSection(upload: UploadTarget): Markup {
  return section(
    "upload-section",
    SAYS.upload,
    markup`<p class="quiet">${upload.taken === "ask" ? SAYS.uploadAndAsk : SAYS.uploadAndLeave}</p>
${uploadFields(upload)}
<p id="anew" hidden><a href="?">${SAYS.anew}</a></p>`,
  );
}

function search({ query, shown, next }: Entries): Content {
  if (query.find === "" && query.after === undefined && next === undefined && shown < MANY) return undefined;
  return markup`<form method="get" role="search">
<label for="find">${SAYS.find}</label> <input id="find" name="find" type="search" maxlength="255" value="${query.find}">
${query.order !== "name" && markup`<input type="hidden" name="sort" value="${query.order}">`}
${query.descending && markup`<input type="hidden" name="desc" value="">`}
<button>${SAYS.search}</button>${query.find !== "" && markup` <a href="?">${SAYS.all}</a>`}
</form>`;
}

function parts({ query, next }: Entries): Content {
  if (query.after === undefined && next === undefined) return undefined;
  const href = `?${listingQueryText({ ...query, after: undefined })}`;
  const first = query.after !== undefined && markup`<a rel="first" href="${href}">${SAYS.first}</a> `;
  return markup`<p class="parts">${first}${
    next && markup`<a rel="next" href="${next}">${SAYS.next}</a>`
  }</p>`;
}

/** Returns a column heading that sorts, or reverses the order. */
function column({ query }: Entries, order: Order, says: Content): Markup {
  const chosen = query.order === order;
  const descending = chosen && !query.descending;
  const href = `?${listingQueryText({ order, descending, find: query.find })}`;
  const sorted = chosen ? query.descending ? "descending" : "ascending" : "none";
  const style = order === "size" && "number";
  const arrow = chosen && markup` <span aria-hidden="true">${query.descending ? "↓" : "↑"}</span>`;
  return markup`<th scope="col" aria-sort="${sorted}" class="${style}"><a href="${href}">${says}</a>${arrow}</th>`;
}

function caption({ query, shown, complete, omitted }: Entries): Content {
  return [
    SAYS.entries.with({ count: shown }),
    query.find !== "" && [SAYS.found, isolated(query.find)],
    !complete && SAYS.notAll,
    omitted > 0 && SAYS.omitted.with({ count: omitted }),
  ];
}

function row(entry: ListingEntry, { zone }: Pick<Entries, "zone">, { previews, actions }: EntryOptions) {
  const { name, directory, size: bytes, modified, href } = entry;
  const at = zone === undefined ? NaN : Date.parse(`${modified}Z`) - zone * 60_000;
  const [day, minute] = [modified?.slice(0, 10), modified?.slice(11, 16)];
  const instant = Number.isNaN(at) ? modified : new Date(at).toISOString();
  const time = modified !== undefined &&
    markup`<time datetime="${instant}">${day}<span class="clock"> ${minute}</span></time>`;
  const query = directory || !previews ? undefined : previewQuery(name, bytes);
  const shown = isolated(name);
  const look = query !== undefined &&
    markup` <a class="look" href="${href}?${query}">${SAYS.preview}<span class="hidden"> ${shown}</span></a>`;
  const last = actions && markup`<td>${actions(entry)}</td>`;
  return markup`<tr><td><a href="${href}">${shown}${
    directory && "/"
  }</a>${look}</td><td class="time">${time}</td>
<td class="number">${bytes !== undefined && size(bytes)}</td>${last}</tr>
`;
}
