import type { Files } from "../../files/files.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { invalidRequest } from "../../model/http_error.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import type { UseOfShare } from "../access/use_of_share.ts";
import type { Call } from "../call.ts";
import { ownFiles } from "../own_files.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { notPermitted } from "../share/shared_server.ts";
import type { DavLocks, LockUser } from "./dav_locks.ts";
import { type DavTarget, davTarget } from "./dav_target.ts";
import type { ConditionList } from "./if_header.ts";

/** Dependencies of WebDAV, and of the pages of own files. */
export interface DavParts extends
  Pick<
    SharingParts,
    "servers" | "sessions" | "uploads" | "uses" | "watch" | "unread" | "transferred" | "clock"
  > {
  readonly locks: DavLocks;
}

/** Request for a resource on a server. */
export interface DavCall {
  readonly call: Call; // its signal ends with a ban
  readonly files: Files;
  readonly target: DavTarget;
  readonly user: LockUser;
  readonly lists: readonly ConditionList[]; // of the header `If`
  readonly begin: BeginContent;
  readonly parts: DavParts;
}

/** Media type of answers. */
export const XML = "application/xml; charset=utf-8";

/** Returns the files of the caller's account, and the one that the request names. @throws As `ownFiles()` and `davTarget()`. */
export async function davPlace(
  call: Call,
  parts: DavParts,
): Promise<Pick<DavCall, "files" | "target" | "user">> {
  const { server, params, caller } = call;
  const files = await ownFiles(call, parts);
  const target = await davTarget(call, params.get("server") ?? "", params.get("rest") ?? "", files.home);
  const owner = canonicalDn(caller.kind === "anonymous" ? "" : caller.identity.dn);
  const user = { owner, server: server?.name ?? "", uid: files.confine(target.path).user };
  call.audit({ path: target.path });
  return { files, target, user };
}

/** Begins to send the content of a file or archive; `finish` records the end. */
type BeginContent = () => Promise<Pick<UseOfShare, "finish">>;

/** Runs a request that a ban ends until the response or, after `begin`, the end of the content. Counts its bytes. */
export async function untilBan(
  call: Call,
  { watch, transferred }: Pick<DavParts, "watch" | "transferred">,
  work: (call: Call, begin: BeginContent) => Promise<HttpResponse>,
): Promise<HttpResponse> {
  const ended = new AbortController();
  const unwatch = watch(call, (reason) => ended.abort(reason));
  let isContent = false;
  const begin: BeginContent = () => {
    isContent = true;
    const finish = ({ bytes }: { readonly bytes: number }) => {
      unwatch();
      transferred?.("download", bytes);
      return Promise.resolve();
    };
    return Promise.resolve({ finish });
  };
  try {
    const response = await work({ ...call, signal: AbortSignal.any([call.signal, ended.signal]) }, begin);
    if (!isContent) unwatch();
    return response;
  } catch (error) {
    unwatch();
    throw error;
  }
}

/** Returns the header `Depth`, by default `infinity`. @throws {ERR_INVALID_REQUEST} Unless it has one of these values. */
export function depthOf<D extends string>({ request }: Pick<Call, "request">, known: readonly D[]): D {
  const depth = request.headers.get("Depth")?.trim().toLowerCase() ?? "infinity";
  const found = known.find((each) => each === depth);
  if (found === undefined) throw invalidRequest(`Depth: expected ${known.join(" or ")}`);
  return found;
}

/** Returns the error for a change of the top directory. */
export function rootStays(): Error {
  return notPermitted("The top directory of a server can be neither moved nor deleted");
}

/** Returns the error for a body without this element. */
export function wrongBody(element: string): Error {
  return invalidRequest(`The request body must be a valid ${element} element of the namespace DAV:`);
}
