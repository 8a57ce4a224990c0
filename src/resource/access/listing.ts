import type { HttpResponse } from "../../model/http_message.ts";
import type { Quota } from "../../sharing/share.ts";
import type { ListingQuery } from "./listing_query.ts";

export interface ListingEntry {
  readonly name: string;
  readonly directory: boolean;
  readonly size?: number; // bytes; files only
  readonly modified?: string; // local time on the daemon's host, `YYYY-MM-DDThh:mm:ss`
  readonly href: string; // absolute, percent-encoded
}

export interface ShareFacts {
  readonly name: string;
  readonly owner: string; // distinguished name
  readonly ownerName?: string | undefined; // display name, which proves nothing
  readonly expires: number; // seconds since the epoch; 0 is never
  readonly note?: string;
  readonly help: string;
  readonly counted: boolean; // whether downloads are limited: previews would show content without taking a use
  readonly command: string; // command line for `pyuftp`
}

/** Part of a shared directory, for people and programs. */
export interface Listing {
  readonly path: string; // below the share, such as `sub/dir/`; empty for the shared directory itself
  /** Links from the shared directory down to this one. */
  readonly trail: readonly { readonly name: string; readonly href: string }[];
  readonly query: ListingQuery;
  readonly entries: Iterable<ListingEntry>;
  readonly shown: number;
  readonly complete: boolean;
  /** Number of hidden entries of the whole directory: those with unprintable names, or neither file nor directory. */
  readonly omitted: number;
  readonly next?: string;
  readonly zone?: number; // offset of the daemon's host from UTC in minutes, at the directory's last change
  readonly share: ShareFacts;
  readonly upload?: UploadTarget; // absent if uploads are not permitted
  readonly now: number;
}

/** Entries of a directory, and their place in it. */
export type Entries = Omit<Listing, "path" | "share" | "upload" | "now">;

export interface ListingForm {
  readonly type: string;
  readonly headers: (upload: boolean) => Readonly<Record<string, string>>;
  readonly most: number; // entries in one part
  readonly pieces: (listing: Listing) => Iterable<string>;
}

export interface FileView {
  readonly name: string;
  readonly size: number;
  readonly trail: Listing["trail"]; // links to the parent directories; empty for a share of only the file
  readonly href: string; // address that downloads the file
  readonly share: ShareFacts;
  readonly now: number;
  /** A link to the preview, a picture by relative link, the beginning of a text, or why there is no preview. */
  readonly shown:
    | { readonly kind: "offer"; readonly href: string }
    | { readonly kind: "image"; readonly href: string }
    | { readonly kind: "text"; readonly text: string; readonly whole: boolean }
    | { readonly kind: "unknown" | "limited" | "nothing" };
}

export interface UploadTarget {
  readonly to: string; // address for `PUT`; relative if no public URL is configured
  readonly form: string; // address for the form
  readonly taken: "rename" | "leave" | "ask"; // policy for names that are taken
  readonly formToken?: string; // absent for browsers without a sign-in
}

/** Upload share, for people who upload. */
export interface UploadView extends UploadTarget {
  readonly share: Omit<ShareFacts, "command">;
  readonly command: string; // command line for an upload
  readonly quota: Quota | undefined; // remaining quota
  readonly now: number;
}

/** Views of shares, injected by the pages. */
export interface ShareViews {
  readonly listing: ListingForm;
  readonly file: (view: FileView) => HttpResponse;
  readonly upload: (view: UploadView) => HttpResponse;
}

/** Listing as JSON. */
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
