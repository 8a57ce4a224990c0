import { absolutePath, withoutSlash } from "../../model/absolute_path.ts";
import { httpError, invalidRequest } from "../../model/http_error.ts";
import { readTarget } from "../../model/http_message.ts";
import { decodedSegment, decodedSegments } from "../access/opened_share.ts";
import { encodePath } from "../access/share_facts.ts";
import type { Call } from "../call.ts";
import { parseServerAddress } from "../server_facts.ts";

/** Resource on a server, below `/dav/<server>/`. */
export interface DavTarget {
  readonly path: string; // absolute, without trailing slash but for the root
  readonly href: string; // as the client names it, percent-encoded, without trailing slash but for the root
  readonly wantsDirectory: boolean; // whether it was named with a trailing slash
}

/**
 * Returns the resource of `/dav/<server>/<path>`; a first segment `~` is the home directory.
 * @param rest Percent-encoded path after the server. @throws {ERR_NOT_FOUND | ERR_INVALID_PATH}
 */
export async function davTarget(
  { base }: Pick<Call, "base">,
  server: string,
  rest: string,
  home: () => Promise<string>,
): Promise<DavTarget> {
  const segments = decodedSegments(rest.split("/"));
  const [first, ...below] = segments;
  const path = first === "~" ? `${await home()}${below.join("/")}` : `/${segments.join("/")}`;
  const root = `${davRoot(base)}${encodeURIComponent(server)}`;
  return {
    path: withoutSlash(absolutePath(path)),
    href: `${root}/${encodePath(segments.join("/"))}`,
    wantsDirectory: rest === "" || rest.endsWith("/"),
  };
}

/** Returns the percent-encoded path of `/dav/` as clients see it. */
export function davRoot(base: string): string {
  return `${withoutSlash(new URL(base).pathname)}/dav/`.replace("//", "/");
}

/**
 * Returns the path after the server that the header `Destination` names (RFC 4918, 10.3).
 * @throws {ERR_INVALID_REQUEST} @throws {ERR_OTHER_SERVER} If it is not on the server of the request.
 */
export function destinationOf({ request, base, server }: Pick<Call, "request" | "base" | "server">): string {
  const header = request.headers.get("Destination") ?? "";
  const [start = "", authority] = /^https?:\/\/([^/?#]*)/i.exec(header) ?? [];
  const target = readTarget(header.slice(start.length));
  if (target === undefined || target.query !== "") {
    throw invalidRequest("Destination: expected the address of a file or directory");
  }
  const own = [new URL(base).host, request.headers.get("Host")].map((host) => host?.toLowerCase());
  if (authority !== undefined && !own.includes(authority.toLowerCase())) throw httpError("ERR_OTHER_SERVER");
  const root = [davRoot(base), "/dav/"].find((root) => target.path.startsWith(root));
  const [segment = "", ...rest] = root === undefined ? [] : target.path.slice(root.length).split("/");
  if (parseServerAddress(decodedSegment(segment)).name !== server?.name) throw httpError("ERR_OTHER_SERVER");
  return rest.join("/");
}
