import { withinAll } from "../../sharing/rules/owner_limits.ts";
import type { DaemonSession } from "../../sharing/session_client/daemon_session.ts";
import type { Entry } from "../../sharing/session_client/entry.ts";
import type { Call } from "../call.ts";
import { type ResourceResponse, textResponse, withoutContent } from "../text_response.ts";
import { PAGE_POLICY } from "../page/style.ts";
import { type Listing, type ListingEntry, listingPage } from "./listing_page.ts";
import type { OpenedShare } from "./opened_share.ts";
import type { UseOfShare } from "./use_of_share.ts";

/** Answers with the entries of a directory that the share covers: as a page, or as JSON if that is asked for. */
export async function directoryListing(
  call: Call,
  opened: OpenedShare,
  { session, use }: { readonly session: DaemonSession; readonly use: UseOfShare | undefined },
): Promise<ResourceResponse> {
  const { share, limits } = opened;
  const directory = opened.path.endsWith("/") ? opened.path : `${opened.path}/`;
  const { entries, complete } = await session.list(directory);
  session.close();
  const below = directory.slice(share.path.length);
  const base = `${call.base}/rest/access/${share.server}/${share.id}/`;
  const listing: Listing = {
    path: below,
    ...(below !== "" &&
      { parent: base + encodePath(below.slice(0, below.slice(0, -1).lastIndexOf("/") + 1)) }),
    entries: entries
      .filter(({ name, kind }) =>
        kind !== "special" && withinAll(limits, `${directory}${name}${kind === "directory" ? "/" : ""}`)
      )
      .toSorted(byKindAndName())
      .map((entry) => listingEntry(entry, base + encodePath(below))),
    complete,
  };
  const response = prefersJson(call.request.headers.get("Accept"))
    ? textResponse(JSON.stringify(listing), "application/json")
    : textResponse(listingPage(listing), "text/html; charset=utf-8");
  const { headers } = response;
  headers.set("Cache-Control", "private, no-cache");
  headers.set("Vary", "Accept");
  headers.set("Content-Security-Policy", PAGE_POLICY);
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", "no-referrer");
  if (use === undefined) return withoutContent(response);
  await use.finish({ bytes: Number(headers.get("Content-Length")), complete: true });
  return response;
}

function listingEntry({ name, kind, size, modified }: Entry, base: string): ListingEntry {
  const directory = kind === "directory";
  const time = /^(....)(..)(..)(..)(..)(..)$/.exec(modified ?? "");
  return {
    name,
    directory,
    ...(!directory && { size }),
    ...(time !== null && { modified: `${time[1]}-${time[2]}-${time[3]}T${time[4]}:${time[5]}:${time[6]}` }),
    href: `${base}${encodeURIComponent(name)}${directory ? "/" : ""}`,
  };
}

/** Directories first, then in the order of their names, with numbers as numbers. */
function byKindAndName(): (a: Entry, b: Entry) => number {
  const names = new Intl.Collator("en", { numeric: true }); // the first one of a process takes 20 ms
  return (a, b) =>
    Number(b.kind === "directory") - Number(a.kind === "directory") ||
    names.compare(a.name, b.name) || (a.name < b.name ? -1 : 1);
}

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** A page is what browsers and `curl` get; JSON is for those who ask for it and not for a page. */
function prefersJson(accept: string | null): boolean {
  return accept !== null && /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}
