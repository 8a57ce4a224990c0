import { isDeepStrictEqual } from "node:util";
import { type AccessLevel, EVERYBODY, grants, isEnded, isShareId, type Share } from "../../sharing/share.ts";
import { absolutePath, parentOf } from "../../model/absolute_path.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { httpError } from "../../model/http_error.ts";
import { applicableShare, coveringPaths } from "../../sharing/rules/applicable_share.ts";
import { grantedScope } from "../../files/session_scope.ts";
import type { Call } from "../call.ts";
import { grantResponse } from "../open_session.ts";
import { membersOf, readJson, text } from "../request_body.ts";
import { checkAvailable } from "../server_facts.ts";
import { parseSessionRequest } from "../session_request.ts";
import { targetsOnServer } from "../share/names.ts";
import { parseName } from "../share/share_fields.ts";
import { refusal, sharedServer } from "../share/shared_server.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { checkTokenUse, tokenPermission } from "../token_limits.ts";
import { checkOwner, checkUser, granted } from "./opened_share.ts";
import { checkLinkPassword } from "./link_password.ts";
import { shareSession } from "./share_session.ts";
import { useShare } from "./use_of_share.ts";

/**
 * Serves `POST /rest/access/<server>[/<id>]`: opens a UFTP session under the owner's account, confined to the requested path
 * (rest-api.md 1.13, 2.5). The request names the share by id (in the address or as `share`) or by `owner`; else {@link
 * applicableShare} chooses.
 */
export async function sharedUftpSession(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const server = sharedServer(call, parts);
  const body = await readJson(call.request);
  const request = parseSessionRequest(body);
  const asked = absolutePath(request.serverPath);
  const wanted = request.send ? "READ" : "WRITE";
  const member = membersOf(body);
  const id = call.params.get("id") ?? text("share", member("share"));
  const named = text("owner", member("owner"));
  const owner = named === undefined ? undefined : parseName("owner", named);
  const share = await requestedShare(call, { server: server.name, asked, wanted, id, owner }, parts);
  checkUser(call, share, wanted, parts);
  await checkLinkPassword(call, share, parts);
  const path = pathOfSession(asked, share);
  checkTokenUse(call, path, wanted);
  const ofOwner = async () => grantedScope(path, await checkOwner(share, path, call.signal, parts));
  const scope = await ofOwner();
  const account = shareSession(call, server, share);
  checkAvailable(server);

  const use = await useShare(call, share, { kind: "UFTP", path }, parts);
  try {
    const grant = await server.facts.daemons.openSession({
      ...account,
      clientAddresses: [call.clientAddress],
      ...scope,
      permission: tokenPermission(call, grants(granted(share, parts), "WRITE") ? "WRITE" : "READ"),
      // A persistent secret would allow many uses.
      persistent: request.persistent && share.usesLeft === undefined,
      streams: request.streamCount,
      compress: request.compress,
      encryption: request.encryption,
    }, { instance: server.instance, signal: use.signal });
    const user = await call.userNow();
    if (user !== undefined) checkUser({ ...call, user }, share, wanted, parts);
    const now = user && [await ofOwner(), shareSession({ ...call, user }, server, share)];
    if (now !== undefined && !isDeepStrictEqual(now, [scope, account])) {
      throw httpError("ERR_PERMISSIONS_CHANGED", "limits of owner or caller changed since the request");
    }
    use.signal.throwIfAborted();
    use.unwatch(); // the session goes on without this service
    call.audit({ instance: grant.instance, daemon: `${grant.host}:${grant.port}` });
    return grantResponse(grant);
  } catch (error) {
    await use.release();
    throw error;
  }
}

/** Clients ask for a directory without its last slash, and for the folder of a file. */
function matchesRequest(asked: string, { path }: Share): boolean {
  return path === `${asked}/` || (!path.endsWith("/") && parentOf(path) === asked);
}

/** The Java client asks for files of a directory by wildcards in the last name, and matches them itself. */
function pathOfSession(asked: string, share: Share): string {
  if (matchesRequest(asked, share)) return share.path;
  return share.path.endsWith("/") && /[*?]/.test(asked.slice(asked.lastIndexOf("/")))
    ? parentOf(asked)
    : asked;
}

/** @throws {ERR_SHARE_NOT_FOUND} Or a refusal, if all shares of the path are for others. */
async function requestedShare(
  call: Call,
  { server, asked, wanted, id, owner }: {
    readonly server: string;
    readonly asked: string;
    readonly wanted: AccessLevel;
    readonly id: string | undefined;
    readonly owner: string | undefined; // canonical DN
  },
  parts: SharingParts,
): Promise<Share> {
  const paths = coveringPaths(asked);
  const isOwned = (share: Share) => owner === undefined || share.owner === owner;
  if (id !== undefined) {
    const share = isShareId(id) ? await parts.store.get(server, id) : undefined;
    const covers = share !== undefined && (paths.includes(share.path) || matchesRequest(asked, share));
    if (!covers || isEnded(share, parts.clock()) || !isOwned(share)) throw httpError("ERR_SHARE_NOT_FOUND");
    return share;
  }
  const targets = [...targetsOnServer(call, server), EVERYBODY];
  const shares = (await parts.store.withPaths(server, paths, targets)).filter(isOwned);
  const share = applicableShare(shares, wanted);
  if (share !== undefined) return share;
  const { outage } = call.user;
  if ((owner !== undefined && !outage) || !await parts.store.anyWithPaths(server, paths)) {
    throw httpError("ERR_SHARE_NOT_FOUND");
  }
  throw outage ?? refusal(call.caller, "This path is shared with somebody else", parts);
}
