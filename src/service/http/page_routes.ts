import type { AcceptedLogin } from "../../authentication/accepted_logins.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import { adminPage, type AdminPageParts, changeBans } from "../../pages/admin_page.ts";
import { browsePage } from "../../pages/own_shares/browse_page.ts";
import {
  changeShareByForm,
  makeShareByForm,
  newSharePage,
  ownSharePage,
  ownSharesPage,
  sharesForStrangers,
} from "../../pages/own_shares/own_shares_page.ts";
import { SHARE_VIEWS } from "../../pages/share_views.ts";
import {
  pageForStrangers,
  signInByForm,
  signInFailed,
  signInForShare,
  signInPage,
  type SignInParts,
  signOut,
  toSignIn,
} from "../../pages/sign_in_page.ts";
import { download } from "../../resource/access/download.ts";
import type { Call } from "../../resource/call.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import {
  makeTokenByForm,
  revokeTokenByForm,
  showCertificateByForm,
  type TokenPageParts,
  tokensPage,
} from "../../pages/tokens_page.ts";
import { helpPage } from "../../pages/help_page.ts";
import { linkPasswordPage, openLinkByForm } from "../../pages/link_password_page.ts";
import { backFromProvider, leaveForProvider, logoutByProvider } from "../../pages/sign_in_by_provider.ts";
import { bringByForm, bringByOwnForm, bringByPage } from "../../pages/upload_page.ts";
import type { DeviceParts } from "../../resource/device_login.ts";
import { deviceRoutes } from "./device_routes.ts";
import { FILES_TYPE, FORM_TYPE, type PublishedRoute, type Route } from "./router.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { emptyResponse } from "../../resource/text_response.ts";

/** Returns the login route. @param unauthenticated Creates the 401. */
export function loginRoute(
  parts: SignInParts,
  unauthenticated: (reason: string) => Error,
): PublishedRoute {
  return {
    method: "GET",
    path: "/login",
    service: "auth",
    heedsCapabilities: true,
    signedIn: true,
    doc: {
      id: "signIn",
      summary: "Has somebody sign in: browsers by a page, others by a challenge for credentials",
      answers: {
        200: { description: "The page", content: { "text/html": "text" } },
        303: { description: "Signed in", headers: { Location: "The status page" } },
      },
    },
    answer: (call) => challengeBrowser(call, unauthenticated),
    page: (call) => signInPage(call, parts),
    failed: (failure, asked) => pageForStrangers(failure, asked, parts),
  };
}

interface PageParts extends TokenPageParts, AdminPageParts {
  readonly features: ServiceConfig["features"];
  readonly facts: AdminPageParts["facts"];
  readonly servers: AdminPageParts["servers"];
  /** Absent without browser sign-in. */
  readonly signIn: SignInParts | undefined;
  readonly accepted: readonly AcceptedLogin[];
  /** Absent without device logins. */
  readonly devices: DeviceParts | undefined;
  /** Absent without data sharing. */
  readonly sharing: SharingParts | undefined;
}

/** Returns the routes of pages, which OpenAPI omits. */
export function pageRoutes(parts: PageParts): Route[] {
  const { features, signIn, sharing, devices, servers, facts, accepted } = parts;
  const hasDeviceLogin = features.auth && signIn !== undefined && devices !== undefined;
  const help: Route = {
    method: "GET",
    path: "/help",
    service: "open",
    answer: (call) => helpPage(call, { accepted, hasDeviceLogin }),
  };
  const links = features.access && sharing !== undefined
    ? [help, linkRoute(sharing), ...dropRoutes(sharing)]
    : [help];
  if (!features.auth || signIn === undefined) return links;
  return [
    ...links,
    ...signInRoutes(signIn),
    ...ownTokenRoutes(parts),
    ...(devices === undefined ? [] : deviceRoutes({ ...devices, servers, facts })),
    ...(features.share && sharing !== undefined ? ownShareRoutes(sharing) : []),
    ...(features.access && sharing !== undefined ? sharedRoutes(sharing) : []),
    ...(features.admin ? administrationRoutes(parts) : []),
  ];
}

function ownTokenRoutes(parts: TokenPageParts): Route[] {
  const failed: Route["failed"] = (failure, asked) => toSignIn(failure, asked, "tokens");
  const page = { service: "auth", permission: "POST", signedIn: true, failed } as const;
  const form = { ...page, method: "POST", consumes: FORM_TYPE } as const;
  return [
    { ...page, method: "GET", path: "/tokens", answer: (call) => tokensPage(call, parts) },
    { ...form, path: "/tokens", audit: "token", answer: (call) => makeTokenByForm(call, parts) },
    ...(parts.certificates === undefined ? [] : [
      {
        ...form,
        path: "/certificate",
        audit: "certificate",
        answer: (call: Call) => showCertificateByForm(call, parts),
      } as const,
    ]),
    { ...form, path: "/tokens/:id", audit: "revoke", answer: (call) => revokeTokenByForm(call, parts) },
  ];
}

/** Follows the users' access rule: browsers cannot choose a role. */
function administrationRoutes(parts: AdminPageParts): Route[] {
  const failed: Route["failed"] = (failure, asked) => toSignIn(failure, asked, "admin");
  const page = { service: "auth", permission: "POST", signedIn: true, failed } as const;
  return [
    { ...page, method: "GET", path: "/admin", answer: (call) => adminPage(call, parts) },
    {
      ...page,
      method: "POST",
      path: "/admin/bans",
      consumes: FORM_TYPE,
      audit: "admin",
      answer: (call) => changeBans(call, parts),
    },
  ];
}

/** Shares for signed-in browsers, whose sign-in `/rest/` ignores. */
function sharedRoutes(sharing: SharingParts): Route[] {
  const page: Pick<Route, "service" | "signedIn" | "audit" | "failed"> = {
    service: "access",
    signedIn: true,
    audit: "share",
    failed: (failure, asked) => linkPasswordPage(failure, asked) ?? signInForShare(failure, asked),
  };
  const routes: readonly Omit<Route, "path">[] = [
    { ...page, method: "GET", answer: (call) => download(call, sharing, SHARE_VIEWS) },
    { ...page, method: "PUT", answer: (call) => bringByPage(call, sharing) },
    {
      ...page,
      method: "POST",
      permission: "PUT",
      consumes: FILES_TYPE,
      answer: (call) => bringByOwnForm(call, sharing),
    },
  ];
  return routes.flatMap((route) => [
    { ...route, path: "/shared/:server/:id" },
    { ...route, path: "/shared/:server/:id/*rest" },
  ]);
}

function linkRoute(sharing: SharingParts): Route {
  return {
    method: "POST",
    path: "/link/:server/:id",
    service: "access",
    permission: "GET",
    consumes: FORM_TYPE,
    audit: "share",
    answer: (call) => openLinkByForm(call, sharing),
    failed: (failure, asked) => linkPasswordPage(failure, asked),
  };
}

/** Upload forms of shares. */
function dropRoutes(sharing: SharingParts): Route[] {
  const route: Omit<Route, "path"> = {
    method: "POST",
    service: "access",
    permission: "PUT",
    linkPassword: true,
    consumes: FILES_TYPE,
    audit: "share",
    answer: (call) => bringByForm(call, sharing),
  };
  return [{ ...route, path: "/drop/:server/:id" }, { ...route, path: "/drop/:server/:id/*rest" }];
}

function signInRoutes(parts: SignInParts): Route[] {
  return [
    {
      method: "POST",
      path: "/login",
      service: "open",
      consumes: FORM_TYPE,
      audit: "login",
      answer: (call) => signInByForm(call, parts),
      failed: (failure, asked) => signInFailed(failure, asked, parts),
    },
    ...(parts.ways.providers.size === 0 ? [] : providerRoutes(parts)),
    {
      method: "POST",
      path: "/logout",
      service: "auth",
      permission: "GET",
      heedsCapabilities: true,
      signedIn: true,
      consumes: FORM_TYPE,
      answer: (call) => signOut(call, parts),
    },
  ];
}

function providerRoutes(parts: SignInParts): Route[] {
  const way: Pick<Route, "method" | "service" | "failed"> = {
    method: "GET",
    service: "open",
    failed: (failure, asked) => signInFailed(failure, asked, parts),
  };
  return [
    { ...way, path: "/login/:way", answer: (call) => leaveForProvider(call, parts) },
    {
      method: "POST",
      path: "/oidc/backchannel-logout",
      service: "open",
      audit: "login",
      answer: (call) => logoutByProvider(call, parts),
    },
    { ...way, path: "/login/:way/done", audit: "login", answer: (call) => backFromProvider(call, parts) },
  ];
}

function ownShareRoutes(parts: SharingParts): Route[] {
  const page = { service: "share", signedIn: true, failed: sharesForStrangers } as const;
  const form = { ...page, method: "POST", consumes: FORM_TYPE, audit: "share" } as const;
  return [
    { ...page, method: "GET", path: "/shares", answer: (call) => ownSharesPage(call, parts) },
    { ...page, method: "GET", path: "/shares/:server/browse", answer: (call) => browsePage(call, parts) },
    { ...page, method: "GET", path: "/shares/:server/new", answer: (call) => newSharePage(call, parts) },
    { ...form, path: "/shares/:server", answer: (call) => makeShareByForm(call, parts) },
    { ...page, method: "GET", path: "/shares/:server/:id", answer: (call) => ownSharePage(call, parts) },
    { ...form, path: "/shares/:server/:id", answer: (call) => changeShareByForm(call, parts) },
  ];
}

/** Serves `GET /login`: challenges callers without credentials and redirects others to the status page (RFC 9110, 15.4.4). */
function challengeBrowser({ caller }: Call, unauthenticated: (reason: string) => Error): HttpResponse {
  if (caller.kind === "anonymous") throw unauthenticated("somebody is to sign in");
  return emptyResponse({ status: 303, headers: { Location: "./" } });
}
