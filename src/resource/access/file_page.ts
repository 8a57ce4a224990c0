import { attempt } from "../../model/attempt.ts";
import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { nameOf, parentOf } from "../../model/absolute_path.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { isDirectory } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { imageType, previewQuery } from "./file_view.ts";
import type { FileView, ShareViews } from "./listing.ts";
import type { OpenedShare } from "./opened_share.ts";
import { encodePath, shareAddress, shareFacts, trailTo } from "./share_facts.ts";
import { recordView } from "./use_of_share.ts";

const MAX_SHOWN = 64 * 1024;

/** Serves the page of a file, with `view=preview` also its content. Takes no use, so limited shares show no content. */
export async function filePage(
  call: Call,
  { share, path }: OpenedShare,
  { size }: Pick<Entry, "size">,
  { session, views, preview }: {
    readonly session: DaemonSession;
    readonly views: Pick<ShareViews, "file">;
    readonly preview: boolean;
  },
  parts: SharingParts,
): Promise<HttpResponse> {
  const trail = isDirectory(share) ? trailTo(call, share, parentOf(path)) : [];
  const name = nameOf(path);
  const address = trail.length > 0
    ? `${trail.at(-1)?.href ?? ""}${encodePath(name)}`
    : shareAddress(call, share);
  const about = shareFacts(call, share, path);
  const page = (shown: FileView["shown"]) =>
    views.file({ name, size, trail, href: `${address}?download`, share: about, now: parts.clock(), shown });
  const closed = (shown: FileView["shown"]) => {
    session.close();
    return page(shown);
  };
  if (call.request.method === "HEAD") return { ...closed({ kind: "nothing" }), body: null };
  await recordView(call, share, path, parts);
  if (about.counted) return closed({ kind: preview ? "limited" : "nothing" });
  const query = previewQuery(name, size);
  if (!preview) {
    return closed(query === undefined ? { kind: "nothing" } : { kind: "offer", href: `${address}?${query}` });
  }
  return page(await previewOf(session, path, size, parts));
}

/** Returns the preview of a file; closes the session. */
export async function previewOf(
  session: DaemonSession,
  path: string,
  size: number,
  { transferred }: Pick<SharingParts, "transferred">,
): Promise<FileView["shown"]> {
  using _ = session;
  if (imageType(nameOf(path)) !== undefined) return { kind: "image", href: "?view=inline" };
  const length = Math.min(size, MAX_SHOWN);
  if (length === 0) return { kind: "text", text: "", whole: true };
  const done = ({ bytes }: { readonly bytes: number }) => transferred?.("download", bytes);
  const body = await session.download(path, { first: 0, length, done });
  const text = textOf(new Uint8Array(await new Response(body).arrayBuffer()));
  return text === undefined ? { kind: "unknown" } : { kind: "text", text, whole: length === size };
}

function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // A stream, since the last character may be cut.
  return attempt(() => decoder.decode(bytes, { stream: true }), TypeError, () => undefined);
}
