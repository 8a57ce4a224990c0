import { download } from "../resource/access/download.ts";
import { sharedUftpSession } from "../resource/access/uftp_session.ts";
import { upload } from "../resource/access/upload.ts";
import { createShare } from "../resource/share/create_share.ts";
import { deleteShare } from "../resource/share/delete_share.ts";
import { listSharedServers, listShares } from "../resource/share/list_shares.ts";
import { readShare } from "../resource/share/read_share.ts";
import type { SharingParts } from "../resource/share/sharing_parts.ts";
import { updateShare } from "../resource/share/update_share.ts";
import type { ServiceConfig } from "../config/service_config.ts";
import type { Route } from "./router.ts";

const JSON_TYPE = ["application/json"] as const;
const SHARE = "/rest/share/:server/:id";
const SHARED = "/rest/access/:server/:id";

/** The resources of data sharing; a feature that is off has none. */
export function shareRoutes(parts: SharingParts, features: ServiceConfig["features"]): Route[] {
  return [...(features.share ? ownersRoutes(parts) : []), ...(features.access ? usersRoutes(parts) : [])];
}

/** What owners do with their shares (rest-api.md 1.12). */
function ownersRoutes(parts: SharingParts): Route[] {
  const common = { service: "share", produces: JSON_TYPE } as const;
  const change = { ...common, consumes: "application/json", audit: "share" } as const;
  return [
    { ...common, method: "GET", path: "/rest/share", answer: (call) => listSharedServers(call, parts) },
    { ...common, method: "GET", path: "/rest/share/:server", answer: (call) => listShares(call, parts) },
    { ...change, method: "POST", path: "/rest/share/:server", answer: (call) => createShare(call, parts) },
    { ...common, method: "GET", path: SHARE, answer: (call) => readShare(call, parts) },
    { ...change, method: "PUT", path: SHARE, answer: (call) => updateShare(call, parts) },
    { ...common, method: "DELETE", path: SHARE, audit: "share", answer: (call) => deleteShare(call, parts) },
  ];
}

/** How shared files are reached (rest-api.md 1.13). */
function usersRoutes(parts: SharingParts): Route[] {
  const common = { service: "access", audit: "share" } as const;
  return [
    { ...common, method: "GET", path: SHARED, answer: (call) => download(call, parts) },
    { ...common, method: "GET", path: `${SHARED}/*rest`, answer: (call) => download(call, parts) },
    { ...common, method: "PUT", path: SHARED, answer: (call) => upload(call, parts) },
    { ...common, method: "PUT", path: `${SHARED}/*rest`, answer: (call) => upload(call, parts) },
    {
      ...common,
      method: "POST",
      path: "/rest/access/:server",
      consumes: "application/json",
      produces: JSON_TYPE,
      answer: (call) => sharedUftpSession(call, parts),
    },
  ];
}
