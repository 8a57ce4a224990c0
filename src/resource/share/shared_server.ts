import type { SessionClient } from "../../daemon/session/session_client.ts";
import { attempt } from "../../model/attempt.ts";
import { HttpError, httpError } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { type ExistingServer, existingServer } from "../server_facts.ts";
import { checkLogin } from "../login_policy.ts";
import { checkTokenServer, checkTokenShare } from "../token_limits.ts";
import type { SharingParts } from "./sharing_parts.ts";
import type { Caller } from "../../model/identity.ts";
import { isShareId, type Share } from "../../sharing/share.ts";
import { nameOnServer } from "./names.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { emptyResponse } from "../text_response.ts";

/** Logical server of a request, or one instance of it (D24). */
export interface SharedServer extends ExistingServer {
  readonly sessions: SessionClient;
}

/** Returns the server if it has sharing and suits token and login. @throws {ERR_UNKNOWN_SERVER} And 403. */
export function sharedServer(call: Call, { sessions, unauthenticated }: SharingParts): SharedServer {
  const server = existingServer(call.server);
  checkTokenServer(call, server.name);
  const client = sessions.get(server.name);
  if (client === undefined || !server.facts.sharing) throw httpError("ERR_UNKNOWN_SERVER");
  checkLogin(call, server.facts, { unauthenticated });
  return { ...server, sessions: client };
}

/** Returns the servers with sharing that suit token and login. */
export function sharedServers(call: Call, parts: SharingParts): SharedServer[] {
  return [...parts.servers].flatMap(([name, facts]) =>
    attempt(() => [sharedServer({ ...call, server: { name, facts } }, parts)], HttpError, () => [])
  );
}

/** Creates {ERR_NOT_PERMITTED}. @param text Forbidden action. */
export function notPermitted(text: string): HttpError {
  return httpError("ERR_NOT_PERMITTED", { text });
}

/** Creates 401 for anonymous callers and 403 for known ones. */
export function refusal(
  caller: Caller,
  message: string,
  { unauthenticated }: { readonly unauthenticated: (reason: string) => HttpError },
): HttpError {
  return caller.kind === "anonymous" ? unauthenticated(message) : notPermitted(message);
}

/** Returns the caller's share that a request names by id. @throws 403, or 401 without credentials, for others'. */
export async function ownShare(call: Call, server: string, parts: SharingParts): Promise<Share | undefined> {
  const id = call.params.get("id") ?? "";
  const share = isShareId(id) ? await parts.store.get(server, id) : undefined;
  if (share === undefined) return undefined;
  if (call.caller.kind === "anonymous" || share.owner !== nameOnServer(call, server)) {
    throw refusal(call.caller, "This share belongs to somebody else", parts);
  }
  checkTokenShare(call, share);
  return share;
}

/** Checks token and login for all servers of a share, since a change of an imported share applies to each. @throws 403 */
export async function checkEverywhere(call: Call, { id }: Share, parts: SharingParts): Promise<void> {
  for (const { server: name } of await parts.store.withId(id)) {
    const facts = parts.servers.get(name);
    if (facts?.sharing) sharedServer({ ...call, server: { name, facts } }, parts);
  }
}

/** Serves `DELETE /rest/share/<server>/<id>`; an unknown id is no error. */
export async function deleteShare(call: Call, parts: SharingParts): Promise<HttpResponse> {
  const { name } = sharedServer(call, parts);
  const share = await ownShare(call, name, parts);
  if (share === undefined) return emptyResponse();
  await checkEverywhere(call, share, parts);
  if (await parts.store.remove(name, share.id)) {
    call.audit({ server: name, owner: share.owner, path: share.path });
  }
  return emptyResponse();
}
