import { type Markup, markup } from "../page/markup.ts";
import { pageText } from "../page/page.ts";

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

/** A directory of a share, as shown to people and programs. */
export interface Listing {
  /** Path below the share, such as `sub/dir/`; empty for the shared directory itself. */
  readonly path: string;
  /** Link to the directory above, inside the share. */
  readonly parent?: string;
  readonly entries: readonly ListingEntry[];
  /** False if there are more entries than are shown. */
  readonly complete: boolean;
}

/** The listing as a page of the service's look. */
export function listingPage({ path, parent, entries, complete }: Listing): string {
  const count = entries.length === 1 ? "1 entry" : `${entries.length} entries`;
  return pageText({
    title: path === "" ? "Shared files" : `Shared files: ${path}`,
    body: markup`${parent !== undefined && markup`<p><a href="${parent}">Up to the directory above</a></p>`}
<div class="wide"><table>
<caption>${count}${!complete && ", and more that are not shown"}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Modified</th><th scope="col" class="number">Size</th></tr></thead>
<tbody>
${entries.map(row)}</tbody>
</table></div>`,
  });
}

function row({ name, directory, size, modified, href }: ListingEntry): Markup {
  const time = modified !== undefined &&
    markup`<time datetime="${modified}">${modified.slice(0, 16).replace("T", " ")}</time>`;
  return markup`<tr><td><a href="${href}">${name}${
    directory && "/"
  }</a></td><td>${time}</td><td class="number">${size}</td></tr>
`;
}
