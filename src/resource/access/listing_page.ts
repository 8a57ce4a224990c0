import { type Markup, markup } from "../page/markup.ts";
import { pageFrame } from "../page/page.ts";

/** One line of a directory listing. */
export interface ListingEntry {
  readonly name: string;
  readonly directory: boolean;
  /** Bytes; files only. */
  readonly size?: number;
  /** Local time on the daemon's host, `YYYY-MM-DDThh:mm:ss`; its zone is not known. */
  readonly modified?: string;
  /** Absolute link, percent-encoded. */
  readonly href: string;
}

/** A directory of a share, or a part of it, as shown to people and programs. */
export interface Listing {
  /** Path below the share, such as `sub/dir/`; empty for the shared directory itself. */
  readonly path: string;
  /** Link to the directory above, inside the share. */
  readonly parent?: string;
  readonly entries: Iterable<ListingEntry>;
  /** How many these are. */
  readonly shown: number;
  /** False if there are more entries than are shown from here on. */
  readonly complete: boolean;
  /** How many things of the whole directory are not among its entries: unprintable names, and what is no file. */
  readonly omitted: number;
  /** Link to the next part. */
  readonly next?: string;
}

/** The listing as a page of the service's look, in pieces. */
export function* listingPage(listing: Listing): Generator<string, void> {
  const { path, parent, entries, next } = listing;
  const { head, tail } = pageFrame({
    title: path === "" ? "Shared files" : `Shared files: ${path}`,
    footer: markup`<p>Names that are not UTF-8, and links that lead nowhere, are never listed.</p>`,
  });
  const more = next !== undefined && markup`<p><a rel="next" href="${next}">Next part</a></p>`;
  yield head;
  yield markup`${parent !== undefined && markup`<p><a href="${parent}">Up to the directory above</a></p>`}
${more}
<div class="wide"><table>
<caption>${caption(listing)}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Modified</th><th scope="col" class="number">Size</th></tr></thead>
<tbody>
`.toString();
  for (const entry of entries) yield row(entry).toString();
  yield markup`</tbody>
</table></div>
${more}`.toString();
  yield tail;
}

/** The listing as JSON, in pieces. */
export function* listingJson(
  { path, parent, entries, complete, omitted, next }: Listing,
): Generator<string, void> {
  yield `{"path":${JSON.stringify(path)},`;
  if (parent !== undefined) yield `"parent":${JSON.stringify(parent)},`;
  yield '"entries":[';
  let comma = "";
  for (const entry of entries) {
    yield comma + JSON.stringify(entry);
    comma = ",";
  }
  yield `],"complete":${complete},"omitted":${omitted}`;
  yield next === undefined ? "}" : `,"next":${JSON.stringify(next)}}`;
}

function caption({ shown, complete, omitted }: Listing): string {
  const count = shown === 1 ? "1 entry" : `${shown} entries`;
  const left = omitted === 0 ? "" : `; ${omitted} in this directory cannot be shown`;
  return `${count}${complete ? "" : ", and more that are not shown"}${left}`;
}

function row({ name, directory, size, modified, href }: ListingEntry): Markup {
  const time = modified !== undefined &&
    markup`<time datetime="${modified}">${modified.slice(0, 16).replace("T", " ")}</time>`;
  return markup`<tr><td><a href="${href}">${name}${
    directory && "/"
  }</a></td><td>${time}</td><td class="number">${size}</td></tr>
`;
}
