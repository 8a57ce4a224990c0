import { createHash } from "node:crypto";

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

const STYLE = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.25rem; overflow-wrap: anywhere }
table { border-collapse: collapse; width: 100% }
caption { text-align: left; opacity: .8; padding-bottom: .5rem }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8886 }
td:first-child { overflow-wrap: anywhere; unicode-bidi: isolate }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
`;

/** The listing as a page without scripts, readable by screen readers, in the reader's light or dark colours. */
export function listingPage({ path, parent, entries, complete }: Listing): string {
  const title = path === "" ? "Shared files" : `Shared files: ${path}`;
  const count = entries.length === 1 ? "1 entry" : `${entries.length} entries`;
  const up = parent === undefined
    ? ""
    : `<p><a href="${escapeHtml(parent)}">Up to the directory above</a></p>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
${up}<table>
<caption>${count}${complete ? "" : ", and more that are not shown"}</caption>
<thead><tr><th scope="col">Name</th><th scope="col">Modified</th><th scope="col" class="number">Size</th></tr></thead>
<tbody>
${entries.map(row).join("")}</tbody>
</table>
</main>
</body>
</html>
`;
}

/** Content security policy of {@link listingPage}: nothing but its own style sheet. */
export function listingPolicy(): string {
  const hash = createHash("sha256").update(STYLE).digest("base64");
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
}

function row({ name, directory, size, modified, href }: ListingEntry): string {
  const shown = `${escapeHtml(name)}${directory ? "/" : ""}`;
  const time = modified === undefined
    ? ""
    : `<time datetime="${escapeHtml(modified)}">${
      escapeHtml(modified.slice(0, 16).replace("T", " "))
    }</time>`;
  const bytes = size === undefined ? "" : String(size);
  return `<tr><td><a href="${
    escapeHtml(href)
  }">${shown}</a></td><td>${time}</td><td class="number">${bytes}</td></tr>\n`;
}

/** Text for an element or a quoted attribute. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (c) => `&#${c.charCodeAt(0)};`);
}
