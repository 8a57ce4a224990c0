import { attributesOnServer, NoAccount } from "../../attributes/server_attributes.ts";
import { grants } from "../../sharing/access_level.ts";
import { absolutePath } from "../../sharing/rules/absolute_path.ts";
import { coveringPaths, mostSpecific } from "../../sharing/rules/applicable_share.ts";
import { grantedScope } from "../../sharing/rules/session_scope.ts";
import type { Call } from "../call.ts";
import { grantResponse, readJson } from "../open_session.ts";
import { lowestLimit } from "../rate_limit.ts";
import { ServerDown } from "../request_errors.ts";
import { statusText } from "../server_facts.ts";
import type { WholeResponse } from "../text_response.ts";
import { parseSessionRequest } from "../session_request.ts";
import { EVERYBODY, nameOnServer } from "../share/names.ts";
import { type SharedServer, sharedServer } from "../share/shared_server.ts";
import { refusal, ShareNotFound } from "../share/sharing_errors.ts";
import type { SharingParts } from "../share/sharing_parts.ts";
import { checkOwner, checkUser } from "./opened_share.ts";
import { useShare } from "./use_of_share.ts";

/**
 * `POST /rest/access/<server>`: a UFTP session for shared data, under the account of the share's owner and confined to
 * what is asked for (rest-api.md 1.13, 2.5). The most specific share for the caller or for everybody decides.
 */
export async function sharedUftpSession(call: Call, parts: SharingParts): Promise<WholeResponse> {
  const server = sharedServer(call, parts);
  const request = parseSessionRequest(await readJson(call.request));
  const asked = absolutePath(request.serverPath);
  const shares = await parts.store.withPaths(server.name, coveringPaths(asked));
  if (shares.length === 0) throw new ShareNotFound();
  const share = mostSpecific(shares, { caller: nameOnServer(call, server.name), everybody: EVERYBODY });
  if (share === undefined) throw refusal(call.caller, "This path is shared with somebody else", parts);
  checkUser(call, share, request.send ? "READ" : "WRITE", parts);
  // A shared directory asked for without its last slash is still a directory.
  const path = share.path === `${asked}/` ? share.path : asked;
  await checkOwner(share, path, call.signal, parts);
  const scope = grantedScope(path, await parts.ownerLimits(share, call.signal));
  const status = server.facts.daemons.status();
  if (server.instance === undefined && !status.usable) throw new ServerDown(statusText(status));

  const use = await useShare(call, share, { kind: "UFTP", path }, parts);
  try {
    const grant = await server.facts.daemons.openSession({
      user: share.uid,
      ...(share.gid !== undefined && { group: share.gid }),
      clientAddresses: [call.clientAddress],
      ...scope,
      permission: grants(share.access, "WRITE") && parts.allowWriteAccess ? "WRITE" : "READ",
      // A persistent secret would be worth many uses.
      persistent: request.persistent && share.usesLeft === undefined,
      streams: request.streamCount,
      compress: request.compress,
      ...(request.encryption && { encryption: request.encryption }),
      rateLimit: callersLimit(call, server),
    }, { ...(server.instance !== undefined && { instance: server.instance }), signal: call.signal });
    call.audit({ instance: grant.instance, daemon: `${grant.host}:${grant.port}` });
    return grantResponse(grant);
  } catch (error) {
    await use.giveBack();
    throw error;
  }
}

/** Rate limit and reservations are those of the caller, not of the owner; a caller needs no account here. */
function callersLimit({ user, log }: Call, { name, facts }: SharedServer): number {
  try {
    const { uid, rateLimit } = attributesOnServer(user, name, { log });
    return lowestLimit(rateLimit, facts.reservations.limitFor(uid));
  } catch (error) {
    if (!(error instanceof NoAccount)) throw error;
    return lowestLimit(facts.reservations.limitFor(undefined));
  }
}
