import type { HttpResponse } from "../../model/http_message.ts";
import { parentOf } from "../../model/absolute_path.ts";
import type { Call } from "../../resource/call.ts";
import { sharedServer } from "../../resource/share/shared_server.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { isolated, markup } from "../markup.ts";
import { pageResponse } from "../page.ts";
import { size } from "../quantities.ts";
import { TEXTS } from "../texts.ts";
import { openFiles } from "../../files/files.ts";
import { mediatedScope } from "../../files/session_scope.ts";
import { ListingPart } from "../../resource/access/listing_part.ts";
import { parseListingQuery } from "../../resource/access/listing_query.ts";
import { fullPath, shareAccount } from "../../resource/share/checked_path.ts";
import { checkTokenUse } from "../../resource/token_limits.ts";

const SAYS = TEXTS.shares;

/** Serves `GET /shares/<server>/browse`: the caller's directories, to choose what to share. */
export async function browsePage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name: server } = sharedServer(call, parts);
  const { path, entries, next } = await ownDirectory(call, call.query.get("path") ?? "", parts);
  const here = `${call.root}shares/${server}`;
  const at = (page: "browse" | "new", path: string, more = {}) =>
    `${here}/${page}?${new URLSearchParams({ path, ...more })}`;
  const more = next !== undefined &&
    markup`<p><a href="${at("browse", path, { after: next })}">${SAYS.next}</a></p>`;
  return pageResponse(call, {
    title: SAYS.choose.with({ server }),
    current: "shares",
    body: markup`<h2>${isolated(path)}</h2>
<p><a class="button" href="${at("new", path)}">${SAYS.shareThis}</a></p>
${path !== "/" && markup`<p><a href="${at("browse", parentOf(path.slice(0, -1)))}">${SAYS.up}</a></p>`}
${more}<div class="wide"><table>
<caption>${TEXTS.listing.entries.with({ count: entries.length })}</caption>
<thead><tr><th scope="col">${TEXTS.listing.name}</th><th scope="col" class="number">${TEXTS.listing.size}</th><td></td></tr></thead>
<tbody>
${
      entries.map(({ name, kind, size: bytes }) => {
        const isDirectory = kind === "directory";
        const full = `${path}${name}${isDirectory ? "/" : ""}`;
        const link = markup`<a href="${at("browse", full)}">${isolated(`${name}/`)}</a>`;
        const label = SAYS.shareNamed.with({ name });
        return markup`<tr><td>${isDirectory ? link : isolated(name)}</td>
<td class="number">${!isDirectory && size(bytes)}</td>
<td><a href="${at("new", full)}" aria-label="${label}">${SAYS.share}</a></td></tr>
`;
      })
    }</tbody>
</table></div>
${more}`,
  });
}

const MAX_ENTRIES = 500;

/** Lists one of the caller's directories under their account. @param path Empty is the home directory. */
async function ownDirectory(call: Call, path: string, parts: SharingParts) {
  const server = sharedServer(call, parts);
  const account = shareAccount(call, server.name);
  const directory = await fullPath(
    path === "" || path.endsWith("/") ? path : `${path}/`,
    () => account.uid,
    server,
    call.signal,
  );
  call.audit({ uid: account.uid, gid: account.gid, path: directory });
  checkTokenUse(call, directory, "READ");
  const part = new ListingPart(parseListingQuery(call.query), MAX_ENTRIES);
  using session = await openFiles(server.sessions, {
    user: account.uid,
    group: account.groups,
    scope: mediatedScope(directory),
    permission: "INFO",
    rateLimit: 0,
    instance: server.instance,
    limits: [account],
  }, call.signal);
  return { path: directory, ...await part.read(session, directory) };
}
