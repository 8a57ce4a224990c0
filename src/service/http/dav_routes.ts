import { davResource, davServers } from "../../resource/dav/dav.ts";
import type { DavParts } from "../../resource/dav/dav_call.ts";
import { DAV_METHODS, type Route, type Row, table } from "./router.ts";

/** Returns the routes of WebDAV: the servers, and the caller's files on each. */
export function davRoutes(parts: DavParts): Route[] {
  const methods = [...DAV_METHODS, "GET", "PUT", "DELETE"] as const;
  const paths = ["/dav/:server", "/dav/:server/*rest"];
  return table(
    // Sign-ins of browsers are not valid here, so other sites cannot send requests with them.
    { service: "auth", permission: "POST", checksCapabilities: true, audit: "session" },
    ["PROPFIND", "/dav", (call) => davServers(call, parts)],
    ...paths.flatMap((path) =>
      methods.map((method): Row => [method, path, (call) => davResource(call, parts)])
    ),
  );
}
