import { nameOf } from "../../model/absolute_path.ts";
import { HeaderList } from "../../model/header_list.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import { type Entry, isWritable } from "../../daemon/session/entry.ts";
import { grants } from "../../sharing/access_level.ts";
import { nothingThere } from "../../daemon/session/session_errors.ts";
import type { Call } from "../call.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { parseByteRange } from "./byte_range.ts";
import { directoryArchive } from "./archive/directory_archive.ts";
import type { Share } from "../../sharing/share.ts";
import { uploadView } from "./share_facts.ts";
import { contentDisposition } from "./content_disposition.ts";
import { imageType } from "./file_view.ts";
import { directoryListing, localTime } from "./directory_listing.ts";
import { filePreview } from "./file_preview.ts";
import type { ShareViews } from "./listing.ts";
import { granted, type OpenedShare, openedShare } from "./opened_share.ts";
import { openShareSession } from "./share_session.ts";
import { type UseOfShare, useShare } from "./use_of_share.ts";
import {
  evaluateConditions,
  formatHttpDate,
  rangeApplies,
  type Validators,
  validatorsOf,
} from "./validators.ts";

/**
 * Serves `GET` and `HEAD` of `/rest/access/<server>/<id>[/<path>]`: a file, a range of it, or a listing (rest-api.md 1.13,
 * 2.7, 2.8). A use counts when data is sent; `HEAD`, 304, 412 and 416 do not count.
 */
export async function download(
  call: Call,
  parts: SharingParts,
  views: ShareViews,
): Promise<HttpResponse> {
  const isPage = /\btext\/html\b/i.test(call.request.headers.get("Accept") ?? "");
  const wanted = ({ access }: Share) => access === "DROP" && isPage ? "DROP" : "READ";
  const opened = asDirectory(await openedShare(call, wanted, parts), call);
  if (opened.share.access === "DROP") {
    if (opened.path !== opened.share.path) throw nothingThere("nothing of a share for uploads is shown");
    return views.upload(uploadView(call, opened.share, parts.clock()));
  }
  const head = call.request.method === "HEAD";
  // Reserved before the daemon is called: of many requests for the last use only the first costs a session.
  const use = head
    ? undefined
    : await useShare(call, opened.share, { kind: "HTTP-download", path: opened.path }, parts);
  let session: DaemonSession | undefined;
  try {
    session = await openShareSession(
      call,
      opened,
      { path: opened.path, permission: "READ" },
      use?.signal ?? call.signal,
    );
    const entry = await session.datedEntry(opened.path);
    if (entry.kind === "special" || (entry.kind === "file" && opened.path.endsWith("/"))) {
      throw nothingThere("not a file or directory as asked for");
    }
    if (entry.kind === "directory") {
      if (call.query.get("view") === "zip") return directoryArchive(call, opened, { session, use });
      const zone = zoneOf(entry);
      const upload = takesFiles(opened.share, entry, parts);
      return await directoryListing(
        call,
        opened,
        { session, use, people: views.listing, zone, upload },
        parts,
      );
    }
    return call.query.get("view") === "preview"
      ? await filePreview(call, opened, entry, { session, use, preview: views.preview })
      : await fileResponse(call, opened, entry, { session, use }, parts);
  } catch (error) {
    session?.close();
    await use?.giveBack();
    throw error;
  }
}

/** Archives exist only of directories: a session for the path with a slash reads the whole tree. */
function asDirectory(opened: OpenedShare, { query }: Call): OpenedShare {
  const { path } = opened;
  return query.get("view") === "zip" && !path.endsWith("/") ? { ...opened, path: `${path}/` } : opened;
}

/** Reports whether the page offers uploads; a share with one remaining use needs it for the file. */
function takesFiles(share: Share, entry: Entry, parts: SharingParts): boolean {
  const { usesLeft = Infinity } = share;
  return isWritable(entry) && usesLeft > 1 && grants(granted(share, parts), "WRITE");
}

async function fileResponse(
  call: Call,
  { path }: OpenedShare,
  entry: Entry & { readonly modifiedAt?: number },
  { session, use }: { readonly session: DaemonSession; readonly use: UseOfShare | undefined },
  { clock }: SharingParts,
): Promise<HttpResponse> {
  const { size } = entry;
  const validators = validatorsOf(entry, clock());
  const headers = fileHeaders(path, validators);
  const image = call.query.get("view") === "image" ? imageType(nameOf(path)) : undefined;
  if (image !== undefined) {
    headers.set("Content-Type", image);
    headers.set("Content-Disposition", "inline");
  }
  const requested = call.request.headers;
  const condition = evaluateConditions(requested, validators);
  const ranged = use !== undefined && rangeApplies(requested, validators);
  const range = parseByteRange(ranged ? requested.get("Range") : null, size);

  const bodiless = (status: number) => {
    session.close();
    return { status, headers, body: null };
  };
  if (condition === "not modified" || condition === "failed" || range.kind === "unsatisfiable") {
    await use?.giveBack();
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
  if (use === undefined) return bodiless(status);
  if (length === 0) {
    await use.finish({ bytes: 0, complete: true });
    return bodiless(status);
  }
  const body = await session.download(path, {
    first,
    length,
    done: (result, error) => {
      if (!result.complete) call.log.warn("share download ended early", { ...result, error });
      void use.finish(result);
    },
  });
  return { status, headers, body };
}

/** Derives the offset of the daemon's host from UTC, in minutes, from its two forms of the modification time. */
function zoneOf({ modified, modifiedAt }: Entry & { readonly modifiedAt?: number }): number | undefined {
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
