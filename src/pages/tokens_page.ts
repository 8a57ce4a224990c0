import type { TokenIssuer } from "../authentication/issued_token/issue.ts";
import type { ListedToken, TokenRegistry } from "../authentication/issued_token/token_registry.ts";
import type { Clock } from "../model/clock.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { TokenRestrictions } from "../model/token_restrictions.ts";
import type { Call } from "../resource/call.ts";
import { type Form, readOwnForm } from "../resource/form.ts";
import { issueToken, listedTokens, revokeToken } from "../resource/token_list.ts";
import { type CertificateParts, showCertificate } from "../resource/ssh_certificate.ts";
import { redirect } from "../resource/text_response.ts";
import { choiceField, ownForm, section, table } from "./elements.ts";
import { type Content, isolated, type Markup, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { when } from "./quantities.ts";
import { TEXTS } from "./texts.ts";

const SAYS = TEXTS.tokens;

export interface TokenPageParts {
  readonly tokens: TokenIssuer | undefined; // absent without a signing certificate
  readonly registry: TokenRegistry | undefined; // absent without storage of tokens
  readonly certificates: CertificateParts | undefined; // absent if no authenticator takes SSH certificates
  readonly servers: ReadonlyMap<string, unknown>;
  readonly facts: { readonly clock: Clock };
}

const HOURS = [1, 8, 24];

/** Serves `GET /tokens`. @param made Section about a change that the user has just made. */
export async function tokensPage(call: Call, parts: TokenPageParts, made?: Content): Promise<HttpResponse> {
  const listed = parts.registry && await listedTokens(call, parts.registry);
  const now = parts.facts.clock();
  return pageResponse(call, {
    title: SAYS.title,
    current: "tokens",
    body: [
      made,
      section(
        "own",
        SAYS.own,
        listed === undefined
          ? markup`<p>${SAYS.notKept}</p>`
          : listed.length === 0
          ? markup`<p>${SAYS.none}</p>`
          : tokenTable(call, listed, now),
      ),
      parts.tokens !== undefined && call.signIn !== undefined && newTokenForm(call, parts),
      parts.certificates !== undefined && call.signIn !== undefined && certificateForm(call),
    ],
  });
}

/** Serves `POST /tokens`: issues a token and shows it once. */
export async function makeTokenByForm(call: Call, parts: TokenPageParts): Promise<HttpResponse> {
  const form = await readOwnForm(call);
  const { body } = await issueToken({ ...call, query: tokenQuery(form) }, parts.tokens);
  const shown = markup`<p>${SAYS.shownOnce}</p>
<pre><code>${String(body)}</code></pre>`;
  return await tokensPage(call, parts, section("made", SAYS.made, shown));
}

/** Serves `POST /tokens/<id>`: revokes a token of the caller. */
export async function revokeTokenByForm(call: Call, { registry }: TokenPageParts): Promise<HttpResponse> {
  await readOwnForm(call);
  await revokeToken(call, registry);
  return redirect(`${call.root}tokens`);
}

/** Serves `POST /certificate`: stores an OpenSSH certificate, so that its key signs in. */
export async function showCertificateByForm(call: Call, parts: TokenPageParts): Promise<HttpResponse> {
  const { certificates } = parts;
  if (certificates === undefined) throw httpError("ERR_NOT_FOUND", { what: "This page" });
  const form = await readOwnForm(call);
  const line = (form.get("line") ?? "").trim();
  const account = form.has("own") ? call.user.uid : undefined;
  const { principals, certificate } = await showCertificate(call, { line, account }, certificates);
  const { keyId, validBefore } = certificate;
  const end = validBefore * 1000;
  const isEndless = Number.isNaN(new Date(end).getTime());
  const taken = markup`<p>${SAYS.certificateFor} ${isolated(principals.join(", "))}: ${isolated(keyId)}${
    !isEndless && markup`, ${SAYS.certificateUntil} ${when(end, parts.facts.clock())}`
  }</p>`;
  return await tokensPage(call, parts, section("shown", SAYS.certificateTaken, taken));
}

function certificateForm(call: Call): Markup {
  const fields = markup`<p><label for="line">${SAYS.certificateLine}</label>
<textarea id="line" name="line" rows="4" required autocomplete="off" spellcheck="false" maxlength="16000"></textarea></p>
${
    call.user.uid !== undefined &&
    markup`<p><label class="check"><input type="checkbox" name="own" value="true"> ${SAYS.certificateOwn}</label></p>`
  }
<p><button>${SAYS.certificateShow}</button></p>`;
  return section("certificate", SAYS.certificate, [
    markup`<p>${SAYS.certificateHelp}</p>\n`,
    ownForm(call, "certificate", fields),
  ]);
}

/** Converts a form to the query of `GET /rest/auth/token`. */
function tokenQuery(form: Form): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of ["name", "path", "activity", "server"]) {
    const value = form.get(name) ?? "";
    const isDirectory = name === "path" && !value.endsWith("/"); // people leave the slash out
    if (value !== "") query.set(name, isDirectory ? `${value}/` : value);
  }
  const hours = form.get("hours") ?? "";
  query.set("lifetime", /^\d{1,4}$/.test(hours) ? String(Number(hours) * 3600) : hours);
  if (form.has("renewable")) query.set("renewable", "true");
  return query;
}

function tokenTable(call: Call, tokens: readonly ListedToken[], now: number): Markup {
  const revocation = ({ id, name }: ListedToken) => {
    const label = SAYS.revokeNamed.with({ name: name ?? SAYS.nameless });
    const button = markup`<button class="plain" aria-label="${label}">${SAYS.revoke}</button>`;
    return ownForm(call, `tokens/${encodeURIComponent(id)}`, button, "");
  };
  return table(
    SAYS.own,
    [SAYS.name, SAYS.ends, SAYS.lastUsed, SAYS.restrictions, ""],
    tokens.map((token) => [
      token.name === undefined ? SAYS.nameless : isolated(token.name),
      when(token.expires * 1000, now),
      token.used === undefined ? SAYS.never : `${token.used.day}, ${token.used.address}`,
      restrictionsText(token.restrictions),
      revocation(token),
    ]),
  );
}

/** Returns the restrictions of a token in words. */
export function restrictionsText({ activity, paths, servers, address }: TokenRestrictions = {}): Content {
  const given = [
    activity && SAYS.activities[activity],
    paths && markup`${SAYS.within} ${isolated(paths.join(", "))}`,
    servers && [SAYS.onServer, " ", servers.join(", ")],
    address && [SAYS.from, " ", address],
  ].filter((each) => each !== undefined);
  return given.length === 0 ? SAYS.everything : given.map((each, i) => [i > 0 && " · ", each]);
}

function newTokenForm(call: Call, { servers }: TokenPageParts): Markup {
  const activities = (["read", "write", "all"] as const).map((name) =>
    [name, SAYS.activities[name]] as const
  );
  const names = [...servers.keys()].map((name) => [name, name] as const);
  const fields = markup`<p><label for="name">${SAYS.name}</label>
<input id="name" name="name" autocomplete="off" maxlength="100"></p>
${choiceField("hours", SAYS.lifetime, HOURS.map((count) => [count, SAYS.hours.with({ count })]))}
${choiceField("activity", SAYS.activity, [["", SAYS.everything], ...activities])}
${choiceField("server", SAYS.server, [["", SAYS.allServers], ...names])}
<p><label for="path">${SAYS.path}</label>
<input id="path" name="path" autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="4000" aria-describedby="path-help"></p>
<p id="path-help" class="quiet">${SAYS.pathHelp}</p>
<p><label class="check"><input type="checkbox" name="renewable" value="true"> ${SAYS.renewable}</label></p>
<p><button>${SAYS.make}</button></p>`;
  return section("make", SAYS.make, [
    markup`<p>${SAYS.what}</p>\n`,
    ownForm(call, "tokens", fields),
  ]);
}
