import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { HeaderList, type HttpResponse } from "../../model/http_message.ts";
import type { Call } from "../call.ts";
import { longTextResponse } from "../long_text.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { type Entries, JSON_LISTING, type Listing, type ListingEntry, type ListingForm } from "./listing.ts";
import { ListingPart } from "./listing_part.ts";
import { type ListingQuery, listingQueryText, parseListingQuery } from "./listing_query.ts";
import type { OpenedShare } from "./opened_share.ts";
import { encodePath, shareFacts, trailTo, uploadTarget } from "./share_facts.ts";
import { recordView } from "./use_of_share.ts";

/**
 * Answers with the entries of a directory, as a page or as JSON, in parts that each name the next.
 * @param zone Offset of the daemon's host from UTC, in minutes. @param upload Whether the page offers uploads.
 */
export async function directoryListing(
  call: Call,
  opened: OpenedShare,
  { session, people, zone, upload }: {
    readonly session: DaemonSession;
    readonly people: ListingForm;
    readonly zone: number | undefined;
    readonly upload: boolean;
  },
  parts: SharingParts,
): Promise<HttpResponse> {
  const { share, path } = opened;
  const accept = call.request.headers.get("Accept") ?? ""; // browsers and `curl` get a page
  const json = /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
  const form = json ? JSON_LISTING : people;
  const query = parseListingQuery(call.query);
  const part = new ListingPart(query, json ? undefined : people.most);
  const keeping = call.caller.kind === "anonymous" ? "no-cache" : "no-store"; // as for pages
  const headers = { ...form.headers(upload), "Cache-Control": `private, ${keeping}` };
  if (call.request.method === "HEAD") {
    session.close();
    return { status: 200, headers: HeaderList.of({ ...headers, "Content-Type": form.type }), body: null };
  }
  await recordView(call, share, path, parts);
  const directory = path.endsWith("/") ? path : `${path}/`;
  const read = await part.read(session, directory);
  session.close();
  const listing: Listing = {
    ...partOf(trailTo(call, share, directory), query, read),
    path: directory.slice(share.path.length),
    zone,
    share: shareFacts(call, share, `${directory}*`),
    upload: upload ? uploadTarget(call, share, directory) : undefined,
    now: parts.clock(),
  };
  return await longTextResponse(
    {
      pieces: form.pieces(listing),
      type: form.type,
      bytes: read.entries.reduce((sum, { name }) => sum + 200 + 2 * name.length, 0),
    },
    parts.unread,
    { headers: { ...headers, ...(listing.next !== undefined && { Link: `<${listing.next}>; rel="next"` }) } },
  );
}

/** Returns the part of a listing for people. @param trail Ends with the directory. */
export function partOf(
  trail: Listing["trail"],
  query: ListingQuery,
  { entries, next, ...rest }: Awaited<ReturnType<ListingPart["read"]>>,
): Omit<Entries, "zone"> {
  const here = trail.at(-1)?.href ?? "";
  return {
    ...rest,
    trail,
    query,
    entries: entries.values().map((entry) => listingEntry(entry, here)), // one at a time
    shown: entries.length,
    next: next === undefined ? undefined : `${here}?${listingQueryText({ ...query, after: next })}`,
  };
}

function listingEntry({ name, kind, size, modified }: Entry, base: string): ListingEntry {
  const directory = kind === "directory";
  const time = localTime(modified);
  return {
    name,
    directory,
    ...(!directory && { size }),
    ...(time !== undefined && { modified: time }),
    href: `${base}${encodePath(name)}${directory ? "/" : ""}`,
  };
}

/** Converts `YYYYMMDDhhmmss` to `YYYY-MM-DDThh:mm:ss`. */
export function localTime(digits: string | undefined): string | undefined {
  const time = /^(....)(..)(..)(..)(..)(..)$/.exec(digits ?? "");
  return time === null ? undefined : `${time[1]}-${time[2]}-${time[3]}T${time[4]}:${time[5]}:${time[6]}`;
}
