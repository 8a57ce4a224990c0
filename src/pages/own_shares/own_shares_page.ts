import type { HttpResponse } from "../../model/http_message.ts";
import { nameOf, parentOf, withoutSlash } from "../../model/absolute_path.ts";
import { type HttpError, httpError } from "../../model/http_error.ts";
import type { Call } from "../../resource/call.ts";
import { FORM_TOKEN, readOwnForm } from "../../resource/form.ts";
import { makeShare } from "../../resource/share/create_share.ts";
import { deleteShare, ownShare, sharedServer } from "../../resource/share/shared_server.ts";
import { accountOn, nameOnServer } from "../../resource/share/names.ts";
import { ownersView } from "../../resource/share/share_json.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { vouchedMail } from "../../resource/share/vouched_mail.ts";
import { changeShare } from "../../resource/share/update_share.ts";
import { emptyResponse } from "../../resource/text_response.ts";
import { EVERYBODY, groupOf, isDirectory, type Share, type Use } from "../../sharing/share.ts";
import { type Content, isolated, type Markup, markup } from "../markup.ts";
import { pageResponse } from "../page.ts";
import { personName } from "../person_name.ts";
import { distance, moment, size } from "../quantities.ts";
import { toSignIn } from "../sign_in_page.ts";
import { signedInAside } from "../signed_in_aside.ts";
import { TEXTS } from "../texts.ts";
import { whom } from "../about_share.ts";
import type { Asked } from "../visit.ts";
import copyScript from "../copy.js" with { type: "text" };
import { qrPicture } from "../qr_picture.ts";
import { changeFields, shareChange, shareFields, shareRequest } from "./share_form.ts";

const SAYS = TEXTS.shares;

const MOST_SHARES = 500;
const MOST_USES = 100;

/** Serves `GET /shares`: the caller's shares on all servers. */
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
${shares.length === 0 ? markup`<p>${SAYS.none}</p>` : shareList(call, shares, parts)}
</section>
`;
  }));
  return page(call, SAYS.title, [
    markup`<p><a href="${call.root}">${SAYS.home}</a></p>`,
    sections,
    servers.length === 0 && markup`<p>${SAYS.noServer}</p>`,
  ]);
}

function shareList(call: Call, shares: readonly Share[], { clock }: SharingParts): Markup {
  return markup`<p class="quiet">${SAYS.count(shares.length)}</p>
<ul class="entries">
${
    shares.map((share) => {
      const { server, id, path, access, expires, accessCount } = share;
      const ends = expires === 0 ? SAYS.endless : `${SAYS.endsAt} ${distance(expires * 1000, clock())}`;
      return markup`<li><a href="${call.root}shares/${server}/${id}">${isolated(path)}</a>
<p class="quiet">${whom(share)} · ${SAYS.accessLevels[access]} · ${ends} · ${
        SAYS.usedTimes(accessCount)
      }</p></li>
`;
    })
  }</ul>`;
}

/** Serves `GET /shares/<server>/new`. */
export function newSharePage(call: Call, parts: SharingParts): HttpResponse {
  const { name } = sharedServer(call, parts);
  const path = call.query.get("path") ?? "";
  const browsed = new URLSearchParams({ path: parentOf(path) }).toString();
  return page(call, SAYS.newOn(name), [
    markup`<p><a href="${call.root}shares/${name}/browse?${browsed}">${SAYS.browse}</a></p>`,
    ownForm(call, `shares/${name}`, [
      shareFields(path, parts, {
        groups: accountOn(call, name)?.availableGroups,
        mail: parts.mails ? vouchedMail(call, name) : undefined,
      }),
      markup`<p><button>${SAYS.share}</button></p>`,
    ]),
  ]);
}

/** Serves `POST /shares/<server>`: creates a share, or renews the one of the same path and target. */
export async function makeShareByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const share = await makeShare(call, shareRequest(await readOwnForm(call)), parts);
  if (share === undefined) throw httpError("ERR_PAGE_OUTDATED", "access NONE, which the form does not offer");
  return emptyResponse({
    status: 303,
    headers: { Location: `${call.root}shares/${share.server}/${share.id}` },
  });
}

/** Serves `GET /shares/<server>/<id>`: a share of the caller with link, uses and forms. */
export async function ownSharePage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share === undefined) throw httpError("ERR_SHARE_NOT_FOUND");
  const uses = await parts.store.usesOf(name, share.id, MOST_USES);
  return page(call, SAYS.shareOf(nameOf(withoutSlash(share.path)) || name), [
    markup`<p><a href="${call.root}shares">${SAYS.title}</a></p>`,
    linkSection(call, share, parts),
    changeSection(call, share, parts),
    markup`<section aria-labelledby="uses"><header><h2 id="uses">${SAYS.used}</h2></header>
${uses.length === 0 ? markup`<p>${SAYS.unused}</p>` : useList(call, share, uses, parts.clock())}
</section>`,
  ], copyScript);
}

function linkSection(call: Call, share: Share, { clock }: SharingParts): Markup {
  const { target, access, usesLeft, password, note, sources } = share;
  // A browser reads a share for some people by the page for signed-in browsers.
  const http = target === EVERYBODY
    ? ownersView(share, call.base, clock()).http
    : `${call.base}/shared/${share.server}/${share.id}${isDirectory(share) ? "/" : ""}`;
  const facts: readonly (readonly [string, Content])[] = [
    [SAYS.path, isolated(share.path)],
    [SAYS.whom, whom(share)],
    [SAYS.access, SAYS.accessLevels[access]],
    [SAYS.end, end(share, clock())],
    [SAYS.usesLeft, usesLeft],
    [SAYS.received, access === "DROP" && received(share)],
    [SAYS.hasPassword, password !== undefined && SAYS.isAsked],
    [SAYS.note, note !== undefined && isolated(note)],
    [SAYS.notified, share.mail],
    [SAYS.sources, sources.length > 0 && sources.join(", ")],
  ];
  return markup`<section aria-labelledby="link"><header><h2 id="link">${SAYS.link}</h2></header>
<form class="fields"><p><label for="address">${linkHelp(target)}</label>
<input id="address" class="long" readonly value="${http}"> <button type="button" hidden data-copy="address" data-done="${SAYS.copied}">${SAYS.copy}</button></p></form>
<p><a href="${http}">${SAYS.look}</a></p>
<div class="beside"><dl>${
    facts.map(([term, value]) =>
      value !== undefined && value !== false && markup`<dt>${term}</dt><dd>${value}</dd>\n`
    )
  }</dl>
${qrPicture(http, SAYS.qrCode)}</div>
</section>
`;
}

function linkHelp(target: string): string {
  if (target === EVERYBODY) return SAYS.linkForAll;
  return groupOf(target) === undefined ? SAYS.linkForOne : SAYS.linkForGroup;
}

function received({ received = { files: 0, bytes: 0 }, quota = {} }: Share): Content {
  const most = [
    quota.files !== undefined && SAYS.files(quota.files),
    quota.bytes !== undefined && size(quota.bytes),
  ].filter((each) => each !== false).join(", ");
  return [
    SAYS.receivedOf(SAYS.files(received.files), size(received.bytes)),
    most !== "" && ` ${SAYS.atMost(most)}`,
  ];
}

function changeSection(call: Call, share: Share, { maxLifetimeSeconds, mails }: SharingParts): Markup {
  const here = `shares/${share.server}/${share.id}`;
  return markup`<section aria-labelledby="change"><header><h2 id="change">${SAYS.change}</h2></header>
${
    ownForm(call, here, [
      changeFields(
        share,
        maxLifetimeSeconds,
        mails && share.access !== "READ" ? vouchedMail(call, share.server) : undefined,
      ),
      markup`<p><button name="do" value="change">${SAYS.change}</button></p>`,
    ])
  }
${
    ownForm(
      call,
      here,
      markup`<p><button class="plain" name="do" value="end">${SAYS.endNow}</button></p>
<p class="quiet">${SAYS.endHelp}</p>`,
    )
  }
</section>
`;
}

function useList(call: Call, { server, path: shared }: Share, uses: readonly Use[], now: number): Markup {
  const you = nameOnServer(call, server);
  const whose = (who: string) =>
    who === EVERYBODY ? SAYS.somebody : who === you ? SAYS.you : isolated(personName(who));
  const named = (path: string) =>
    path.startsWith(shared) && path !== shared ? path.slice(shared.length) : path;
  return markup`${uses.length === MOST_USES && markup`<p class="quiet">${SAYS.onlyLatest(MOST_USES)}</p>`}
<ul class="entries">
${
    uses.map(({ at, who, address, kind, path, bytes, complete }) =>
      markup`<li>${whose(who)}, ${address}, ${SAYS.useKinds[kind]} ${isolated(named(path))}
<p class="quiet">${moment(at)} (${distance(at, now)})${bytes !== undefined && [" · ", size(bytes)]}${
        complete === false && [", ", SAYS.incomplete]
      }</p></li>
`
    )
  }</ul>`;
}

/** Serves `POST /shares/<server>/<id>`: changes or ends a share of the caller. */
export async function changeShareByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const form = await readOwnForm(call);
  if (form.get("do") === "end") {
    await deleteShare(call, parts);
    return emptyResponse({ status: 303, headers: { Location: `${call.root}shares` } });
  }
  await changeShare(call, shareChange(form), parts);
  const here = `${call.root}shares/${name}/${call.params.get("id") ?? ""}`;
  return emptyResponse({ status: 303, headers: { Location: here } });
}

/** Redirects anonymous browsers to the sign-in, which leads back. */
export function sharesForStrangers(failure: HttpError, asked: Asked): HttpResponse | undefined {
  const { method, path, query } = asked.request;
  const page = path.slice(path.lastIndexOf("/shares") + 1);
  return toSignIn(failure, asked, method === "GET" ? `${page}${query === "" ? "" : `?${query}`}` : "shares");
}

function page(call: Call, title: string, body: Content, script?: string): HttpResponse {
  return pageResponse({ title, aside: signedInAside(call), body, needs: { forms: true, script } });
}

/** Form with the token of the signed-in browser; empty without a sign-in. */
function ownForm({ root, signIn }: Call, action: string, fields: Content): Content {
  return signIn !== undefined && markup`<form class="fields" method="post" action="${root}${action}">
<input type="hidden" name="${FORM_TOKEN}" value="${signIn.formToken}">
${fields}
</form>`;
}

function end({ expires }: Pick<Share, "expires">, now: number): Content {
  return expires === 0 ? SAYS.never : markup`${moment(expires * 1000)} (${distance(expires * 1000, now)})`;
}
