import type { Listing, ListingEntry, ListingForm } from "../resource/access/listing.ts";
import { isolated, type Markup, markup } from "./markup.ts";
import { PAGE_TYPE, pageFrame, pageHeaders } from "./page.ts";
import { size } from "./quantities.ts";
import { TEXTS } from "./texts.ts";

const SAYS = TEXTS.listing;

/** The listing of a shared directory as a page, in pieces. */
export const LISTING_PAGE: ListingForm = {
  type: PAGE_TYPE,
  headers: pageHeaders(),
  *pieces(listing) {
    const { path, parent, entries, next } = listing;
    const { head, tail } = pageFrame({
      title: path === "" ? SAYS.title : SAYS.titleBelow(path),
      footer: markup`<p>${SAYS.neverListed}</p>`,
    });
    const more = next !== undefined && markup`<p><a rel="next" href="${next}">${SAYS.next}</a></p>`;
    yield head;
    yield markup`${parent !== undefined && markup`<p><a href="${parent}">${SAYS.up}</a></p>`}
${more}
<div class="wide"><table>
<caption>${caption(listing)}</caption>
<thead><tr><th scope="col">${SAYS.name}</th><th scope="col">${SAYS.modified}</th><th scope="col" class="number">${SAYS.size}</th></tr></thead>
<tbody>
`.toString();
    for (const entry of entries) yield row(entry).toString();
    yield markup`</tbody>
</table></div>
${more}`.toString();
    yield tail;
  },
};

function caption({ shown, complete, omitted }: Listing): string {
  return SAYS.entries(shown) + (complete ? "" : SAYS.notAll) + (omitted === 0 ? "" : SAYS.omitted(omitted));
}

function row({ name, directory, size: bytes, modified, href }: ListingEntry): Markup {
  const time = modified !== undefined &&
    markup`<time datetime="${modified}">${modified.slice(0, 16).replace("T", " ")}</time>`;
  return markup`<tr><td><a href="${href}">${isolated(name)}${
    directory && "/"
  }</a></td><td class="time">${time}</td>
<td class="number">${bytes !== undefined && size(bytes)}</td></tr>
`;
}
