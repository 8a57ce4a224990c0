import type { RegisteredInstance } from "../instances/instance_register.ts";
import type { HttpResponse } from "../model/http_message.ts";
import type { Ban } from "../throttling/ban.ts";
import { checkAdministrator } from "../resource/admin/administration.ts";
import type { AdminApi } from "../resource/admin/admin_api.ts";
import type { CoreStatus } from "../resource/admin/admin_request.ts";
import { changeBansByForm } from "../resource/admin/ban_request.ts";
import type { Call } from "../resource/call.ts";
import { readOwnForm } from "../resource/form.ts";
import type { ServerFacts } from "../resource/server_facts.ts";
import type { ServiceFacts } from "../resource/service_section.ts";
import { redirect } from "../resource/text_response.ts";
import { choiceField, factList, ownForm, section, table } from "./elements.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { distance, when } from "./quantities.ts";
import { reservationInWords } from "./reservation_in_words.ts";
import { TEXTS } from "./texts.ts";

const SAYS = TEXTS.admin;

export interface AdminPageParts {
  readonly servers: ReadonlyMap<string, ServerFacts>;
  readonly facts: ServiceFacts;
  readonly admin: AdminApi;
}

const TERMS = ["1h", "1d", "7d", "30d"] as const;

/** Answers `GET /admin`: the state of the service, and its bans. */
export async function adminPage(
  call: Call,
  { servers, facts, admin }: AdminPageParts,
): Promise<HttpResponse> {
  checkAdministrator(call, servers);
  const status = await admin.status();
  const { bans, total } = admin.bans();
  const now = facts.clock();
  return pageResponse(call, {
    title: SAYS.title,
    current: "admin",
    body: [
      section("service", SAYS.service, serviceFacts(status, facts)),
      status.cluster && section("instances", SAYS.instances, instanceTable(status.cluster.instances, now)),
      section("daemons", SAYS.daemons, [...servers.values()].map(daemonTable)),
      status.providers.length > 0 && section("providers", SAYS.providers, providerTable(status)),
      section("bans", SAYS.bans, [
        bans.length === 0 ? markup`<p>${SAYS.nobody}</p>` : banTable(call, bans, { admin, now }),
        total > bans.length && markup`<p>${SAYS.moreBans.with({ count: total - bans.length })}</p>`,
        call.signIn !== undefined && banForm(call),
      ]),
      section("failures", SAYS.failures, failureTable(admin, now)),
      section("reservations", SAYS.reservations, reservations([...servers.values()], now)),
    ],
  });
}

/** Answers `POST /admin/bans`: bans or unbans. */
export async function changeBans(call: Call, { servers, admin }: AdminPageParts): Promise<HttpResponse> {
  checkAdministrator(call, servers);
  await changeBansByForm(call, await readOwnForm(call), admin);
  return redirect(`${call.root}admin#bans`);
}

function serviceFacts(
  { certificate, shares }: CoreStatus,
  { version, upSince, clock }: ServiceFacts,
): Markup {
  const now = clock();
  return factList([
    [SAYS.version, version],
    [SAYS.upSince, when(upSince, now)],
    [
      SAYS.certificate,
      certificate && markup`${certificate.dn}, ${SAYS.until} ${when(certificate.expires, now)}`,
    ],
    [SAYS.shares, shares],
  ]);
}

function instanceTable(instances: readonly RegisteredInstance[], now: number): Markup {
  return table(
    SAYS.instances,
    [SAYS.instance, SAYS.state, SAYS.version, SAYS.configuration, SAYS.upSince, SAYS.seen],
    instances.map(({ name, own, alive, version, configuration, upSince, ageMs }) => [
      own ? markup`<strong>${name}</strong> (${SAYS.thisOne})` : name,
      alive ? TEXTS.home.up : TEXTS.home.down,
      version,
      markup`<code>${configuration.slice(0, 12)}</code>`,
      when(upSince, now),
      distance(now - ageMs, now),
    ]),
  );
}

function daemonTable({ name, daemons }: ServerFacts): Markup {
  return table(
    name,
    [SAYS.daemon, SAYS.state, SAYS.answer, SAYS.reason],
    daemons.status().instances.map(({ address, up, unchecked, latencyMs, reason }) => [
      address,
      unchecked ? SAYS.unchecked : up ? TEXTS.home.up : TEXTS.home.down,
      latencyMs === undefined ? "" : `${latencyMs} ms`,
      reason,
    ]),
  );
}

function providerTable({ providers }: CoreStatus): Markup {
  return table(
    SAYS.providers,
    [SAYS.method, SAYS.system, SAYS.state, SAYS.reason],
    providers.map(({ authenticator, remote, up, since, reason }) => [
      authenticator,
      remote,
      since === undefined ? SAYS.unchecked : up ? TEXTS.home.up : TEXTS.home.down,
      reason,
    ]),
  );
}

function banTable(
  call: Call,
  bans: readonly Ban[],
  { admin, now }: { readonly admin: AdminApi; readonly now: number },
): Markup {
  const titles = [SAYS.user, SAYS.address, SAYS.why, SAYS.until];
  return table(
    SAYS.bans,
    call.signIn === undefined ? titles : [...titles, SAYS.lift],
    bans.map((ban) => {
      const { user, address, reason, failures, until } = ban;
      // Callers typed the names of failed logins; an administrator typed those of manual bans.
      const shown = user === undefined || reason === "operator" ? user : admin.parts.shown(user);
      const facts = [name(shown), address, SAYS.reasons[reason].with({ count: failures }), when(until, now)];
      return call.signIn === undefined
        ? facts
        : [...facts, shown === user && liftForm(call, { user, address })];
    }),
  );
}

function liftForm(
  call: Call,
  { user = "", address = "" }: { readonly user: string | undefined; readonly address: string | undefined },
): Content {
  const label = SAYS.liftNamed.with({ name: [user, address].join(" ").trim() });
  const fields = markup`<input type="hidden" name="user" value="${user}">
<input type="hidden" name="address" value="${address.replace("/64", "")}">
<button class="plain" name="do" value="lift" aria-label="${label}">${SAYS.lift}</button>`;
  return ownForm(call, "admin/bans", fields, "");
}

function banForm(call: Call): Markup {
  const fields = markup`<p><label for="user">${SAYS.user}</label>
<input id="user" name="user" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="256" aria-describedby="user-help"></p>
<p id="user-help" class="quiet">${SAYS.userHelp}</p>
<p><label for="address">${SAYS.address}</label>
<input id="address" name="address" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="45" aria-describedby="address-help"></p>
<p id="address-help" class="quiet">${SAYS.addressHelp}</p>
${choiceField("for", SAYS.howLong, TERMS.map((term) => [term, SAYS.terms[term]]))}
<p><button name="do" value="ban">${SAYS.ban}</button> <button class="plain" name="do" value="lift">${SAYS.lift}</button></p>`;
  return markup`<h3>${SAYS.ban}</h3>
${ownForm(call, "admin/bans", fields)}`;
}

function failureTable(admin: AdminApi, now: number): Markup {
  const failures = admin.failures();
  if (failures.length === 0) return markup`<p>${SAYS.noFailures}</p>`;
  return table(
    SAYS.failures,
    [SAYS.user, SAYS.address, SAYS.count, SAYS.last],
    failures.map(({ user, address, failures, at }) => [
      name(user && admin.parts.shown(user)),
      address,
      failures,
      when(at, now),
    ]),
  );
}

function reservations(servers: readonly ServerFacts[], now: number): Content {
  const lines = servers.flatMap(({ name: server, reservations }) =>
    reservations.list().map((each) => {
      const accounts = SAYS.forAccounts.with({ names: each.uids.join(", ") });
      return markup`<li>${server}: ${reservationInWords(each, now)}, ${accounts}</li>\n`;
    })
  );
  return lines.length === 0 ? markup`<p>${SAYS.noReservations}</p>` : markup`<ul>${lines}</ul>`;
}

function name(user: string | undefined): Content {
  return user !== undefined && isolated(user);
}
