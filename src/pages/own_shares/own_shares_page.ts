import type { HttpResponse } from "../../model/http_message.ts";
import { refuse, type ServiceError } from "../../model/service_error.ts";
import type { Call } from "../../resource/call.ts";
import { FORM_TOKEN, readOwnForm } from "../../resource/form.ts";
import { makeShare } from "../../resource/share/create_share.ts";
import { deleteShare } from "../../resource/share/delete_share.ts";
import { nameOnServer } from "../../resource/share/names.ts";
import { ownShare } from "../../resource/share/own_share.ts";
import { ownersView } from "../../resource/share/share_json.ts";
import { sharedServer } from "../../resource/share/shared_server.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { changeShare } from "../../resource/share/update_share.ts";
import { emptyResponse } from "../../resource/text_response.ts";
import { EVERYBODY, type Share, type Use } from "../../sharing/share.ts";
import { type Content, isolated, type Markup, markup } from "../markup.ts";
import { pageResponse } from "../page.ts";
import { personName } from "../person_name.ts";
import { distance, moment, size } from "../quantities.ts";
import { toSignIn } from "../sign_in_page.ts";
import { signedInAside } from "../signed_in_aside.ts";
import { TEXTS } from "../texts.ts";
import type { Asked } from "../visit.ts";
import copyScript from "./copy.js" with { type: "text" };
import { lifetimeField, lifetimeIn, shareFields, shareRequest } from "./share_form.ts";

const SAYS = TEXTS.shares;

/** Shares of a server on the page; older ones first. */
const MOST_SHARES = 500;
/** Uses of a share on its page. */
const MOST_USES = 100;

/** `GET /shares`: what the caller shares, on all servers. */
export async function ownSharesPage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const servers = [...parts.servers.values()].filter(({ name, sharing }) =>
    sharing && parts.sessions.has(name)
  );
  const sections = await Promise.all(servers.map(async ({ name }) => {
    const owner = nameOnServer(call, name);
    const shares = owner === EVERYBODY ? [] : await parts.store.ownedBy(name, owner, { most: MOST_SHARES });
    return markup`<section aria-labelledby="server-${name}">
<header><h2 id="server-${name}">${isolated(name)}</h2></header>
<p><a class="button" href="${call.root}shares/${name}/browse">${SAYS.make}</a></p>
${shares.length === 0 ? markup`<p>${SAYS.none}</p>` : sharesTable(call, shares, parts)}
</section>
`;
  }));
  return page(call, SAYS.title, [
    markup`<p><a href="${call.root}">${SAYS.home}</a></p>`,
    sections,
    servers.length === 0 && markup`<p>${SAYS.noServer}</p>`,
  ]);
}

function sharesTable(call: Call, shares: readonly Share[], { clock }: SharingParts): Markup {
  return markup`<div class="wide"><table>
<caption>${SAYS.count(shares.length)}</caption>
<thead><tr><th scope="col">${SAYS.path}</th><th scope="col">${SAYS.whom}</th><th scope="col">${SAYS.access}</th>
<th scope="col">${SAYS.end}</th><th scope="col" class="number">${SAYS.used}</th></tr></thead>
<tbody>
${
    shares.map((share) =>
      markup`<tr><td><a href="${call.root}shares/${share.server}/${share.id}">${isolated(share.path)}</a></td>
<td>${whom(share)}</td><td>${SAYS.accessLevels[share.access]}</td><td>${end(share, clock())}</td>
<td class="number">${share.accessCount}</td></tr>
`
    )
  }</tbody>
</table></div>`;
}

/** `GET /shares/<server>/new`: the form for a share. */
export function newSharePage(call: Call, parts: SharingParts): HttpResponse {
  const { name } = sharedServer(call, parts);
  const path = call.query.get("path") ?? "";
  const browsed = new URLSearchParams({ path: folderOf(path) }).toString();
  return page(call, SAYS.newOn(name), [
    markup`<p><a href="${call.root}shares/${name}/browse?${browsed}">${SAYS.browse}</a></p>`,
    ownForm(call, `shares/${name}`, [shareFields(path, parts), markup`<p><button>${SAYS.make}</button></p>`]),
  ]);
}

/** `POST /shares/<server>`: makes a share, or gives the one of the same path for the same people new terms. */
export async function makeShareByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const share = await makeShare(call, shareRequest(await readOwnForm(call)), parts);
  if (share === undefined) throw refuse("ERR_PAGE_OUTDATED", "access NONE, which the form does not offer");
  return emptyResponse({
    status: 303,
    headers: { Location: `${call.root}shares/${share.server}/${share.id}` },
  });
}

/** `GET /shares/<server>/<id>`: one of the caller's shares: its link, who used it, and how it is changed or ended. */
export async function ownSharePage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share === undefined) throw refuse("ERR_SHARE_NOT_FOUND");
  const uses = await parts.store.usesOf(name, share.id, MOST_USES);
  const { http } = ownersView(share, call.base, parts.clock());
  const here = `shares/${name}/${share.id}`;
  return page(call, SAYS.shareOf(share.path), [
    markup`<p><a href="${call.root}shares">${SAYS.title}</a></p>
<section aria-labelledby="link"><header><h2 id="link">${SAYS.link}</h2></header>
<form class="fields"><p><label for="address">${SAYS.linkHelp(share.target === EVERYBODY)}</label>
<input id="address" class="long" readonly value="${http}"> <button type="button" hidden data-copy="address" data-done="${SAYS.copied}">${SAYS.copy}</button></p></form>
<p><a href="${http}">${SAYS.look}</a></p>
<dl><dt>${SAYS.whom}</dt><dd>${whom(share)}</dd><dt>${SAYS.access}</dt><dd>${
      SAYS.accessLevels[share.access]
    }</dd>
<dt>${SAYS.end}</dt><dd>${end(share, parts.clock())}</dd>
${share.usesLeft !== undefined && markup`<dt>${SAYS.usesLeft}</dt><dd>${share.usesLeft}</dd>`}
${share.password !== undefined && markup`<dt>${SAYS.hasPassword}</dt><dd>${SAYS.isAsked}</dd>`}
${share.note !== undefined && markup`<dt>${SAYS.note}</dt><dd>${isolated(share.note)}</dd>`}
${share.sources.length > 0 && markup`<dt>${SAYS.sources}</dt><dd>${share.sources.join(", ")}</dd>`}</dl>
</section>
<section aria-labelledby="change"><header><h2 id="change">${SAYS.change}</h2></header>
${
      ownForm(call, here, [
        lifetimeField(parts.maxLifetimeSeconds),
        markup`<p><button name="do" value="change">${SAYS.changeEnd}</button></p>`,
      ])
    }
${ownForm(call, here, markup`<p><button class="plain" name="do" value="end">${SAYS.endNow}</button></p>`)}
</section>
<section aria-labelledby="uses"><header><h2 id="uses">${SAYS.used}</h2></header>
${uses.length === 0 ? markup`<p>${SAYS.unused}</p>` : usesTable(uses)}
</section>`,
  ], copyScript);
}

function usesTable(uses: readonly Use[]): Markup {
  return markup`<div class="wide"><table>
<thead><tr><th scope="col">${SAYS.when}</th><th scope="col">${SAYS.who}</th><th scope="col">${SAYS.what}</th>
<th scope="col" class="number">${TEXTS.listing.size}</th></tr></thead>
<tbody>
${
    uses.map(({ at, who, address, kind, path, bytes }) =>
      markup`<tr><td>${moment(at)}</td><td>${
        who === EVERYBODY ? SAYS.somebody : isolated(personName(who))
      }, ${address}</td><td>${isolated(path)} (${kind})</td><td class="number">${
        bytes !== undefined && size(bytes)
      }</td></tr>
`
    )
  }</tbody>
</table></div>`;
}

/** `POST /shares/<server>/<id>`: changes how long one of the caller's shares lasts, or ends it. */
export async function changeShareByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const form = await readOwnForm(call);
  if (form.get("do") === "end") {
    await deleteShare(call, parts);
    return emptyResponse({ status: 303, headers: { Location: `${call.root}shares` } });
  }
  await changeShare(call, { lifetime: lifetimeIn(form) }, parts);
  const here = `${call.root}shares/${name}/${call.params.get("id") ?? ""}`;
  return emptyResponse({ status: 303, headers: { Location: here } });
}

/** Who is not signed in is led to sign in, and from there back to the page. */
export function sharesForStrangers(failure: ServiceError, asked: Asked): HttpResponse | undefined {
  const { method, path, query } = asked.request;
  const page = path.slice(path.lastIndexOf("/shares") + 1);
  return toSignIn(failure, asked, method === "GET" ? `${page}${query === "" ? "" : `?${query}`}` : "shares");
}

function page(call: Call, title: string, body: Content, script?: string): HttpResponse {
  return pageResponse({ title, aside: signedInAside(call), body, needs: { forms: true, script } });
}

/** A form that counts for the browser of the caller alone; without one that is signed in there is none. */
function ownForm({ root, signIn }: Call, action: string, fields: Content): Content {
  return signIn !== undefined && markup`<form class="fields" method="post" action="${root}${action}">
<input type="hidden" name="${FORM_TOKEN}" value="${signIn.formToken}">
${fields}
</form>`;
}

function whom({ target }: Pick<Share, "target">): Content {
  return target === EVERYBODY ? SAYS.everybody : isolated(personName(target));
}

function end({ expires }: Pick<Share, "expires">, now: number): Content {
  return expires === 0 ? SAYS.never : markup`${moment(expires * 1000)} (${distance(expires * 1000, now)})`;
}

function folderOf(path: string): string {
  return path.slice(0, path.replace(/\/$/, "").lastIndexOf("/") + 1);
}
