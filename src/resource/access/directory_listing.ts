import { withinAll } from "../../sharing/rules/owner_limits.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { HeaderList } from "../../model/header_list.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { Call } from "../call.ts";
import { invalidRequest } from "../invalid_request.ts";
import { longTextResponse } from "../long_text.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { JSON_LISTING, type Listing, type ListingEntry, type ListingForm } from "./listing.ts";
import { ListingPart } from "./listing_part.ts";
import type { OpenedShare } from "./opened_share.ts";
import type { UseOfShare } from "./use_of_share.ts";

/**
 * Answers with the entries of a directory that the share covers: in the form for people, or as JSON if that is asked for. Long listings
 * come in parts, of which each names the next; `after` in the query says behind which entry a part begins.
 */
export async function directoryListing(
  call: Call,
  { share, path, limits }: OpenedShare,
  { session, use, people }: {
    readonly session: DaemonSession;
    readonly use: UseOfShare | undefined;
    readonly people: ListingForm;
  },
  { unread }: SharingParts,
): Promise<HttpResponse> {
  const form = prefersJson(call.request.headers.get("Accept")) ? JSON_LISTING : people;
  const [after, again] = call.query.getAll("after");
  if (again !== undefined) throw invalidRequest("after: expected once in the query");
  const part = new ListingPart(after);
  const headers = { ...form.headers, "Cache-Control": "private, no-cache" };
  if (use === undefined) {
    session.close();
    return { status: 200, headers: HeaderList.of({ ...headers, "Content-Type": form.type }), body: null };
  }
  const directory = path.endsWith("/") ? path : `${path}/`;
  let omitted = 0;
  const { complete, unreadable } = await session.list(directory, (entry) => {
    const { name, kind } = entry;
    if (!withinAll(limits, `${directory}${name}${kind === "directory" ? "/" : ""}`)) return;
    if (kind === "special") omitted++;
    else part.add(entry);
  });
  session.close();
  const { entries, next } = part.finish();
  const base = `${call.base}/rest/access/${share.server}/${share.id}/`;
  const listing = listingOf(directory.slice(share.path.length), { base, entries, next }, {
    complete,
    omitted: omitted + unreadable,
  });
  return await longTextResponse(
    {
      pieces: form.pieces(listing),
      type: form.type,
      bytes: entries.reduce((sum, { name }) => sum + 200 + 2 * name.length, 0),
      done: async (result) => {
        try {
          await use.finish(result);
        } catch (error) {
          call.log.error("share use not recorded", { error });
        }
      },
    },
    unread,
    { headers: { ...headers, ...(listing.next !== undefined && { Link: `<${listing.next}>; rel="next"` }) } },
  );
}

/** @param below Path of the directory below that of the share. */
function listingOf(
  below: string,
  { base, entries, next }: {
    readonly base: string;
    readonly entries: readonly Entry[];
    readonly next: string | undefined;
  },
  { complete, omitted }: Pick<Listing, "complete" | "omitted">,
): Listing {
  const here = base + encodePath(below);
  const parent = base + encodePath(below.slice(0, below.slice(0, -1).lastIndexOf("/") + 1));
  return {
    path: below,
    ...(below !== "" && { parent }),
    entries: lazily(entries, (entry) => listingEntry(entry, here)),
    shown: entries.length,
    complete: complete && next === undefined,
    omitted,
    ...(next !== undefined && { next: `${here}?after=${encodeURIComponent(next)}` }),
  };
}

function* lazily<T, U>(items: readonly T[], make: (item: T) => U): Generator<U, void> {
  for (const item of items) yield make(item);
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

function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/** A page is what browsers and `curl` get; JSON is for those who ask for it and not for a page. */
function prefersJson(accept: string | null): boolean {
  return accept !== null && /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b/i.test(accept);
}
