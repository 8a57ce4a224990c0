import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import type { Entry } from "../../daemon/session/entry.ts";
import { nameOf, parentOf } from "../../model/absolute_path.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { isDirectory } from "../../sharing/share.ts";
import type { Call } from "../call.ts";
import { imageType } from "./file_view.ts";
import type { FilePreview } from "./listing.ts";
import type { OpenedShare } from "./opened_share.ts";
import { encodePath, shareAddress, trailTo } from "./share_facts.ts";
import type { UseOfShare } from "./use_of_share.ts";

const MOST_SHOWN = 64 * 1024;

/**
 * Serves `GET` of a file with `view=preview`: a page with the picture or the beginning of a text. Counts as a download of
 * the bytes read.
 */
export async function filePreview(
  call: Call,
  { share, path }: OpenedShare,
  { size }: Pick<Entry, "size">,
  { session, use, preview }: {
    readonly session: DaemonSession;
    readonly use: UseOfShare | undefined;
    readonly preview: (preview: FilePreview) => HttpResponse;
  },
): Promise<HttpResponse> {
  const trail = isDirectory(share) ? trailTo(call, share, parentOf(path)) : [];
  const name = nameOf(path);
  const href = trail.at(-1)?.href ?? shareAddress(call, share);
  const facts = { name, size, trail, href: trail.length > 0 ? href + encodePath(name) : href };
  if (imageType(name) !== undefined) {
    session.close();
    await use?.giveBack(); // its picture will count
    return preview({ ...facts, shown: { kind: "image", href: "?view=image" } });
  }
  const length = Math.min(size, MOST_SHOWN);
  if (use === undefined || length === 0) {
    session.close();
    await use?.finish({ bytes: 0, complete: true });
    return preview({ ...facts, shown: { kind: "text", text: "", whole: true } });
  }
  const body = await session.download(path, {
    first: 0,
    length,
    done: (result) => void use.finish(result),
  });
  const text = textOf(new Uint8Array(await new Response(body).arrayBuffer()));
  return preview({
    ...facts,
    shown: text === undefined ? { kind: "nothing" } : { kind: "text", text, whole: length === size },
  });
}

/** Returns the bytes as text if they are UTF-8. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    // The last character may be cut.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
