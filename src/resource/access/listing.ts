import type { HttpResponse } from "../../model/http_message.ts";
import type { Quota } from "../../sharing/share.ts";
import type { ListingQuery } from "./listing_query.ts";

/** Line of a directory listing. */
export interface ListingEntry {
  readonly name: string;
  readonly directory: boolean;
  /** Bytes; files only. */
  readonly size?: number;
  /** Local time on the daemon's host, `YYYY-MM-DDThh:mm:ss`. */
  readonly modified?: string;
  /** Absolute, percent-encoded. */
  readonly href: string;
}

/** Facts about a share for people. */
export interface ShareFacts {
  readonly name: string;
  /** Distinguished name. */
  readonly owner: string;
  /** Seconds since the epoch; 0 is never. */
  readonly expires: number;
  readonly note?: string;
  readonly help: string;
  /** Whether downloads are limited: previews would give away what they count. */
  readonly counted: boolean;
  /** Command line for `pyuftp`. */
  readonly command: string;
}

/** Part of a shared directory, for people and programs. */
export interface Listing {
  /** Below the share, such as `sub/dir/`; empty for the shared directory itself. */
  readonly path: string;
  /** Links from the shared directory down to this one. */
  readonly trail: readonly { readonly name: string; readonly href: string }[];
  readonly query: ListingQuery;
  readonly entries: Iterable<ListingEntry>;
  readonly shown: number;
  readonly complete: boolean;
  /** Number of entries of the whole directory that are not shown: unprintable names, and neither file nor directory. */
  readonly omitted: number;
  readonly next?: string;
  /** Offset of the daemon's host from UTC in minutes, at the directory's last change. */
  readonly zone?: number;
  readonly share: ShareFacts;
  /** Absent if uploads are not permitted. */
  readonly upload?: UploadTarget;
  readonly now: number;
}

/** Format of listings. */
export interface ListingForm {
  readonly type: string;
  readonly headers: (upload: boolean) => Readonly<Record<string, string>>;
  /** Entries in one part. */
  readonly most: number;
  readonly pieces: (listing: Listing) => Iterable<string>;
}

/** Page of a shared file. */
export interface FileView {
  readonly name: string;
  readonly size: number;
  /** Links to the parent directories; empty for a share of the file alone. */
  readonly trail: Listing["trail"];
  /** Address that downloads the file. */
  readonly href: string;
  readonly share: ShareFacts;
  readonly now: number;
  /** A link to the preview, a picture by relative link, the beginning of a text, or why there is no preview. */
  readonly shown:
    | { readonly kind: "offer"; readonly href: string }
    | { readonly kind: "image"; readonly href: string }
    | { readonly kind: "text"; readonly text: string; readonly whole: boolean }
    | { readonly kind: "unknown" | "limited" | "nothing" };
}

/** Destination of uploads. */
export interface UploadTarget {
  /** Address for `PUT`; relative if no public URL is configured. */
  readonly to: string;
  /** Address for the form. */
  readonly form: string;
  /** Policy for names that are taken. */
  readonly taken: "rename" | "leave" | "ask";
  /** Absent for browsers without a sign-in. */
  readonly formToken?: string;
}

/** Upload share, for people who upload. */
export interface UploadView extends UploadTarget {
  readonly share: Omit<ShareFacts, "command">;
  /** Command line for an upload. */
  readonly command: string;
  /** Remaining quota. */
  readonly quota: Quota | undefined;
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
