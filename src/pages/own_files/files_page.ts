import type { DaemonSession } from "../../daemon/session/daemon_session.ts";
import { nothingThere } from "../../daemon/session/session_errors.ts";
import { isWritable } from "../../daemon/session/entry.ts";
import type { DatedEntry } from "../../files/files.ts";
import { nameOf, parentOf } from "../../model/absolute_path.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { directoryArchive } from "../../resource/access/archive/directory_archive.ts";
import { partOf } from "../../resource/access/directory_listing.ts";
import { fileResponse, zoneOf } from "../../resource/access/download.ts";
import { previewOf } from "../../resource/access/file_page.ts";
import type { UploadTarget } from "../../resource/access/listing.ts";
import { ListingPart } from "../../resource/access/listing_part.ts";
import { parseListingQuery } from "../../resource/access/listing_query.ts";
import { validatorsOf } from "../../resource/access/validators.ts";
import type { Call } from "../../resource/call.ts";
import { refusalOn } from "../../resource/dav/dav.ts";
import { type DavParts, davPlace, untilBan } from "../../resource/dav/dav_call.ts";
import { ownBrowser } from "../../resource/form.ts";
import type { ServerFacts } from "../../resource/server_facts.ts";
import { redirect } from "../../resource/text_response.ts";
import { trailLinks } from "../about_share.ts";
import { entryTable, uploadSection } from "../listing_page.ts";
import { isolated, markup } from "../markup.ts";
import { message } from "../messages.ts";
import { pageResponse } from "../page.ts";
import { content } from "../share_views.ts";
import { size } from "../quantities.ts";
import { TEXTS } from "../texts.ts";
import { UPLOAD_NEEDS } from "../upload_fields.ts";
import { actionsPage, newDirectoryForm } from "./file_actions.ts";
import { hrefOf, type OwnPlace, trailOf } from "./own_place.ts";

const SAYS = TEXTS.files;

const MAX_ENTRIES = 1000;

/** Serves `GET /files`: the servers on which the caller has an account. */
export function filesPage(call: Call, { servers }: DavParts): HttpResponse {
  const usable: ServerFacts[] = [];
  const refused = [...servers.values()].flatMap((server) => {
    const error = refusalOn(call, server);
    if (error === undefined) usable.push(server);
    return error === undefined || error.code === "ERR_NO_ACCOUNT"
      ? []
      : markup`<p class="note">${isolated(server.name)}: ${message(error.publicMessage)}</p>`;
  });
  return pageResponse(call, {
    title: SAYS.title,
    current: "files",
    body: usable.length === 0
      ? (refused.length > 0 ? refused : markup`<p>${SAYS.noServer}</p>`)
      : markup`${refused}<ul class="entries">
${
        usable.map(({ name, description, daemons }) =>
          markup`<li><a href="${call.root}files/${encodeURIComponent(name)}/~/">${isolated(name)}</a>
<p class="quiet">${description}${
            !daemons.status().usable && [" · ", TEXTS.home.down]
          } · <a href="${call.root}files/${
            encodeURIComponent(name)
          }/">${SAYS.top}<span class="hidden"> ${name}</span></a></p></li>
`
        )
      }</ul>`,
  });
}

/** Serves `GET /files/<server>/<path>`: a directory, a file, or with `view` its preview, actions or archive. */
export function ownFilePage(call: Call, parts: DavParts): Promise<HttpResponse> {
  return untilBan(call, parts, async (call, begin) => {
    const { files, target: { path, wantsDirectory }, user: { server } } = await davPlace(call, parts);
    const session = await files.open(path, call.signal);
    try {
      const entry = await session.datedEntry(path);
      if (entry.kind === "special" || (entry.kind === "file" && wantsDirectory)) {
        throw nothingThere("neither file nor directory");
      }
      const isDirectory = entry.kind === "directory";
      const full = isDirectory && path !== "/" ? `${path}/` : path;
      const place = { files, server, path: full, href: hrefOf(call, server, full) };
      const isHome = call.params.get("rest")?.startsWith("~");
      if (isDirectory && (!wantsDirectory || isHome)) {
        session.close();
        return redirect(place.href + (call.query.size > 0 ? `?${call.request.query}` : ""));
      }
      const view = call.query.get("view");
      if (view === "actions") return await actionsPage(call, place, { session, entry });
      return isDirectory
        ? view === "zip"
          ? await directoryArchive(call, { server: { name: server }, path: full }, { session, begin })
          : await directoryPage(call, place, { session, entry })
        : view === "preview"
        ? await previewPage(call, place, { session, entry, parts })
        : await fileResponse(call, path, { ...entry, validators: validatorsOf(entry, parts.clock()) }, {
          session,
          begin,
        });
    } catch (error) {
      session.close();
      throw error;
    }
  });
}

async function directoryPage(
  call: Call,
  place: OwnPlace,
  { session, entry }: { readonly session: DaemonSession; readonly entry: DatedEntry },
): Promise<HttpResponse> {
  const { files, server, path, href } = place;
  const query = parseListingQuery(call.query);
  const read = await new ListingPart(query, MAX_ENTRIES).read(session, path);
  session.close();
  const trail = trailOf(call, server, path);
  const listing = { ...partOf(trail, query, read), zone: zoneOf(entry) };
  const { permission } = files.confine(path);
  const writes = isWritable(entry) && (permission === "WRITE" || permission === "FULL");
  const name = path === "/" ? server : nameOf(path);
  return pageResponse(call, {
    title: name,
    heading: isolated(name),
    current: "files",
    body: [
      trailLinks(trail),
      markup`<p><a class="button" href="?view=zip" rel="nofollow">${TEXTS.listing.zip}</a>${
        path !== "/" && markup` <a href="?view=actions">${SAYS.actions}</a>`
      }</p>
`,
      writes && uploadSection(targetOf(call, href)),
      writes && newDirectoryForm(call, href),
      ...entryTable(listing, {
        previews: true,
        actions: ({ href, name }) =>
          markup`<a href="${href}?view=actions" aria-label="${
            SAYS.actionsOf.with({ name })
          }">${SAYS.actions}</a>`,
      }),
    ],
    footer: markup`<p>${TEXTS.listing.neverListed}</p>`,
    needs: writes ? UPLOAD_NEEDS : { forms: true },
  });
}

/** Uploads of own files ask before they replace something. */
function targetOf(call: Call, href: string): UploadTarget {
  const form = href.replace(`${call.root}files/`, `${call.root}files-upload/`);
  return { to: href, form, taken: "ask", formToken: ownBrowser(call).formToken };
}

async function previewPage(
  call: Call,
  { server, path, href }: OwnPlace,
  { session, entry, parts }: {
    readonly session: DaemonSession;
    readonly entry: DatedEntry;
    readonly parts: DavParts;
  },
): Promise<HttpResponse> {
  const name = nameOf(path);
  const shown = await previewOf(session, path, entry.size, parts);
  return pageResponse(call, {
    title: name,
    heading: isolated(name),
    about: size(entry.size),
    current: "files",
    body: [
      trailLinks(trailOf(call, server, parentOf(path)), { last: false }),
      markup`<p><a class="button" href="${href}">${TEXTS.file.download}</a> <a href="?view=actions">${SAYS.actions}</a></p>
`,
      content({ name, shown }),
    ],
    needs: shown.kind === "image" ? { images: true } : {},
  });
}
