import type { ShareChange } from "../../sharing/store/share_store.ts";
import type { Share } from "../../sharing/share.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { httpError, invalidRequest } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { membersOf, readJson } from "../request_body.ts";
import { jsonResponse } from "../text_response.ts";
import { checkTokenShare } from "../token_limits.ts";
import { checkedPath, creationRights } from "./checked_path.ts";
import { accountMissing, expiryOf, passwordHash } from "./create_share.ts";
import { checkEverywhere, ownShare, type SharedServer, sharedServer } from "./shared_server.ts";
import { parseFlag, parseLifetime, parseNote, parsePassword, parseSources } from "./share_fields.ts";
import { accountOfShare } from "./share_owners.ts";
import type { SharingParts } from "./sharing_parts.ts";
import { ownerMail } from "./vouched_mail.ts";

/**
 * Serves `PUT /rest/share/<server>/<id>`: changes path and lifetime, and our `sources`, `note`, `password` and `notify`, after
 * checking all. Unknown members are no error, since clients send `user` and `access` (rest-api.md 1.12).
 */
export async function updateShare(call: Call, parts: SharingParts): Promise<HttpResponse> {
  await existing(call, parts);
  const body = await readJson(call.request);
  await changeShare(call, body, parts);
  const known = new Set(["path", "lifetime", "sources", "note", "password", "notify"]);
  const names = typeof body === "object" && body !== null ? Object.keys(body) : [];
  return jsonResponse(
    Object.fromEntries(names.map((key) => [key, known.has(key) ? "OK" : "Property not found!"])),
  );
}

async function existing(call: Call, parts: SharingParts): Promise<{ server: SharedServer; share: Share }> {
  const server = sharedServer(call, parts);
  const share = await ownShare(call, server.name, parts);
  if (share === undefined) throw httpError("ERR_SHARE_NOT_FOUND");
  await checkEverywhere(call, share, parts);
  return { server, share };
}

/** Changes a share of the caller. */
export async function changeShare(call: Call, body: unknown, parts: SharingParts): Promise<void> {
  const { server, share } = await existing(call, parts);
  const account = accountOfShare(call, share);
  if (account === undefined) throw accountMissing(call, share);
  const member = membersOf(body);

  // Some clients send an empty path when they change the lifetime; it does not mean the home directory.
  const path = member("path") === "" ? undefined : member("path");
  const lifetime = parseLifetime(member("lifetime"));
  const sources = parseSources(member("sources"));
  const note = member("note") === undefined ? undefined : parseNote(member("note")) ?? "";
  const password = member("password") === undefined
    ? undefined
    : await passwordHash(call, parsePassword(member("password")), parts) ?? "";
  const notify = member("notify") === undefined ? undefined : parseFlag("notify", member("notify"));
  if (path !== undefined && typeof path !== "string") throw invalidRequest("path: expected text");
  // A share keeps its account and group.
  const kept = { ...account, groups: share.gid };
  const moved = path && await checkedPath(path, { call, account: kept, access: share.access, server });
  const change: ShareChange = {
    ...moved &&
      { path: moved, made: await creationRights(call, { path: moved, account: kept, server }, parts) },
    expires: lifetime === undefined ? undefined : expiryOf(lifetime, parts),
    sources,
    note,
    password,
    mail: notify === false ? "" : notify && (share.mail ?? ownerMail(call, server.name, share.access, parts)),
  };
  const { path: newer = share.path, sources: wider = share.sources } = change;
  checkTokenShare(call, { path: newer, access: share.access, sources: wider });
  await call.userNow(); // the daemon may have taken long
  call.admit(call.clientAddress, account.uid); // perhaps a selected one
  if (await parts.store.change(server.name, share.id, change) === undefined) {
    throw httpError("ERR_SHARE_NOT_FOUND");
  }
  call.audit({ server: server.name, owner: share.owner, path: newer });
}
