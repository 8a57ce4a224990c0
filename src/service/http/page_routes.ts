import type { AcceptedLogin } from "../../authentication/accepted_logins.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import type { AdminPageParts } from "../../pages/admin_page.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import type { TokenPageParts } from "../../pages/tokens_page.ts";
import type { HttpError } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { Asked, Call } from "../../resource/call.ts";
import type { DavParts } from "../../resource/dav/dav.ts";
import type { DeviceParts } from "../../resource/device_login.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { emptyResponse } from "../../resource/text_response.ts";
import { FILES_TYPE, FORM_TYPE, type PublishedRoute, type Route } from "./router.ts";
import type { DevicePageParts } from "../../pages/device_page.ts";
import { DEVICE_PATHS } from "../../resource/device_paths.ts";

// Pages are imported when they are first asked for: programs that transfer files never ask for one.
const signInPages = () => import("../../pages/sign_in_page.ts");
const providerPages = () => import("../../pages/sign_in_by_provider.ts");
const tokenPages = () => import("../../pages/tokens_page.ts");
const adminPages = () => import("../../pages/admin_page.ts");
const sharePages = () => import("../../pages/own_shares/own_shares_page.ts");
const uploadPages = () => import("../../pages/upload_page.ts");
const filePages = () => import("../../pages/own_files/files_page.ts");
const fileActions = () => import("../../pages/own_files/file_actions.ts");
const linkPages = () => import("../../pages/link_password_page.ts");

/** Redirects to the sign-in page, which leads back to `page`. */
export async function toSignIn(failure: HttpError, asked: Asked, page: string) {
  return (await signInPages()).toSignIn(failure, asked, page);
}

/** Redirects from a share to the sign-in page, which leads back. */
export async function signInForShare(failure: HttpError, asked: Asked) {
  return (await signInPages()).signInForShare(failure, asked);
}

/** Returns the form for the password of a link, if the error asks for one. */
export async function linkPasswordPage(failure: HttpError, asked: Asked) {
  return (await linkPages()).linkPasswordPage(failure, asked);
}

/** Downloads from a share, with pages for browsers. */
export async function downloadWithPages(call: Call, sharing: SharingParts): Promise<HttpResponse> {
  const { download } = await import("../../resource/access/download.ts");
  const { shareViews } = await import("../../pages/share_views.ts");
  return await download(call, sharing, shareViews(call));
}

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
    page: async (call) => (await signInPages()).signInPage(call, parts),
    failed: async (failure, asked) => (await signInPages()).pageForStrangers(failure, asked, parts),
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
  readonly files: DavParts | undefined; // absent unless users may reach their own files
}

/** Returns the routes of pages, which OpenAPI omits. */
export function pageRoutes(parts: PageParts): Route[] {
  const { features, signIn, sharing, devices, servers, facts, accepted, files } = parts;
  const hasDeviceLogin = features.auth && signIn !== undefined && devices !== undefined;
  const help: Route = {
    method: "GET",
    path: "/help",
    service: "open",
    answer: async (call) =>
      (await import("../../pages/help_page.ts")).helpPage(call, { accepted, hasDeviceLogin }),
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
    ...(files !== undefined ? ownFileRoutes(files) : []),
    ...(features.admin ? administrationRoutes(parts) : []),
  ];
}

function ownTokenRoutes(parts: TokenPageParts): Route[] {
  const failed: Route["failed"] = (failure, asked) => toSignIn(failure, asked, "tokens");
  const page = { service: "auth", permission: "POST", signedIn: true, failed } as const;
  const form = { ...page, method: "POST", consumes: FORM_TYPE } as const;
  return [
    {
      ...page,
      method: "GET",
      path: "/tokens",
      answer: async (call) => (await tokenPages()).tokensPage(call, parts),
    },
    {
      ...form,
      path: "/tokens",
      audit: "token",
      answer: async (call) => (await tokenPages()).makeTokenByForm(call, parts),
    },
    ...(parts.certificates === undefined ? [] : [
      {
        ...form,
        path: "/certificate",
        audit: "certificate",
        answer: async (call: Call) => (await tokenPages()).showCertificateByForm(call, parts),
      } as const,
    ]),
    {
      ...form,
      path: "/tokens/:id",
      audit: "revoke",
      answer: async (call) => (await tokenPages()).revokeTokenByForm(call, parts),
    },
  ];
}

/** Follows the users' access rule: browsers cannot choose a role. */
function administrationRoutes(parts: AdminPageParts): Route[] {
  const failed: Route["failed"] = (failure, asked) => toSignIn(failure, asked, "admin");
  const page = { service: "auth", permission: "POST", signedIn: true, failed } as const;
  return [
    {
      ...page,
      method: "GET",
      path: "/admin",
      answer: async (call) => (await adminPages()).adminPage(call, parts),
    },
    {
      ...page,
      method: "POST",
      path: "/admin/bans",
      consumes: FORM_TYPE,
      audit: "admin",
      answer: async (call) => (await adminPages()).changeBans(call, parts),
    },
  ];
}

/** Shares for signed-in browsers, whose sign-in `/rest/` ignores. */
function sharedRoutes(sharing: SharingParts): Route[] {
  const page: Pick<Route, "service" | "signedIn" | "audit" | "failed"> = {
    service: "access",
    signedIn: true,
    audit: "share",
    failed: async (failure, asked) =>
      await linkPasswordPage(failure, asked) ?? await signInForShare(failure, asked),
  };
  const routes: readonly Omit<Route, "path">[] = [
    { ...page, method: "GET", answer: (call) => downloadWithPages(call, sharing) },
    { ...page, method: "PUT", answer: async (call) => (await uploadPages()).bringByPage(call, sharing) },
    {
      ...page,
      method: "POST",
      permission: "PUT",
      consumes: FILES_TYPE,
      answer: async (call) => (await uploadPages()).bringByOwnForm(call, sharing),
    },
  ];
  return routes.flatMap((route) => [
    { ...route, path: "/shared/:server/:id" },
    { ...route, path: "/shared/:server/:id/*rest" },
  ]);
}

/** Files of signed-in browsers; the rules are those of sessions. */
function ownFileRoutes(parts: DavParts): Route[] {
  const failed: Route["failed"] = (failure, asked) => {
    const { method, path, query } = asked.request;
    const page = method === "GET" ? path.slice(path.lastIndexOf("/files") + 1) : "files";
    return toSignIn(failure, asked, method === "GET" && query !== "" ? `${page}?${query}` : page);
  };
  const page = { service: "auth", permission: "POST", signedIn: true, audit: "session", failed } as const;
  const shown = async (call: Call) => (await filePages()).ownFilePage(call, parts);
  return [
    {
      ...page,
      method: "GET",
      path: "/files",
      answer: async (call) => (await filePages()).filesPage(call, parts),
    },
    { ...page, method: "GET", path: "/files/:server", answer: shown },
    { ...page, method: "GET", path: "/files/:server/*rest", answer: shown },
    {
      ...page,
      method: "PUT",
      path: "/files/:server/*rest",
      answer: async (call) => (await fileActions()).bringOwnFile(call, parts),
    },
    {
      ...page,
      method: "POST",
      path: "/files/:server/*rest",
      consumes: FORM_TYPE,
      answer: async (call) => (await fileActions()).changeOwnFile(call, parts),
    },
    {
      ...page,
      method: "POST",
      path: "/files-upload/:server/*rest",
      consumes: FILES_TYPE,
      answer: async (call) => (await fileActions()).bringOwnForm(call, parts),
    },
  ];
}

function linkRoute(sharing: SharingParts): Route {
  return {
    method: "POST",
    path: "/link/:server/:id",
    service: "access",
    permission: "GET",
    consumes: FORM_TYPE,
    audit: "share",
    answer: async (call) => (await linkPages()).openLinkByForm(call, sharing),
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
    answer: async (call) => (await uploadPages()).bringByForm(call, sharing),
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
      answer: async (call) => (await signInPages()).signInByForm(call, parts),
      failed: async (failure, asked) => (await signInPages()).signInFailed(failure, asked, parts),
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
      answer: async (call) => (await signInPages()).signOut(call, parts),
    },
  ];
}

function providerRoutes(parts: SignInParts): Route[] {
  const way: Pick<Route, "method" | "service" | "failed"> = {
    method: "GET",
    service: "open",
    failed: async (failure, asked) => (await signInPages()).signInFailed(failure, asked, parts),
  };
  return [
    {
      ...way,
      path: "/login/:way",
      answer: async (call) => (await providerPages()).leaveForProvider(call, parts),
    },
    {
      method: "POST",
      path: "/oidc/backchannel-logout",
      service: "open",
      audit: "login",
      answer: async (call) => (await providerPages()).logoutByProvider(call, parts),
    },
    {
      ...way,
      path: "/login/:way/done",
      audit: "login",
      answer: async (call) => (await providerPages()).backFromProvider(call, parts),
    },
  ];
}

function ownShareRoutes(parts: SharingParts): Route[] {
  const failed: Route["failed"] = async (failure, asked) =>
    (await sharePages()).sharesForStrangers(failure, asked);
  const page = { service: "share", signedIn: true, failed } as const;
  const form = { ...page, method: "POST", consumes: FORM_TYPE, audit: "share" } as const;
  return [
    {
      ...page,
      method: "GET",
      path: "/shares",
      answer: async (call) => (await sharePages()).ownSharesPage(call, parts),
    },
    {
      ...page,
      method: "GET",
      path: "/shares/:server/browse",
      answer: async (call) => (await import("../../pages/own_shares/browse_page.ts")).browsePage(call, parts),
    },
    {
      ...page,
      method: "GET",
      path: "/shares/:server/new",
      answer: async (call) => (await sharePages()).newSharePage(call, parts),
    },
    {
      ...form,
      path: "/shares/:server",
      answer: async (call) => (await sharePages()).makeShareByForm(call, parts),
    },
    {
      ...page,
      method: "GET",
      path: "/shares/:server/:id",
      answer: async (call) => (await sharePages()).ownSharePage(call, parts),
    },
    {
      ...form,
      path: "/shares/:server/:id",
      answer: async (call) => (await sharePages()).changeShareByForm(call, parts),
    },
  ];
}

/** Serves `GET /login`: challenges callers without credentials and redirects others to the status page (RFC 9110, 15.4.4). */
function challengeBrowser({ caller }: Call, unauthenticated: (reason: string) => Error): HttpResponse {
  if (caller.kind === "anonymous") throw unauthenticated("somebody is to sign in");
  return emptyResponse({ status: 303, headers: { Location: "./" } });
}

// Imported when they are first asked for, as all pages.
const resource = () => import("../../resource/device_login.ts");
const pages = () => import("../../pages/device_page.ts");

/** Returns the routes of device logins (RFC 8628): endpoints for programs, and the page for their users. */
function deviceRoutes(parts: DevicePageParts): Route[] {
  const program = { service: "open" } as const;
  const page = {
    service: "auth",
    permission: "POST",
    signedIn: true,
    failed: async (failure, asked) =>
      (await import("../../pages/sign_in_page.ts")).toSignIn(
        failure,
        asked,
        (await pages()).devicePageOf(asked.query),
      ),
  } as const satisfies Partial<Route>;
  const form = { ...page, method: "POST", consumes: FORM_TYPE } as const;
  const { begin, token, script, page: path } = DEVICE_PATHS;
  return [
    // Programs send these forms, so no page of ours has to.
    {
      ...program,
      method: "POST",
      path: begin,
      answer: async (call) =>
        (await resource()).beginDeviceLogin(call, parts, (await import("../../pages/qr_picture.ts")).qrText),
    },
    {
      ...program,
      method: "POST",
      path: token,
      answer: async (call) => (await resource()).pollDeviceLogin(call, parts),
    },
    {
      ...program,
      method: "GET",
      path: script,
      answer: async (call) => (await resource()).loginScript(call, parts.servers.keys()),
    },
    { ...page, method: "GET", path, answer: async (call) => (await pages()).devicePage(call, parts) },
    { ...form, path, answer: async (call) => (await pages()).showDeviceLogin(call, parts) },
    {
      ...form,
      path: `${path}/allow`,
      audit: "token",
      answer: async (call) => (await pages()).decideDeviceLogin(call, parts, true),
    },
    {
      ...form,
      path: `${path}/deny`,
      answer: async (call) => (await pages()).decideDeviceLogin(call, parts, false),
    },
  ];
}
