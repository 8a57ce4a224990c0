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

/** A form in which listings are shown. */
export interface ListingForm {
  /** Media type. */
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly pieces: (listing: Listing) => Iterable<string>;
}

/** The listing as JSON, for programs. */
export const JSON_LISTING: ListingForm = {
  type: "application/json",
  headers: {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept",
  },
  *pieces({ path, parent, entries, complete, omitted, next }) {
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
  },
};
