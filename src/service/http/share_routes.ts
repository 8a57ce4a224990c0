import { sharedUftpSession } from "../../resource/access/uftp_session.ts";
import { upload } from "../../resource/access/upload.ts";
import { createShare } from "../../resource/share/create_share.ts";
import { deleteShare } from "../../resource/share/shared_server.ts";
import { listSharedServers, listShares, readShare } from "../../resource/share/list_shares.ts";
import type { SharingParts } from "../../resource/share/sharing_parts.ts";
import { updateShare } from "../../resource/share/update_share.ts";
import type { ServiceConfig } from "../../config/service_config.ts";
import { downloadWithPages, linkPasswordPage, signInForShare } from "./page_routes.ts";
import { JSON_TYPE, type Route, type Row, table } from "./router.ts";

const SHARE = "/rest/share/:server/:id";
const SHARED = "/rest/access/:server/:id";

/** Returns the routes of data sharing; omits disabled features. @param signIn Whether browsers can sign in. */
export function shareRoutes(
  parts: SharingParts,
  features: ServiceConfig["features"],
  signIn: boolean,
): Route[] {
  return [
    ...(features.share ? ownersRoutes(parts) : []),
    ...(features.access ? usersRoutes(parts, signIn) : []),
  ];
}

/** Shares of the caller (rest-api.md 1.12). */
function ownersRoutes(parts: SharingParts): Route[] {
  const change = { consumes: "application/json", audit: "share" } as const;
  return table(
    { service: "share", produces: JSON_TYPE },
    ["GET", "/rest/share", (call) => listSharedServers(call, parts)],
    ["GET", "/rest/share/:server", (call) => listShares(call, parts), { query: { after: "string" } }],
    ["POST", "/rest/share/:server", (call) => createShare(call, parts), change],
    ["GET", SHARE, (call) => readShare(call, parts)],
    ["PUT", SHARE, (call) => updateShare(call, parts), change],
    ["DELETE", SHARE, (call) => deleteShare(call, parts), { audit: "share" }],
  );
}

/** Access to shared files (rest-api.md 1.13). */
function usersRoutes(parts: SharingParts, signIn: boolean): Route[] {
  const failed: Route["failed"] = async (failure, call) =>
    await linkPasswordPage(failure, call) ?? (signIn ? await signInForShare(failure, call) : undefined);
  const session: Route["answer"] = (call) => sharedUftpSession(call, parts);
  const json = { consumes: "application/json", produces: JSON_TYPE } as const;
  return table(
    { service: "access", audit: "share", linkPassword: true, failed },
    ...[SHARED, `${SHARED}/*rest`].flatMap((path): Row[] => [
      ["GET", path, (call) => downloadWithPages(call, parts)],
      ["PUT", path, (call) => upload(call, parts)],
    ]),
    ["POST", "/rest/access/:server", session, json],
    ["POST", SHARED, session, json],
  );
}
