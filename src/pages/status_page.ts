import type { AnswerCache } from "../model/answer_cache.ts";
import type { SessionClient } from "../daemon/session/session_client.ts";
import { restrictionsOf } from "../model/identity.ts";
import { EVERYBODY, isDirectory, type Share } from "../sharing/share.ts";
import { shareAddress } from "../resource/access/share_facts.ts";
import { includesServer } from "../model/token_restrictions.ts";
import { tokenCoversShare } from "../resource/token_limits.ts";
import type { ClusterHealth } from "../resource/health.ts";
import { HttpError } from "../model/http_error.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { Call } from "../resource/call.ts";
import { commandLines } from "../resource/command_lines.ts";
import { DEVICE_PATHS } from "../resource/device_paths.ts";
import { factList, section } from "./elements.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";
import { message } from "./messages.ts";
import { pageResponse } from "./page.ts";
import { moment, size, when } from "./quantities.ts";
import { reservationInWords } from "./reservation_in_words.ts";
import { TEXTS } from "./texts.ts";
import { ownerName, recipientOf } from "./about_share.ts";
import { type ServerEntry, serverEntry } from "../resource/server_list.ts";
import { groupRefusal } from "../resource/group_refusal.ts";
import type { ServerFacts } from "../resource/server_facts.ts";
import type { ServiceFacts } from "../resource/service_section.ts";
import { accountOn, nameOnServer, targetsOnServer } from "../resource/share/names.ts";
import { ownersView, targetsView } from "../resource/share/share_json.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";

const SAYS = TEXTS.home;

interface OwnShares extends Pick<SharingParts, "clock"> {
  readonly store: Pick<SharingParts["store"], "ownedBy" | "targetedAt">;
}

interface StatusParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
  readonly sharing: OwnShares | undefined; // absent without data sharing
  readonly sessions: ReadonlyMap<string, Pick<SessionClient, "open">>; // clients for data sessions, by server
  /** Whether a daemon refuses a group to an account, by server, account and group. */
  readonly groups: AnswerCache<boolean>;
  readonly hasDeviceLogin: boolean;
}

/**
 * Serves `GET /`, and `GET /rest/auth` for browsers: state of the servers, and for known callers the content of the JSON
 * list with command lines. Anonymous callers see less (design decision "Anonymous").
 */
export async function statusPage(call: Call, parts: StatusParts): Promise<HttpResponse> {
  const { servers, facts } = parts;
  const known = call.caller.kind === "authenticated";
  const now = facts.clock();
  const sections = await Promise.all(servers.values().map((server) => serverSection(call, server, parts)));
  return pageResponse(call, {
    title: SAYS.title.with({ site: facts.siteName }),
    current: "",
    body: [
      overview([...servers.values()]),
      known && account(call, facts),
      sections,
      servers.size === 0 && markup`<p>${SAYS.noServer}</p>`,
    ],
    footer: [
      known &&
      markup`<p>authserver ${facts.version}, ${SAYS.upSince} ${when(facts.upSince, now)}</p>`,
      known && facts.cluster && aboutInstances(facts.cluster()),
      markup`<p>${SAYS.asOf} ${moment(now)}</p>`,
    ],
  });
}

function overview(servers: readonly ServerFacts[]): Markup | undefined {
  if (servers.length === 0) return undefined;
  const usable = servers.filter(({ daemons }) => daemons.status().usable).length;
  const text = usable === servers.length
    ? SAYS.allUp
    : usable === 0
    ? SAYS.noneUp
    : SAYS.someUp.with({ up: usable, all: servers.length });
  return markup`<p role="status">${text}</p>`;
}

function aboutInstances({ instances, configurationsDiffer, degraded }: ClusterHealth): Markup {
  const sentences = [
    instances.serving < instances.total
      ? SAYS.someInstances.with({ up: instances.serving, all: instances.total })
      : SAYS.instances.with({ count: instances.total }),
    ...(configurationsDiffer ? [SAYS.differ] : []),
    ...(degraded ? [SAYS.degraded] : []),
  ];
  return markup`<p>${sentences.map((sentence) => [sentence, " "])}</p>`;
}

function account({ caller, user, signIn }: Call, { clock, methods }: ServiceFacts): Markup {
  const { uid, role, availableGroups, outage } = user;
  const method = caller.kind === "authenticated" ? caller.identity.method : "";
  const end = (signIn?.ends ?? 0) * 1000;
  return section("you", SAYS.you, [
    factList([
      [
        SAYS.name,
        caller.kind === "authenticated" && [
          caller.identity.displayName !== undefined && markup`${isolated(caller.identity.displayName)}, `,
          isolated(caller.identity.dn),
        ],
      ],
      [SAYS.role, role],
      [SAYS.account, uid ?? (outage ? message(outage.publicMessage) : SAYS.noAccount)],
      [SAYS.groups, availableGroups.join(", ")],
      [SAYS.signedInBy, message(methods.get(method) ?? method)],
      [
        SAYS.until,
        signIn !== undefined &&
        [when(end, clock()), ", ", SAYS.unlessIdle.with({ count: signIn.idleMinutes })],
      ],
    ]),
    signIn === undefined && markup`<p class="quiet">${TEXTS.signIn.closeBrowser}</p>`,
  ]);
}

async function serverSection(call: Call, server: ServerFacts, parts: StatusParts): Promise<Markup> {
  const { sharing, hasDeviceLogin, facts: { clock } } = parts;
  const entry = serverEntry(server, call);
  const { usable: up, total, available, version } = server.daemons.status();
  const known = call.caller.kind === "authenticated";
  const id = `server-${server.name}`;
  const state = up
    ? markup`<p class="state up">${SAYS.up}</p>`
    : markup`<p class="state down">${SAYS.down}</p>`;
  return markup`<section aria-labelledby="${id}">
<header><h2 id="${id}">${server.name}</h2>${state}</header>
<p>${entry.description}</p>
${
    factList([
      [SAYS.daemons, known && total > 1 && SAYS.daemonsUp.with({ up: available, all: total })],
      [SAYS.refused, entry.refusal && message(entry.refusal.reason)],
      [SAYS.account, entry.uid],
      [SAYS.group, entry.gid],
      [SAYS.groupRefused, up && entry.uid !== undefined && await refusedGroup(call, server.name, parts)],
      [SAYS.groups, entry.availableGroups?.join(", ")],
      [SAYS.rate, entry.rateLimit !== undefined && [size(entry.rateLimit), "/s"]],
      [SAYS.allowed, paths(entry.allowed)],
      [SAYS.forbidden, paths(entry.forbidden)],
      [SAYS.sessions, entry.sessionLimit],
      [SAYS.daemonVersion, known && version],
    ])
  }
${headedList(SAYS.reservations, reservations(server, entry.uid, clock()))}
${
    known && entry.refusal === undefined && sharing !== undefined && server.sharing &&
    await shares(call, server.name, sharing)
  }
${known && up && entry.uid !== undefined && commands(call, server.name, entry, hasDeviceLogin)}
</section>
`;
}

/** Milliseconds: to wait for the daemon's answer, to keep an answer, and to pause if none came. */
const GROUP_TRIAL_MS = 2000;
const GROUP_HOLDS_MS = 600_000;
const GROUP_PAUSE_MS = 60_000;

/** Returns the groups of a session if the daemon refuses them; `undefined` also if the service opens no sessions there. */
async function refusedGroup(
  call: Call,
  server: string,
  { sessions, groups }: StatusParts,
): Promise<string | undefined> {
  const client = sessions.get(server);
  const { uid, groups: group } = accountOn(call, server) ?? {};
  if (client === undefined || uid === undefined || group === undefined) return undefined;
  const isRefused = await groups.get([server, uid, group], async (given) => {
    const within = AbortSignal.any([given, AbortSignal.timeout(GROUP_TRIAL_MS)]);
    try {
      const value = await groupRefusal(client, { user: uid, group }, within) !== undefined;
      return { value, good: true, lifetimeMs: GROUP_HOLDS_MS };
    } catch (error) {
      given.throwIfAborted();
      if (!within.aborted && !(error instanceof HttpError)) throw error;
      return { value: false, good: true, lifetimeMs: GROUP_PAUSE_MS };
    }
  }, call.signal);
  return isRefused ? group : undefined;
}

function reservations({ reservations }: ServerFacts, uid: string | undefined, now: number): Content[] {
  if (uid === undefined) return [];
  return reservations.list().filter(({ uids }) => uids.includes(uid)).map((each) =>
    reservationInWords(each, now)
  );
}

const SHOWN_SHARES = 100;

async function shares(call: Call, server: string, { store, clock }: OwnShares): Promise<Content> {
  const caller = nameOnServer(call, server);
  if (caller === EVERYBODY || !includesServer(restrictionsOf(call.caller), server)) return undefined;
  const [mine, accessible] = await Promise.all([
    store.ownedBy(server, caller, { most: SHOWN_SHARES + 1 }),
    store.targetedAt(server, targetsOnServer(call, server), { most: SHOWN_SHARES + 1 }),
  ]);
  // A signed-in browser gets pages: below `/rest/` it would ask for a password.
  const own = call.signIn === undefined ? `${call.base}/rest/share/${server}` : `${call.root}shares`;
  const all = markup`<a href="${own}">${SAYS.allShares}</a>`;
  const covered = (share: Share) => tokenCoversShare(call, share);
  const upTo = (items: readonly Content[]) =>
    items.length > SHOWN_SHARES ? [...items.slice(0, SHOWN_SHARES), markup`${SAYS.more} ${all}`] : items;
  const shown = (
    view: { path: string; access: Share["access"]; http: string },
    who: Content,
    href = view.http,
  ) =>
    markup`<a href="${href}">${isolated(view.path)}</a>, ${TEXTS.shares.accessLevels[view.access]}, ${who}`;
  return [
    headedList(
      SAYS.ownShares,
      upTo(
        mine.filter(covered).map((share) =>
          shown(
            ownersView(share, call.base, clock()),
            share.target === EVERYBODY ? SAYS.forEverybody : markup`${SAYS.forWhom} ${recipientOf(share)}`,
            call.signIn && `${call.root}shares/${server}/${share.id}`,
          )
        ),
      ),
    ),
    headedList(
      SAYS.sharedWithYou,
      upTo(
        accessible.filter(covered).map((share) =>
          shown(
            targetsView(share, call.base, clock()),
            markup`${SAYS.byWhom} ${ownerName(share)}`,
            `${shareAddress(call, share)}${isDirectory(share) ? "/" : ""}`,
          )
        ),
      ),
    ),
  ];
}

const SHOWN_COMMANDS = 2; // number of commands that are always visible; the page folds others away

function commands(call: Call, server: string, { href }: ServerEntry, isByDevice: boolean): Markup {
  const script = isByDevice ? call.base + DEVICE_PATHS.script : undefined;
  const lines = commandLines(href, { ...call, script }).map(({ what: english, line }, i) => {
    const what = message(english);
    const id = `line-${server}-${i}`;
    return markup`<p>${what} <button type="button" class="plain" hidden data-copy="${id}" data-done="${TEXTS.shares.copied}" aria-label="${TEXTS.shares.copy}: ${what}">${TEXTS.shares.copy}</button></p>
<pre><code id="${id}">${line}</code></pre>
`;
  });
  return markup`<h3>${SAYS.commands}</h3>
${lines.slice(0, SHOWN_COMMANDS)}
<details><summary>${SAYS.moreCommands}</summary>
${lines.slice(SHOWN_COMMANDS)}</details>`;
}

function headedList(title: Content, items: readonly Content[]): Content {
  return items.length > 0 && markup`<h3>${title}</h3>
<ul>${items.map((item) => markup`<li>${item}</li>`)}</ul>`;
}

/** @param patterns Separated by `:`. */
function paths(patterns: string | undefined): Content {
  if (patterns === undefined) return undefined;
  const parts = patterns.split(":").filter((part) => part !== "");
  return parts.map((part, i) => markup`${i > 0 && ", "}<code>${part}</code>`);
}
