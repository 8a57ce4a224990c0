import { mayAccess } from "../attributes/access_rules.ts";
import { passwordLogin } from "../authentication/parse_credentials.ts";
import { formTokenOf, signInCookie, type SignIns } from "../authentication/sign_in/sign_ins.ts";
import type { Authorization } from "../model/credentials.ts";
import type { HttpResponse } from "../model/http_message.ts";
import { requesterOf } from "../authentication/requester_of.ts";
import { HttpError, httpError } from "../model/http_error.ts";
import type { Call, IdentifiedUser, PartialCall } from "../resource/call.ts";
import { checkShownToken, FORM_TOKEN, readForm } from "../resource/form.ts";
import type { People } from "../resource/share/people.ts";
import { redirect } from "../resource/text_response.ts";
import { tokenForm } from "./elements.ts";
import { type Content, isolated, markup } from "./markup.ts";
import { message } from "./messages.ts";
import { pageResponse } from "./page.ts";
import { TEXTS } from "./texts.ts";
import { SignInAttempt, wantedPage } from "./sign_in_attempt.ts";
import type { BrowserLogin, ProviderSession } from "../authentication/authenticator.ts";
import type { LoginThrottle } from "../throttling/login_throttle.ts";

interface SignInMethods {
  readonly password: boolean;
  readonly certificate: boolean; // client certificate of the connection
  readonly providers: ReadonlyMap<string, BrowserLogin>; // by name of the authenticator
}

export interface SignInParts {
  readonly admit: LoginThrottle["admitKey"];
  readonly signIns: SignIns;
  readonly people?: People | undefined; // remembers who signs in
  readonly ways: SignInMethods;
  readonly siteName: string;
  readonly unauthenticated: (reason: string) => Error; // creates the 401; the reason is for the log
}

const WAY = "way";

/** Serves `GET /login`: redirects signed-in browsers, and shows others the ways to sign in. */
export function signInPage(call: Call, parts: SignInParts): HttpResponse {
  const { caller, request, signIn } = call;
  if (signIn !== undefined || (caller.kind !== "anonymous" && request.headers.has("Authorization"))) {
    return redirect(call.root + wantedPage(call.query.get("to")));
  }
  return formsPage(call, parts, {
    diagnostic: call.query.has("lost") ? TEXTS.signIn.lost : undefined,
    certificate: caller.kind === "anonymous" ? undefined : caller.identity.dn,
  });
}

/** Returns the sign-in page for callers without credentials, whom the service would otherwise refuse. */
export function signInPageIfAnonymous(
  { code }: HttpError,
  call: PartialCall,
  parts: SignInParts,
): HttpResponse | undefined {
  const isAnonymous = code === "ERR_UNAUTHENTICATED" && !call.request.headers.has("Authorization");
  return isAnonymous ? formsPage(call, parts, {}) : undefined;
}

/** Returns the sign-in page after an error; not for cross-site requests, which lack the cookie: a new one would end a sign-in. */
export function signInFailed(
  failure: HttpError,
  call: PartialCall,
  parts: SignInParts,
): HttpResponse | undefined {
  if (failure.code === "ERR_FOREIGN_PAGE") return undefined;
  const isWrong = failure.code === "ERR_UNAUTHENTICATED";
  const text = TEXTS.signIn[call.request.method === "POST" ? "wrong" : "refused"];
  const diagnostic = isWrong ? text : message(failure.publicMessage);
  const page = formsPage(call, parts, { diagnostic, user: call.userName ?? "" });
  // A 401 challenge would open the browser's own dialog.
  return { ...page, status: isWrong ? 403 : failure.status };
}

/** Serves `POST /login`: signs in by password or certificate. */
export async function signInByForm(call: Call, parts: SignInParts): Promise<HttpResponse> {
  const attempt = SignInAttempt.require(call);
  const form = await readForm(call);
  checkShownToken(form.get(FORM_TOKEN), attempt.derive("form"));
  const authorization: Authorization = form.get(WAY) === "certificate"
    ? { kind: "none" }
    : passwordLogin(form.get("user") ?? "", form.get("password") ?? "");
  return await signedIn(call, await call.recognise(authorization), parts, {
    to: wantedPage(call.query.get("to")),
  });
}

/** Sets the cookie and redirects to the wanted page. */
export async function signedIn(
  call: Call,
  { caller, userName, user: { role } }: IdentifiedUser,
  { signIns, people }: SignInParts,
  { to, ...login }: { readonly to: string; readonly session?: ProviderSession; readonly began?: number },
): Promise<HttpResponse> {
  if (caller.kind === "anonymous") throw httpError("ERR_PAGE_OUTDATED", "the browser shows no certificate");
  if (!mayAccess("auth", "GET", role)) throw httpError("ERR_FORBIDDEN", `role ${role}`);
  const cookie = signInCookie(call.base);
  const former = cookie.valueIn(call.request.headers.get("Cookie"));
  const token = await signIns.begin({ identity: caller.identity, userName, ...login });
  if (former !== undefined) await signIns.end(former);
  await people?.remember(caller.identity);
  const response = redirect(call.root + to);
  response.headers.add("Set-Cookie", cookie.set(token));
  SignInAttempt.of(call).end(response);
  return response;
}

/** Serves `POST /logout`, also while sources of users and attributes are out of order. */
export async function signOut(call: Call, parts: SignInParts): Promise<HttpResponse> {
  const cookie = signInCookie(call.base);
  const token = cookie.valueIn(call.request.headers.get("Cookie"));
  let login: BrowserLogin | undefined;
  if (token !== undefined) {
    checkShownToken((await readForm(call)).get(FORM_TOKEN), formTokenOf(token));
    login = parts.ways.providers.get(await parts.signIns.end(token) ?? "");
  }
  const response = await signedOutPage(call, login) ?? redirect(call.root);
  response.headers.add("Set-Cookie", cookie.set("", 0));
  return response;
}

/** Offers the logout at the provider, as a link: a form may lead only to this service (`form-action`). */
async function signedOutPage(call: Call, login: BrowserLogin | undefined) {
  const requester = requesterOf(call, "logout", call.signal);
  let address: string | undefined;
  try {
    address = await login?.logoutAddress(`${call.base}/`, requester);
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    call.log.warn("logout at the provider not offered", { error });
  }
  if (login === undefined || address === undefined) return undefined;
  const says = TEXTS.signIn;
  return pageResponse({ ...call, caller: undefined }, {
    title: says.signedOut,
    body: markup`<p><a class="button" href="${address}">${says.signOutAt.with({ title: login.title })}</a></p>
<p><a href="${call.root}">${says.stay}</a></p>`,
  });
}

/** Redirects to the sign-in page, which leads back. After a form it says that nothing was done, and leads to the page of the form. */
export function toSignIn(
  failure: HttpError,
  { request, root, base }: PartialCall,
  path: string,
): HttpResponse | undefined {
  if (failure.code !== "ERR_UNAUTHENTICATED" || request.headers.has("Authorization")) return undefined;
  if (request.method !== "POST") return redirect(`${root}login?to=${encodeURIComponent(path)}`);
  const before = request.headers.get("Referer") ?? "";
  const form = before.startsWith(`${base}/${path}/`) && wantedPage(before.slice(base.length + 1));
  return redirect(`${root}login?to=${encodeURIComponent(form || path)}&lost`);
}

function formsPage(
  call: PartialCall,
  { ways, siteName }: SignInParts,
  { certificate, diagnostic, user }: {
    readonly certificate?: string;
    readonly diagnostic?: Content;
    readonly user?: string | undefined; // who has just failed to sign in
  },
): HttpResponse {
  const says = TEXTS.signIn;
  const attempt = SignInAttempt.of(call);
  const to = wantedPage(call.query.get("to"));
  const query = to === "" ? "" : `?to=${encodeURIComponent(to)}`;
  const form = (content: Content) => tokenForm(`${call.root}login${query}`, attempt.derive("form"), content);
  const page = pageResponse(call, {
    title: says.title.with({ site: siteName }),
    body: [
      diagnostic !== undefined &&
      markup`<p id="diagnostic" role="alert" class="diagnostic">${diagnostic}</p>`,
      ways.password && form(markup`<p><label for="user">${says.user}</label>
<input id="user" name="user" autocomplete="username" autocapitalize="none" spellcheck="false" required maxlength="256" value="${user}"></p>
<p><label for="password">${says.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required${
        user !== undefined && markup` autofocus aria-describedby="diagnostic"`
      }></p>
<p><button>${says.button}</button></p>`),
      [...ways.providers].map(([name, { title }]) =>
        markup`<p><a class="button" href="${call.root}login/${encodeURIComponent(name)}${query}">${
          says.byProvider.with({ title })
        }</a></p>`
      ),
      ways.certificate && certificate !== undefined &&
      form(markup`<p>${says.certificate} ${isolated(certificate)}</p>
<p><button name="${WAY}" value="certificate">${says.byCertificate}</button></p>`),
      ways.certificate && certificate === undefined && markup`<p class="quiet">${says.noCertificate}</p>`,
    ],
    needs: { forms: true },
  });
  attempt.keep(page);
  return page;
}

/** Share for programs or for signed-in browsers, with a path in it. */
const SHARE = /\/(rest\/access|shared)\/([^/?#]+\/[0-9A-Za-z-]+(?:\/[^?#]*)?)/;

/** Redirects an anonymous browser to the page of a share for signed-in browsers, then to the sign-in. Programs get the 401. */
export function signInForShare(failure: HttpError, call: PartialCall): HttpResponse | undefined {
  const { request, query, root } = call;
  const [, where, share = ""] = SHARE.exec(request.path) ?? [];
  const page = `shared/${share}${query.size > 0 ? `?${query}` : ""}`;
  if (where === "shared") return toSignIn(failure, call, page);
  const isBrowser = request.method === "GET" && /\btext\/html\b/i.test(request.headers.get("Accept") ?? "");
  if (!isBrowser || failure.code !== "ERR_UNAUTHENTICATED" || request.headers.has("Authorization")) {
    return undefined;
  }
  return redirect(`${root}${page}`);
}
