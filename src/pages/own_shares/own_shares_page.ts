import type { HttpResponse } from "../../model/http_message.ts";
import { sameName } from "../../model/distinguished_name.ts";
import { nameOf, parentOf, withoutSlash } from "../../model/absolute_path.ts";
import { httpError } from "../../model/http_error.ts";
import type { Call } from "../../resource/call.ts";
import { readOwnForm } from "../../resource/form.ts";
import { shareAddress } from "../../resource/access/share_facts.ts";
import { putShare } from "../../resource/share/create_share.ts";
import { deleteShare, ownShare, sharedServer, sharedServers } from "../../resource/share/shared_server.ts";
import { accountOn, nameOnServer } from "../../resource/share/names.ts";
import { ownersView } from "../../resource/share/share_json.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { verifiedMail } from "../../resource/share/vouched_mail.ts";
import { changeShare } from "../../resource/share/update_share.ts";
import { redirect } from "../../resource/text_response.ts";
import { tokenCoversShare } from "../../resource/token_limits.ts";
import { EVERYBODY, groupOf, isDirectory, type Share, type Use } from "../../sharing/share.ts";
import { factList, ownForm, section } from "../elements.ts";
import { type Content, isolated, type Markup, markup } from "../markup.ts";
import { pageResponse } from "../page.ts";
import { personName } from "../person_name.ts";
import { distance, size, when } from "../quantities.ts";
import { TEXTS } from "../texts.ts";
import { recipientOf } from "../about_share.ts";
import { qrPicture } from "../qr_picture.ts";
import { changeFields, shareChange, shareFields, shareRequest } from "./share_form.ts";

const SAYS = TEXTS.shares;

const MAX_SHARES = 500;
const MAX_USES = 100;

/** Serves `GET /shares`: the caller's shares on all servers, or on the one in the path. */
export async function ownSharesPage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const servers = call.params.has("server") ? [sharedServer(call, parts)] : sharedServers(call, parts);
  const sections = await Promise.all(servers.map(async ({ name }) => {
    const owner = nameOnServer(call, name);
    const found = owner === EVERYBODY ? [] : await parts.store.ownedBy(name, owner, { most: MAX_SHARES });
    const shares = found.filter((share) => tokenCoversShare(call, share));
    return section(`server-${name}`, isolated(name), [
      markup`<p><a class="button" href="${call.root}shares/${name}/browse">${SAYS.make}</a></p>\n`,
      shares.length === 0 ? markup`<p>${SAYS.none}</p>` : shareList(call, shares, parts),
    ]);
  }));
  return sharesPage(call, SAYS.title, [sections, servers.length === 0 && markup`<p>${SAYS.noServer}</p>`]);
}

function shareList(call: Call, shares: readonly Share[], { clock }: SharingParts): Markup {
  return markup`<p class="quiet">${SAYS.count.with({ count: shares.length })}</p>
<ul class="entries">
${
    shares.map((share) => {
      const { server, id, path, access, expires, accessCount } = share;
      const ends = expires === 0 ? SAYS.endless : [SAYS.endsAt, " ", distance(expires * 1000, clock())];
      const used = SAYS.usedTimes.with({ count: accessCount });
      return markup`<li><a href="${call.root}shares/${server}/${id}">${isolated(path)}</a>
<p class="quiet">${recipientOf(share)} · ${SAYS.accessLevels[access]} · ${ends} · ${used}</p></li>
`;
    })
  }</ul>`;
}

/** Serves `GET /shares/<server>/new`. */
export async function newSharePage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const path = call.query.get("path") ?? "";
  const browsed = new URLSearchParams({ path: parentOf(path) }).toString();
  return sharesPage(call, SAYS.newOn.with({ server: name }), [
    markup`<p><a href="${call.root}shares/${name}/browse?${browsed}">${SAYS.browse}</a></p>`,
    ownForm(call, `shares/${name}`, [
      shareFields(path, parts, {
        groups: accountOn(call, name)?.availableGroups,
        people: await parts.people?.all(),
        mail: parts.mails ? verifiedMail(call, name) : undefined,
      }),
      markup`<p><button>${SAYS.share}</button></p>`,
    ]),
  ]);
}

/** Serves `POST /shares/<server>`: creates a share, or renews the one of the same path and target. */
export async function makeShareByForm(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const share = await putShare(call, shareRequest(await readOwnForm(call)), parts);
  if (share === undefined) throw httpError("ERR_PAGE_OUTDATED", "access NONE, which the form does not offer");
  return redirect(`${call.root}shares/${share.server}/${share.id}`);
}

/** Serves `GET /shares/<server>/<id>`: a share of the caller with link, uses and forms. */
export async function ownSharePage(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share === undefined) throw httpError("ERR_SHARE_NOT_FOUND");
  const uses = await parts.store.usesOf(name, share.id, MAX_USES);
  return sharesPage(call, SAYS.shareOf.with({ name: nameOf(withoutSlash(share.path)) || name }), [
    linkSection(call, share, parts),
    changeSection(call, share, parts),
    section(
      "uses",
      SAYS.used,
      uses.length === 0 ? markup`<p>${SAYS.unused}</p>` : useList(call, share, uses, parts.clock()),
    ),
  ]);
}

function linkSection(call: Call, share: Share, { clock }: SharingParts): Markup {
  const { target, access, expires, usesLeft, password, note, sources } = share;
  // Recipients who must sign in open a share on the page for signed-in browsers.
  const http = target === EVERYBODY
    ? ownersView(share, call.base, clock()).http
    : `${call.base}/shared/${share.server}/${share.id}${isDirectory(share) ? "/" : ""}`;
  const facts = factList([
    [SAYS.path, isolated(share.path)],
    [SAYS.whom, recipientOf(share)],
    [SAYS.access, SAYS.accessLevels[access]],
    [SAYS.end, expires === 0 ? SAYS.never : when(expires * 1000, clock())],
    [SAYS.usesLeft, usesLeft],
    [SAYS.received, access === "DROP" && received(share)],
    [SAYS.hasPassword, password !== undefined && SAYS.isAsked],
    [SAYS.note, note !== undefined && isolated(note)],
    [SAYS.notified, share.mail],
    [SAYS.sources, sources.join(", ")],
  ]);
  return section(
    "link",
    SAYS.link,
    markup`<form class="fields"><p><label for="address">${linkHelp(target)}</label>
<input id="address" class="long" readonly value="${http}"> <button type="button" hidden data-copy="address" data-done="${SAYS.copied}">${SAYS.copy}</button></p></form>
<p><a href="${shareAddress(call, share)}${isDirectory(share) && "/"}">${SAYS.look}</a></p>
<div class="beside">${facts}
${qrPicture(http, SAYS.qrCode)}</div>`,
  );
}

function linkHelp(target: string): Content {
  if (target === EVERYBODY) return SAYS.linkForAll;
  return groupOf(target) === undefined ? SAYS.linkForOne : SAYS.linkForGroup;
}

function received({ received = { files: 0, bytes: 0 }, quota = {} }: Share): Content {
  const most = [
    quota.files !== undefined && SAYS.files.with({ count: quota.files }),
    quota.bytes !== undefined && size(quota.bytes),
  ].filter((each) => each !== false);
  return [
    SAYS.files.with({ count: received.files }),
    ", ",
    size(received.bytes),
    most.length > 0 &&
    [" ", SAYS.atMost.with({ most: most.map((each, i) => [i > 0 && ", ", each]) })],
  ];
}

function changeSection(call: Call, share: Share, { maxLifetimeSeconds, mails }: SharingParts): Markup {
  const here = `shares/${share.server}/${share.id}`;
  const used = SAYS.usedTimes.with({ count: share.accessCount });
  const mail = mails && share.access !== "READ" ? verifiedMail(call, share.server) : undefined;
  return section("change", SAYS.change, [
    ownForm(call, here, [
      changeFields(share, maxLifetimeSeconds, mail),
      markup`<p><button name="do" value="change">${SAYS.change}</button></p>`,
    ]),
    markup`<details class="danger"><summary>${SAYS.endShare}</summary>
<p>${SAYS.endHelp.with({ path: isolated(share.path), whom: recipientOf(share) })} ${used}</p>
`,
    ownForm(call, here, markup`<p><button class="danger" name="do" value="end">${SAYS.endNow}</button></p>`),
    markup`</details>`,
  ]);
}

function useList(call: Call, { server, path: shared }: Share, uses: readonly Use[], now: number): Markup {
  const you = nameOnServer(call, server);
  const whose = (who: string): Content =>
    who === EVERYBODY ? SAYS.somebody : sameName(who, you) ? SAYS.you : isolated(personName(who));
  const named = (path: string) =>
    path.startsWith(shared) && path !== shared ? path.slice(shared.length) : path;
  const latest = markup`<p class="quiet">${SAYS.onlyLatest.with({ count: MAX_USES })}</p>`;
  return markup`${uses.length === MAX_USES && latest}
<ul class="entries">
${
    uses.map(({ at, who, address, kind, path, bytes, complete }) =>
      markup`<li>${whose(who)}, ${address}, ${SAYS.useKinds[kind]} ${isolated(named(path))}
<p class="quiet">${when(at, now)}${bytes !== undefined && [" · ", size(bytes)]}${
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
    return redirect(`${call.root}shares`);
  }
  await changeShare(call, shareChange(form), parts);
  return redirect(`${call.root}shares/${name}/${call.params.get("id") ?? ""}`);
}

function sharesPage(call: Call, title: Content, body: Content): HttpResponse {
  return pageResponse(call, { title, current: "shares", body });
}
