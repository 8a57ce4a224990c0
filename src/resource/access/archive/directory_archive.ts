import { HeaderList, type HttpResponse } from "../../../model/http_message.ts";
import { nameOf, withoutSlash } from "../../../model/absolute_path.ts";
import type { Call } from "../../call.ts";
import { contentDisposition } from "../content_disposition.ts";
import type { OpenedContent } from "../use_of_share.ts";
import { resumed, SharedTree } from "./shared_tree.ts";
import { zipArchive } from "./zip_archive.ts";

/** Serves `GET` with `view=zip`: streams an archive, and aborts it on an error. @throws If the daemon does not list the directory. */
export async function directoryArchive(
  call: Call,
  { server, path }: { readonly server: { readonly name: string }; readonly path: string },
  { session, begin }: OpenedContent,
): Promise<HttpResponse> {
  const name = nameOf(withoutSlash(path)) || server.name;
  const headers = HeaderList.of({
    "Content-Type": "application/zip",
    "Content-Disposition": contentDisposition(`${name}.zip`),
    "Accept-Ranges": "none",
    "Cache-Control": "private, no-store",
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  });
  if (call.request.method === "HEAD") {
    session.close();
    return { status: 200, headers, body: null };
  }
  const use = await begin(headers, false);
  const pieces = zipArchive(new SharedTree(session).entries(path, name));
  // Waits for the listing: a directory that the daemon does not list gets an error in place of a cut archive.
  const begun = resumed(await pieces.next(), pieces);
  const body = streamOf(begun, (bytes, complete, error) => {
    session.close();
    if (!complete) call.log.warn("archive ended early", { bytes, error });
    void use.finish({ bytes, complete });
  });
  return { status: 200, headers, body };
}

function streamOf(
  pieces: AsyncGenerator<Uint8Array<ArrayBuffer>, void>,
  done: (bytes: number, complete: boolean, error?: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  let over = false;
  const end = (complete: boolean, error?: unknown) => {
    if (!over) done(bytes, complete, error);
    over = true;
  };
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done: ended, value } = await pieces.next();
        if (ended === true) {
          end(true);
          return controller.close();
        }
        bytes += value.length;
        controller.enqueue(value);
      } catch (error) {
        if (!over) controller.error(error);
        end(false, error);
      }
    },
    cancel(reason) {
      end(false, reason); // also closes the session, for which a piece may be waiting
      void pieces.return().catch(() => {});
    },
  }, { highWaterMark: 0 });
}
