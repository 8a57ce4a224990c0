import { nameOf } from "../../model/absolute_path.ts";
import { HeaderList, type HttpResponse } from "../../model/http_message.ts";
import { type Entry, isWritable } from "../../daemon/session/entry.ts";
import { type Continuation, grants, isDirectory, type Share } from "../../sharing/share.ts";
import { nothingThere } from "../../daemon/session/session_errors.ts";
import type { Call } from "../call.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { parseByteRange } from "./byte_range.ts";
import { directoryArchive } from "./archive/directory_archive.ts";
import { uploadView } from "./share_facts.ts";
import { contentDisposition } from "./content_disposition.ts";
import { inlineType } from "./file_view.ts";
import { directoryListing, localTime } from "./directory_listing.ts";
import { filePage } from "./file_page.ts";
import type { ShareViews } from "./listing.ts";
import { granted, type OpenedShare, openedShare } from "./opened_share.ts";
import { openShareSession } from "./share_session.ts";
import { shareVisitor } from "./share_visitor.ts";
import { isOwnerPreview } from "../share/names.ts";
import { type Begin, type OpenedContent, type UseOfShare, useShare } from "./use_of_share.ts";
import {
  evaluateConditions,
  formatHttpDate,
  rangeApplies,
  type Validators,
  validatorsOf,
} from "./validators.ts";

/**
 * Serves `GET` and `HEAD` of `/rest/access/<server>/<id>[/<path>]`: a file, a range of it, or a listing (rest-api.md 1.13,
 * 2.7, 2.8). A use begins with the content of a file or an archive; pages, listings, previews, `HEAD`, 304, 412 and 416
 * take no use.
 */
export async function download(call: Call, parts: SharingParts, views: ShareViews): Promise<HttpResponse> {
  const wanted = ({ access }: Share) => access === "DROP" && wantsPage(call) ? "DROP" : "READ";
  const asked = await openedShare(call, wanted, parts);
  const { server, id, usesLeft } = asked.share;
  const takesTurns = usesLeft !== undefined && !isOwnerPreview(call, asked.share);
  // Downloads of a limited share begin one at a time: of many that want the last use, only one opens a session.
  const endTurn = takesTurns && await parts.uploads.locks.takeHere(server, `share ${id}`, call.signal);
  try {
    const now = endTurn ? await openedShare(call, wanted, parts, asked) : asked;
    // Archives exist only of directories: a session for the path with a slash reads the whole tree.
    const addsSlash = call.query.get("view") === "zip" && !now.path.endsWith("/");
    const opened = addsSlash ? { ...now, path: `${now.path}/` } : now;
    if (opened.share.access !== "DROP") return await openedDownload(call, opened, parts, views);
    if (opened.path !== opened.share.path) throw nothingThere("nothing of a share for uploads is shown");
    return views.upload(uploadView(call, opened.share, parts.clock()));
  } finally {
    if (endTurn) endTurn();
  }
}

async function openedDownload(call: Call, opened: OpenedShare, parts: SharingParts, views: ShareViews) {
  const { share, path } = opened;
  const isPage = wantsPage(call);
  const ended = new AbortController();
  const signal = AbortSignal.any([call.signal, ended.signal]);
  const session = await openShareSession(call, opened, { path, permission: "READ" }, signal);
  let use: UseOfShare | undefined;
  try {
    const entry = await session.datedEntry(path);
    const { kind } = entry;
    const isThere = kind === "directory" ? isDirectory(share) : kind === "file" && !path.endsWith("/");
    if (!isThere) throw nothingThere("not a file or directory as asked for");
    const begin: Begin = async (headers, ranged) => {
      const version = `${entry.kind} ${entry.size} ${entry.modifiedAt}`;
      const continues = continuation(call, share, headers, { version, ranged });
      const free = isOwnerPreview(call, share);
      return use = await useShare(
        call,
        share,
        { kind: "HTTP-download", path, continues, free, ended },
        parts,
      );
    };
    const view = call.query.get("view");
    if (kind === "directory") {
      if (view === "zip") return await directoryArchive(call, opened, { session, begin });
      const zone = zoneOf(entry);
      const upload = isWritable(entry) && share.usesLeft !== 0 && grants(granted(share, parts), "WRITE");
      return await directoryListing(call, opened, { session, people: views.listing, zone, upload }, parts);
    }
    const isLanding = isPage && view === null && !isDirectory(share) && !call.query.has("download");
    return view === "preview" || isLanding
      ? await filePage(call, opened, entry, { session, views, preview: view === "preview" }, parts)
      : await fileResponse(
        call,
        path,
        { size: entry.size, validators: validatorsOf(entry, parts.clock()) },
        { session, begin },
      );
  } catch (error) {
    session.close();
    await use?.release();
    throw error;
  }
}

/** Only limited shares need to recognise retries and ranges. */
function continuation(
  call: Call,
  share: Share,
  headers: HeaderList,
  facts: Pick<Continuation, "version" | "ranged">,
): Continuation | undefined {
  if (share.usesLeft === undefined) return undefined;
  const { digest, cookie } = shareVisitor(call, share);
  headers.append("Set-Cookie", cookie);
  return { ...facts, visitor: digest };
}

function wantsPage({ request }: Call): boolean {
  return /\btext\/html\b/i.test(request.headers.get("Accept") ?? "");
}

/** Returns a file, or the part that a request with conditions asks for. @param use.begin Called before the content is read. */
export async function fileResponse(
  call: Pick<Call, "request" | "query" | "log">,
  path: string,
  { size, validators }: { readonly size: number; readonly validators: Validators },
  { session, begin }: OpenedContent,
): Promise<HttpResponse> {
  const headers = fileHeaders(path, validators);
  const inline = call.query.get("view") === "inline" ? inlineType(nameOf(path)) : undefined;
  if (inline !== undefined) {
    headers.set("Content-Type", inline);
    headers.set("Content-Disposition", "inline");
    // The PDF viewers of browsers show nothing in a sandbox, and isolate a document's scripts themselves.
    if (inline === "application/pdf") {
      headers.set("Content-Security-Policy", "default-src 'none'; object-src 'self'");
    }
  }
  const requested = call.request.headers;
  const condition = evaluateConditions(requested, validators);
  const head = call.request.method === "HEAD";
  const ranged = !head && rangeApplies(requested, validators);
  const range = parseByteRange(ranged ? requested.get("Range") : null, size);

  const bodiless = (status: number) => {
    session.close();
    return { status, headers, body: null };
  };
  if (condition === "not modified" || condition === "failed" || range.kind === "unsatisfiable") {
    if (condition === "not modified") return bodiless(304);
    headers.set("Content-Length", "0");
    if (condition === "failed") return bodiless(412);
    headers.set("Content-Range", `bytes */${size}`);
    return bodiless(416);
  }
  const { first, last } = range.kind === "part" ? range : { first: 0, last: size - 1 };
  const length = last - first + 1;
  headers.set("Content-Length", String(length));
  if (range.kind === "part") headers.set("Content-Range", `bytes ${first}-${last}/${size}`);
  const status = range.kind === "part" ? 206 : 200;
  if (head) return bodiless(status);
  const use = await begin(headers, range.kind === "part");
  if (length === 0) {
    await use.finish({ bytes: 0, complete: true });
    return bodiless(status);
  }
  const body = await session.download(path, {
    first,
    length,
    done: (result, error) => {
      if (!result.complete) call.log.warn("download ended early", { ...result, error });
      void use.finish(result);
    },
  });
  return { status, headers, body };
}

/** Derives the offset of the daemon's host from UTC, in minutes, from its two forms of the modification time. */
export function zoneOf(
  { modified, modifiedAt }: Entry & { readonly modifiedAt?: number },
): number | undefined {
  const local = localTime(modified);
  if (local === undefined || modifiedAt === undefined) return undefined;
  const minutes = Math.round((Date.parse(`${local}Z`) - modifiedAt) / 60_000);
  return Math.abs(minutes) <= 15 * 60 ? minutes : undefined;
}

/** Headers that keep a browser from running the file in the origin of the service. */
function fileHeaders(path: string, { etag, modifiedAt, settled }: Validators): HeaderList {
  const headers = HeaderList.of({
    "Content-Type": "application/octet-stream",
    "Content-Disposition": contentDisposition(nameOf(path)),
    "Accept-Ranges": settled ? "bytes" : "none",
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    ETag: etag,
  });
  if (settled && modifiedAt !== undefined) headers.set("Last-Modified", formatHttpDate(modifiedAt));
  return headers;
}
