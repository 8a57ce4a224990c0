import type { AdminPageParts } from "../../pages/admin_page.ts";
import type { SignInParts } from "../../pages/sign_in_page.ts";
import type { TokenPageParts } from "../../pages/tokens_page.ts";
import type { HttpError } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { Call, PartialCall } from "../../resource/call.ts";
import type { DavParts } from "../../resource/dav/dav_call.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { redirect } from "../../resource/text_response.ts";
import type { RouteParts } from "./route_parts.ts";
import { FILES_TYPE, FORM_TYPE, type Route, type Row, table } from "./router.ts";
import type { DevicePageParts } from "../../pages/device_page.ts";
import { DEVICE_PATHS } from "../../resource/device_paths.ts";

// Pages are imported on first use: programs that transfer files never request one.
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
export async function toSignIn(failure: HttpError, call: PartialCall, page: string) {
  return (await signInPages()).toSignIn(failure, call, page);
}

/** Redirects from pages below `page` to the sign-in page, which leads back to them or, after a form, to `page`. */
function toSignInBelow(page: string): Route["failed"] {
  return (failure, call) => {
    const { method, path, query } = call.request;
    const here = method === "GET" ? path.slice(`${path}/`.indexOf(`/${page}/`) + 1) : page;
    return toSignIn(failure, call, method === "GET" && query !== "" ? `${here}?${query}` : here);
  };
}

/** Redirects from a share to the sign-in page, which leads back. */
export async function signInForShare(failure: HttpError, call: PartialCall) {
  return (await signInPages()).signInForShare(failure, call);
}

/** Returns the form for the password of a link, if the error asks for one. */
export async function linkPasswordPage(failure: HttpError, call: PartialCall) {
  return (await linkPages()).linkPasswordPage(failure, call);
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
): Route {
  return {
    method: "GET",
    path: "/login",
    service: "auth",
    checksCapabilities: true,
    signedIn: true,
    answer: ({ caller }) => {
      if (caller.kind === "anonymous") throw unauthenticated("a sign-in is required");
      return redirect("./"); // to the status page
    },
    page: async (call) => (await signInPages()).signInPage(call, parts),
    failed: async (failure, call) => (await signInPages()).signInPageIfAnonymous(failure, call, parts),
  };
}

/** Returns the routes of pages, which OpenAPI omits. */
export function pageRoutes(parts: RouteParts): Route[] {
  const { features, signIn, sharing, devices, servers, facts, accepted, files } = parts;
  const hasDeviceLogin = features.auth && signIn !== undefined && devices !== undefined;
  const help: Route = {
    method: "GET",
    path: "/help",
    service: "open",
    signedIn: true,
    answer: async (call) =>
      (await import("../../pages/help_page.ts")).helpPage(call, { accepted, hasDeviceLogin }),
  };
  const hasSignIn = features.auth && signIn !== undefined;
  const links = features.access && sharing !== undefined ? [help, ...linkRoutes(sharing, hasSignIn)] : [help];
  if (!hasSignIn) return links;
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

const FORM = { consumes: FORM_TYPE } as const;

/** Leads from the address of a sent form, such as after a reload of its result, to a page with the form. */
const toPage = (page: string): Route["answer"] => ({ root, query, request: { path } }) => {
  const [, rest = ""] = /^\/[^/]+\/(.+)$/.exec(path) ?? [];
  return redirect(`${root}${query.has("signed-in") ? "shared/" : page}${page.endsWith("/") ? rest : ""}`);
};

const audited = (audit: Route["audit"]) => ({ ...FORM, audit });

function ownTokenRoutes(parts: TokenPageParts): Route[] {
  const certificate: Row = [
    "POST",
    "/certificate",
    async (call) => (await tokenPages()).showCertificateByForm(call, parts),
    audited("certificate"),
  ];
  const ends = { ...FORM, withoutAttributes: true, audit: "revoke" } as const;
  return table(
    { service: "auth", permission: "POST", signedIn: true, failed: toSignInBelow("tokens") },
    ["GET", "/tokens", async (call) => (await tokenPages()).tokensPage(call, parts)],
    ["POST", "/tokens", async (call) => (await tokenPages()).makeTokenByForm(call, parts), audited("token")],
    ...(parts.certificates === undefined ? [] : [certificate]),
    ["POST", "/tokens/:id", async (call) => (await tokenPages()).revokeTokenByForm(call, parts), ends],
    ["GET", "/tokens/:id", toPage("tokens")],
  );
}

/** Routes for administrators; the users' access rule applies, since browsers cannot choose a role. */
function administrationRoutes(parts: AdminPageParts): Route[] {
  return table(
    { service: "auth", permission: "POST", signedIn: true, failed: toSignInBelow("admin") },
    ["GET", "/admin", async (call) => (await adminPages()).adminPage(call, parts)],
    ["POST", "/admin/bans", async (call) => (await adminPages()).changeBans(call, parts), audited("admin")],
  );
}

/** Shares for signed-in browsers, whose sign-in `/rest/` ignores. */
function sharedRoutes(sharing: SharingParts): Route[] {
  const failed: Route["failed"] = async (failure, call) =>
    await linkPasswordPage(failure, call) ?? await signInForShare(failure, call);
  const form: Route["answer"] = async (call) => (await uploadPages()).uploadByOwnForm(call, sharing);
  return ["/shared/:server/:id", "/shared/:server/:id/*rest"].flatMap((path) =>
    table(
      { service: "access", signedIn: true, audit: "share", failed },
      ["GET", path, (call) => downloadWithPages(call, sharing)],
      ["PUT", path, async (call) => (await uploadPages()).uploadByPage(call, sharing)],
      ["POST", path, form, { permission: "PUT", consumes: FILES_TYPE }],
    )
  );
}

/** Forms for the password of a link, and for uploads. */
function linkRoutes(sharing: SharingParts, hasSignIn: boolean): Route[] {
  const form: Route["answer"] = async (call) => (await uploadPages()).uploadByForm(call, sharing);
  const failed = linkPasswordPage;
  const drop = { permission: "PUT", linkPassword: true, consumes: FILES_TYPE, failed } as const;
  const toShare = { service: "open", audit: undefined } as const;
  return table(
    { service: "access", audit: "share" },
    ["GET", "/link/:server/:id", toPage("rest/access/"), toShare],
    ["GET", "/drop/:server/:id", toPage("rest/access/"), toShare],
    ["GET", "/drop/:server/:id/*rest", toPage("rest/access/"), toShare],
    ["POST", "/link/:server/:id", async (call) => (await linkPages()).openLinkByForm(call, sharing), {
      ...FORM,
      permission: "GET",
      signedIn: true,
      checksCapabilities: true,
      failed: async (failure, call) =>
        hasSignIn || failure.code !== "ERR_UNAUTHENTICATED"
          ? await linkPasswordPage(failure, call)
          : undefined,
    }],
    ["POST", "/drop/:server/:id", form, drop],
    ["POST", "/drop/:server/:id/*rest", form, drop],
  );
}

/** Files of signed-in browsers; the rules are those of sessions. */
function ownFileRoutes(parts: DavParts): Route[] {
  const shown: Route["answer"] = async (call) => (await filePages()).ownFilePage(call, parts);
  const form: Route["answer"] = async (call) => (await fileActions()).uploadOwnByForm(call, parts);
  return table(
    { service: "auth", permission: "POST", signedIn: true, audit: "session", failed: toSignInBelow("files") },
    ["GET", "/files", async (call) => (await filePages()).filesPage(call, parts)],
    ["GET", "/files/:server", shown],
    ["GET", "/files/:server/*rest", shown],
    ["PUT", "/files/:server/*rest", async (call) => (await fileActions()).uploadOwnByPage(call, parts)],
    ["POST", "/files/:server/*rest", async (call) => (await fileActions()).changeOwnFile(call, parts), FORM],
    ["POST", "/files-upload/:server/*rest", form, { consumes: FILES_TYPE }],
    ["GET", "/files-upload/:server/*rest", toPage("files/"), { audit: undefined }],
  );
}

function signInRoutes(parts: SignInParts): Route[] {
  const failed: Route["failed"] = async (failure, call) =>
    (await signInPages()).signInFailed(failure, call, parts);
  const login = { failed, audit: "login" } as const;
  const form = { ...FORM, ...login };
  const providers: readonly Row[] = [
    ["GET", "/login/:way", async (call) => (await providerPages()).providerRedirect(call, parts), { failed }],
    ["GET", "/login/:way/done", async (call) => (await providerPages()).providerCallback(call, parts), login],
    [
      "POST",
      "/oidc/backchannel-logout",
      async (call) => (await providerPages()).logoutByProvider(call, parts),
      { audit: "login" },
    ],
  ];
  return table(
    { service: "open" },
    ["POST", "/login", async (call) => (await signInPages()).signInByForm(call, parts), form],
    ...(parts.ways.providers.size === 0 ? [] : providers),
    ["POST", "/logout", async (call) => (await signInPages()).signOut(call, parts), FORM],
  );
}

function ownShareRoutes(parts: SharingParts): Route[] {
  const form = audited("share");
  const list: Route["answer"] = async (call) => (await sharePages()).ownSharesPage(call, parts);
  const change: Route["answer"] = async (call) => (await sharePages()).changeShareByForm(call, parts);
  const browse: Route["answer"] = async (call) =>
    (await import("../../pages/own_shares/browse_page.ts")).browsePage(call, parts);
  return table(
    { service: "share", signedIn: true, failed: toSignInBelow("shares") },
    ["GET", "/shares", list],
    ["GET", "/shares/:server", list],
    ["GET", "/shares/:server/browse", browse, { audit: "session" }],
    ["GET", "/shares/:server/new", async (call) => (await sharePages()).newSharePage(call, parts)],
    ["POST", "/shares/:server", async (call) => (await sharePages()).makeShareByForm(call, parts), form],
    ["GET", "/shares/:server/:id", async (call) => (await sharePages()).ownSharePage(call, parts)],
    ["POST", "/shares/:server/:id", change, form],
  );
}

const devicePages = () => import("../../pages/device_page.ts");
const deviceLogins = () => import("../../resource/device_login.ts");

/** Returns the routes of device logins (RFC 8628): endpoints for programs, and the page for their users. */
function deviceRoutes(parts: DevicePageParts): Route[] {
  const failed: Route["failed"] = async (failure, call) =>
    toSignIn(failure, call, (await devicePages()).devicePageOf(call.query));
  const { begin, token, script, page } = DEVICE_PATHS;
  const beginLogin: Route["answer"] = async (call) =>
    (await deviceLogins()).beginDeviceLogin(call, parts, (await import("../../pages/qr_picture.ts")).qrText);
  const decide = (allows: boolean): Route["answer"] => async (call) =>
    (await devicePages()).decideDeviceLogin(call, parts, allows);
  return [
    ...table(
      { service: "open" }, // programs send these forms, without a page of ours
      ["POST", begin, beginLogin],
      ["POST", token, async (call) => (await deviceLogins()).pollDeviceLogin(call, parts)],
      ["GET", script, async (call) => (await deviceLogins()).loginScript(call, parts.servers.keys())],
    ),
    ...table(
      { service: "auth", permission: "POST", signedIn: true, failed },
      ["GET", page, async (call) => (await devicePages()).devicePage(call, parts)],
      ["POST", page, async (call) => (await devicePages()).showDeviceLogin(call, parts), FORM],
      ["POST", `${page}/allow`, decide(true), audited("token")],
      ["POST", `${page}/deny`, decide(false), FORM],
    ),
  ];
}
