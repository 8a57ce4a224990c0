import type { HttpResponse } from "../../model/http_message.ts";
import type { Quota } from "../../sharing/share.ts";
import type { ListingQuery } from "./listing_query.ts";

/** One line of a directory listing. */
export interface ListingEntry {
  readonly name: string;
  readonly directory: boolean;
  /** Bytes; files only. */
  readonly size?: number;
  /** Local time on the daemon's host, `YYYY-MM-DDThh:mm:ss`. */
  readonly modified?: string;
  /** Absolute link, percent-encoded. */
  readonly href: string;
}

/** What people are told of a share beside its files. */
export interface ShareFacts {
  /** Name of the shared file or directory. */
  readonly name: string;
  /** Distinguished name of whoever shares it. */
  readonly owner: string;
  /** End of life in seconds since the epoch; 0 is never. */
  readonly expires: number;
  /** What its owner tells those who use it. */
  readonly note?: string;
  /** Address of a page that explains. */
  readonly help: string;
  /** Whether each look at it counts, so that none is to be invited. */
  readonly counted: boolean;
  /** Command line by which `pyuftp` gets what is shown, for much data. */
  readonly command: string;
}

/** A directory of a share, or a part of it, as shown to people and programs. */
export interface Listing {
  /** Path below the share, such as `sub/dir/`; empty for the shared directory itself. */
  readonly path: string;
  /** Links to the shared directory and each below it down to this one. */
  readonly trail: readonly { readonly name: string; readonly href: string }[];
  readonly query: ListingQuery;
  readonly entries: Iterable<ListingEntry>;
  /** How many these are. */
  readonly shown: number;
  /** False if there are more entries than are shown from here on. */
  readonly complete: boolean;
  /** How many things of the whole directory are not among its entries: unprintable names, and what is no file. */
  readonly omitted: number;
  /** Link to the next part. */
  readonly next?: string;
  /** Minutes from UTC to the time of the daemon's host, as of the last change of the directory; absent if it does not say. */
  readonly zone?: number;
  readonly share: ShareFacts;
  /** Absent: nothing can be brought here. */
  readonly upload?: UploadTarget;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A form in which listings are shown. */
export interface ListingForm {
  /** Media type. */
  readonly type: string;
  /** @param upload Whether files can be brought by it. */
  readonly headers: (upload: boolean) => Readonly<Record<string, string>>;
  /** Entries of one part at most. */
  readonly most: number;
  readonly pieces: (listing: Listing) => Iterable<string>;
}

/** A shared file as it is looked at before it is downloaded. */
export interface FilePreview {
  readonly name: string;
  /** Bytes of the whole file. */
  readonly size: number;
  /** Links to the directories above it; none for a share of the file alone. */
  readonly trail: Listing["trail"];
  /** Link to the file. */
  readonly href: string;
  /** What of it can be shown: the picture behind a link, relative to that of this page; the text, or its beginning; nothing. */
  readonly shown:
    | { readonly kind: "image"; readonly href: string }
    | { readonly kind: "text"; readonly text: string; readonly whole: boolean }
    | { readonly kind: "nothing" };
}

/** Where files can be brought to. */
export interface UploadTarget {
  /** Address to which files are put, each by its name; relative to the page where nobody has said how clients know it. */
  readonly to: string;
  /** Address to which a form sends files. */
  readonly form: string;
  /** What becomes of a file whose name is taken: it gets another one, it is left, or whoever brings it is asked. */
  readonly taken: "rename" | "leave" | "ask";
  /** With which the page shows that it was made for the browser that is signed in; absent for others. */
  readonly formToken?: string;
}

/** A share for uploads, as those see it who bring something. */
export interface UploadView extends UploadTarget {
  readonly share: Omit<ShareFacts, "command">;
  /** Command line by which a file can be brought. */
  readonly command: string;
  /** How much can still be brought. */
  readonly quota: Quota | undefined;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** How people see what is shared: handed down from where pages are made. */
export interface ShareViews {
  readonly listing: ListingForm;
  readonly preview: (preview: FilePreview) => HttpResponse;
  readonly upload: (view: UploadView) => HttpResponse;
}

/** The listing as JSON, for programs. */
export const JSON_LISTING: Omit<ListingForm, "most"> = {
  type: "application/json",
  headers: () => ({
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Vary": "Accept",
  }),
  *pieces({ path, trail, entries, complete, omitted, next }) {
    yield `{"path":${JSON.stringify(path)},`;
    const parent = trail.at(-2);
    if (parent !== undefined) yield `"parent":${JSON.stringify(parent.href)},`;
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
