import { readTokenRequest } from "../authentication/issued_token/issue.ts";
import type { OpenRequest } from "../authentication/sign_in/device_logins.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { httpError } from "../model/http_error.ts";
import type { Call } from "../resource/call.ts";
import { DEVICE_PATHS } from "../resource/device_paths.ts";
import { type DeviceParts, deviceTokenQuery, scriptText } from "../resource/device_login.ts";
import { readOwnForm } from "../resource/form.ts";
import { redirect } from "../resource/text_response.ts";
import { tokenFacts } from "../resource/token_list.ts";
import { throttleLogin } from "../throttling/login_throttle.ts";
import { factList, ownForm } from "./elements.ts";
import { type Content, isolated, markup } from "./markup.ts";
import { pageResponse } from "./page.ts";
import { distance, when } from "./quantities.ts";
import { TEXTS } from "./texts.ts";
import { restrictionsText, type TokenPageParts } from "./tokens_page.ts";

const SAYS = TEXTS.device;
const CODE = "user_code";

export type DevicePageParts = DeviceParts & Pick<TokenPageParts, "servers" | "facts">;

/** Returns the page of a user code, relative to the root, for the way back from the sign-in. */
export function devicePageOf(query: URLSearchParams): string {
  const code = (query.get(CODE) ?? "").slice(0, 20);
  return DEVICE_PATHS.page.slice(1) + (code === "" ? "" : `?${CODE}=${encodeURIComponent(code)}`);
}

/** Serves `GET /login/device`: asks for a user code, which a link can only fill in. */
export function devicePage(call: Call, parts: DevicePageParts): HttpResponse {
  if (call.signIn === undefined) {
    if (call.request.headers.has("Authorization")) throw httpError("ERR_PAGE_OUTDATED", "no browser");
    return redirect(`${call.root}login?to=${encodeURIComponent(devicePageOf(call.query))}`);
  }
  return codePage(call, parts, (call.query.get(CODE) ?? "").slice(0, 20));
}

/** Serves `POST /login/device`: shows the request of a user code, with buttons to allow and deny it. */
export async function showDeviceLogin(call: Call, parts: DevicePageParts): Promise<HttpResponse> {
  const code = (await readOwnForm(call)).get(CODE) ?? "";
  const found = await requestOf(call, code, parts);
  if (found !== undefined) return decisionPage(call, code, found, parts);
  const wrong = markup`<p role="alert" class="diagnostic">${SAYS.wrong}</p>`;
  return { ...codePage(call, parts, "", wrong), status: 404 };
}

/** Serves `POST /login/device/allow` and `…/deny`. */
export async function decideDeviceLogin(
  call: Call,
  parts: DevicePageParts,
  isAllowed: boolean,
): Promise<HttpResponse> {
  const { caller, user: { role } } = call;
  const code = (await readOwnForm(call)).get(CODE) ?? "";
  const found = await requestOf(call, code, parts);
  if (caller.kind === "anonymous" || found === undefined) throw noRequest(); // thrown, so that the audit line says refused
  const { identity } = caller;
  if (isAllowed && identity.bound) throw httpError("ERR_LOGIN_BOUND");
  if (!await parts.logins.decide(code, { identity, role }, isAllowed)) throw noRequest();
  const request = readTokenRequest(deviceTokenQuery(found.query, parts.tokens));
  call.audit({ address: found.address, ...tokenFacts(request) });
  return pageResponse(call, {
    title: SAYS.title,
    body: markup`<p role="status">${isAllowed ? SAYS.allowed : SAYS.denied}</p>
<p><a href="${call.root}tokens">${TEXTS.tokens.title}</a></p>`,
  });
}

/** Looks up a typed user code; wrong ones count as failed attempts of the address. */
async function requestOf(call: Call, code: string, { logins, throttle }: DevicePageParts) {
  if (call.caller.kind === "anonymous") return undefined;
  const { identity } = call.caller;
  return await throttleLogin(
    throttle.admitKey("user codes", call.clientAddress, call.signal),
    () => logins.find(code, identity),
    (found) => found === undefined ? "refused" : "undecided",
  );
}

const noRequest = () => httpError("ERR_NOT_FOUND", { what: "A request with this code" });

function codePage(call: Call, { servers }: DevicePageParts, code: string, before?: Content): HttpResponse {
  return pageResponse(call, {
    title: SAYS.title,
    body: [
      before,
      ownForm(
        call,
        "login/device",
        markup`<p><label for="code">${SAYS.code}</label>
<input id="code" name="${CODE}" value="${code}" autocomplete="off" autocapitalize="characters" spellcheck="false" required maxlength="20" aria-describedby="code-help"></p>
<p id="code-help" class="quiet">${SAYS.codeHelp}</p>
<p><button>${SAYS.next}</button></p>`,
      ),
      markup`<h2>${SAYS.script}</h2>
<p>${SAYS.scriptHelp}</p>
<pre><code>curl -fsSO ${call.base}${DEVICE_PATHS.script}
sh login.sh</code></pre>
<details><summary>${SAYS.readScript}</summary>
<pre><code>${scriptText(call.base, servers.keys())}</code></pre></details>`,
    ],
  });
}

function decisionPage(
  call: Call,
  code: string,
  { client, address, query, made }: OpenRequest,
  { tokens, facts: { clock } }: DevicePageParts,
): HttpResponse {
  const { lifetime = 0, renewable, restrictions } = readTokenRequest(deviceTokenQuery(query, tokens));
  const from = address === call.clientAddress ? SAYS.sameAddress : SAYS.otherAddress;
  const rows: Parameters<typeof factList>[0] = [
    [SAYS.code, markup`<strong>${code.toUpperCase()}</strong>`],
    [SAYS.program, markup`${isolated(client)} (${SAYS.unverified})`],
    [SAYS.address, [address, " (", from, ")"]],
    [SAYS.made, when(made * 1000, clock())],
    [TEXTS.tokens.restrictions, restrictionsText(restrictions)],
    [TEXTS.tokens.ends, [
      distance(clock() + lifetime * 1000, clock()),
      renewable && [" (", SAYS.renewable, ")"],
    ]],
  ];
  return pageResponse(call, {
    title: SAYS.question,
    body: [
      markup`<p>${SAYS.warning}</p>
${factList(rows)}`,
      ownForm(
        call,
        "login/device/deny",
        markup`<input type="hidden" name="${CODE}" value="${code}">
<p><button>${SAYS.deny}</button>
<button formaction="${call.root}login/device/allow">${SAYS.allow}</button></p>`,
      ),
    ],
  });
}
