import { boundsOf } from "../model/identity.ts";
import { EVERYBODY, type Share } from "../sharing/share.ts";
import { includesServer } from "../model/token_bounds.ts";
import { tokenCoversShare } from "../resource/token_limits.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { Call } from "../resource/call.ts";
import { commandLines } from "../resource/command_lines.ts";
import { type Content, type Markup, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { distance, moment, size } from "./quantities.ts";
import { signedInAside } from "./signed_in_aside.ts";
import { TEXTS } from "./texts.ts";
import { type ServerEntry, serverEntry } from "../resource/server_entry.ts";
import type { ServerFacts } from "../resource/server_facts.ts";
import { entryAudience } from "../resource/server_list.ts";
import type { ServiceFacts } from "../resource/service_section.ts";
import { nameOnServer } from "../resource/share/names.ts";
import { ownersView, targetsView } from "../resource/share/share_json.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";

/** What the page is made of. */
interface StatusParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
  /** Absent if nobody shares anything. */
  readonly sharing: SharingParts | undefined;
  /** Whether there is a way for browsers to sign in. */
  readonly canSignIn: boolean;
}

/**
 * `GET /`, and `GET /rest/auth` for browsers: which servers are up, and to a known caller the same as the JSON list says,
 * with command lines to copy. Anonymous callers see what they see there (design decision "Anonymous").
 */
export async function statusPage(
  call: Call,
  { servers, facts, sharing, canSignIn }: StatusParts,
): Promise<HttpResponse> {
  const known = call.caller.kind === "authenticated";
  const sections = await Promise.all(
    [...servers.values()].map((server) => serverSection(call, server, sharing)),
  );
  return pageResponse({
    title: `${facts.siteName}: UFTP file transfer`,
    aside: known
      ? signedInAside(call)
      : canSignIn && markup`<a href="${call.root}login">${TEXTS.signIn.button}</a>`,
    needs: call.signIn === undefined ? {} : { forms: true },
    body: [
      overview([...servers.values()]),
      call.signIn !== undefined && markup`<nav><p>${
        sharing !== undefined &&
        markup`<a class="button" href="${call.root}shares">${TEXTS.shares.title}</a> `
      }<a class="button" href="${call.root}tokens">${TEXTS.tokens.title}</a></p></nav>`,
      known && account(call, facts),
      sections,
      servers.size === 0 && markup`<p>No transfer server is configured.</p>`,
    ],
    footer: [
      known && markup`<p>authserver ${facts.version}, up since ${moment(facts.upSince)}</p>`,
      markup`<p>As of ${moment(facts.clock())}</p>`,
    ],
  });
}

function overview(servers: readonly ServerFacts[]): Markup | undefined {
  if (servers.length === 0) return undefined;
  const usable = servers.filter(({ daemons }) => daemons.status().usable).length;
  const text = usable === servers.length
    ? "All transfer servers are up."
    : usable === 0
    ? "No transfer server is up."
    : `${usable} of ${servers.length} transfer servers are up.`;
  return markup`<p role="status">${text}</p>`;
}

/** Who the caller is, whatever the server. */
function account({ caller, user, signIn }: Call, { clock }: ServiceFacts): Markup {
  const { uid, role, availableGroups } = user;
  const method = caller.kind === "authenticated" ? caller.identity.method : "";
  const words: ReadonlyMap<string, string> = new Map(Object.entries(TEXTS.home.knownBy));
  const end = (signIn?.ends ?? 0) * 1000;
  return markup`<section aria-labelledby="you">
<header><h2 id="you">You</h2></header>
${
    facts([
      ["Name", caller.kind === "authenticated" && caller.identity.dn],
      ["Role", role],
      ["Account", uid ?? "none"],
      ["Groups", availableGroups.join(", ")],
      ["Known by", words.get(method) ?? method],
      [
        TEXTS.home.until,
        signIn !== undefined &&
        markup`${moment(end)} (${distance(end, clock())}), ${TEXTS.home.unlessIdle(signIn.idleMinutes)}`,
      ],
    ])
  }
${signIn === undefined && markup`<p class="quiet">${TEXTS.signIn.closeBrowser}</p>`}
</section>
`;
}

async function serverSection(
  call: Call,
  server: ServerFacts,
  sharing: SharingParts | undefined,
): Promise<Markup> {
  const entry = serverEntry(server, entryAudience(call));
  const up = entry.status.startsWith("OK");
  const known = call.caller.kind === "authenticated";
  const id = `server-${server.name}`;
  return markup`<section aria-labelledby="${id}">
<header><h2 id="${id}">${server.name}</h2><p class="state ${up ? "up" : "down"}">${
    up ? "Up" : "Down"
  }</p></header>
<p>${entry.description}</p>
${
    facts([
      ["Status", known && entry.status],
      ["Not with this login", entry.refusal?.reason],
      ["Account", entry.uid],
      ["Group", entry.gid],
      ["Groups", entry.availableGroups?.join(", ")],
      ["Speed limit", entry.rateLimit !== undefined && `${size(entry.rateLimit)}/s`],
      ["Allowed paths", paths(entry.allowed)],
      ["Forbidden paths", paths(entry.forbidden)],
      ["Sessions at a time", entry.sessionLimit],
      ["Daemon version", entry.uftpdServerVersion],
    ])
  }
${list("Reservations", entry.reservations)}
${known && sharing !== undefined && server.sharing && await shares(call, server.name, sharing)}
${known && up && entry.uid !== undefined && commands(call, entry)}
</section>
`;
}

/** Shares in each list of the page. */
const SHOWN_SHARES = 100;

async function shares(call: Call, server: string, { store, clock }: SharingParts): Promise<Content> {
  const caller = nameOnServer(call, server);
  if (caller === EVERYBODY || !includesServer(boundsOf(call.caller), server)) return undefined;
  const [own, accessible] = await Promise.all([
    store.ownedBy(server, caller, { most: SHOWN_SHARES + 1 }),
    store.targetedAt(server, caller, { most: SHOWN_SHARES + 1 }),
  ]);
  const all = markup`<a href="${call.base}/rest/share/${server}">all of them</a>`;
  const covered = (share: Share) => tokenCoversShare(call, share);
  const upTo = (items: readonly Content[]) =>
    items.length > SHOWN_SHARES ? [...items.slice(0, SHOWN_SHARES), markup`and more: ${all}`] : items;
  const shown = (view: { path: string; access: string; http: string }, who: string) =>
    markup`<a href="${view.http}">${view.path}</a>, ${view.access.toLowerCase()}, ${who}`;
  return [
    list(
      "Your shares",
      upTo(
        own.filter(covered).map((share) =>
          shown(
            ownersView(share, call.base, clock()),
            share.target === EVERYBODY ? "for everybody" : `for ${share.target}`,
          )
        ),
      ),
    ),
    list(
      "Shared with you",
      upTo(
        accessible.filter(covered).map((share) =>
          shown(targetsView(share, call.base, clock()), `by ${share.owner}`)
        ),
      ),
    ),
  ];
}

function commands(call: Call, { href }: ServerEntry): Markup {
  return markup`<h3>Command lines</h3>
${
    commandLines(href, call.userName).map(({ what, line }) =>
      markup`<p>${what}</p>
<pre><code>${line}</code></pre>
`
    )
  }`;
}

/** A list of terms; what has no value is left out. */
function facts(rows: readonly (readonly [string, Content])[]): Markup {
  const given = rows.filter(([, value]) => value !== undefined && value !== false && value !== "");
  return markup`<dl>
${given.map(([term, value]) => markup`<dt>${term}</dt><dd>${value}</dd>\n`)}</dl>`;
}

function list(title: string, items: readonly Content[]): Content {
  return items.length > 0 && markup`<h3>${title}</h3>
<ul>${items.map((item) => markup`<li>${item}</li>`)}</ul>`;
}

/** Patterns as they come, separated by `:`. */
function paths(patterns: string | undefined): Content {
  if (patterns === undefined) return undefined;
  const parts = patterns.split(":").filter((part) => part !== "");
  return parts.map((part, i) => markup`${i > 0 && ", "}<code>${part}</code>`);
}
