import { formatScrypt, hashWithScrypt } from "../../authentication/password/stored_hash.ts";
import type { Secret } from "../../model/secret.ts";
import { withoutSlash } from "../../model/absolute_path.ts";
import { epochSeconds, LAST_SECOND } from "../../model/clock.ts";
import type { HttpResponse } from "../../model/http_message.ts";
import { groupOf, type Share } from "../../sharing/share.ts";
import { type HttpError, invalidRequest } from "../../model/http_error.ts";
import type { Call } from "../call.ts";
import { groupRefusal } from "../group_refusal.ts";
import { readJson } from "../request_body.ts";
import { checkedPath, checkWritePolicy, creationRights, fullPath, shareAccount } from "./checked_path.ts";
import { accountOn, nameOnServer } from "./names.ts";
import { parseShareFields, type ShareFields } from "./share_fields.ts";
import { checkEverywhere, notPermitted, refusal, type SharedServer, sharedServer } from "./shared_server.ts";
import { accountOfShare } from "./share_owners.ts";
import type { SharingParts } from "./sharing_parts.ts";
import { ownerMail } from "./vouched_mail.ts";
import { emptyResponse } from "../text_response.ts";
import { checkTokenShare, checkTokenUse, tokenSources } from "../token_limits.ts";

/** Serves `POST /rest/share/<server>`: creates, renews, or with `NONE` removes a share (rest-api.md 1.12, 2.3, 2.4). */
export async function createShare(call: Call, parts: SharingParts): Promise<HttpResponse> {
  sharedServer(call, parts);
  if (call.caller.kind === "anonymous") throw refusal(call.caller, "Sharing needs credentials", parts);
  const share = await putShare(call, await readJson(call.request), parts);
  if (share === undefined) return emptyResponse();
  const location = `${call.base}/rest/share/${share.server}/${share.id}`;
  return emptyResponse({ status: 201, headers: { Location: location } });
}

/** Creates, updates or removes a share. @returns `undefined` if it was removed. */
export async function putShare(call: Call, body: unknown, parts: SharingParts): Promise<Share | undefined> {
  const server = sharedServer(call, parts);
  const fields = parseShareFields(body);
  const { access, target } = fields;
  if (access === "NONE") {
    await removeShares(call, server, fields, parts);
    return undefined;
  }
  checkWritePolicy(access, parts);
  const account = shareAccount(call, server.name, fields.group);
  const sources = tokenSources(call, fields.sources);
  const path = await checkedPath(fields.path, { call, account, access, server });
  await checkGroup(call, groupOf(target), { account, server });
  checkTokenShare(call, { path, access, sources });
  for (const share of await replaced(call, server, { paths: [path], target }, parts)) {
    if (accountOfShare(call, share) === undefined) throw accountMissing(call, share);
    call.admit(call.clientAddress, share.uid); // the request may select another account
  }
  const draft = {
    path,
    owner: nameOnServer(call, server.name),
    target,
    targetName: fields.targetName,
    uid: account.uid,
    gid: account.groups,
    access,
    expires: expiryOf(fields.lifetime, parts),
    oneTime: fields.oneTime,
    usesLeft: fields.maxUses,
    sources,
    note: fields.note,
    password: await passwordHash(call, fields.password, parts),
    quota: fields.quota,
    mail: fields.notify ? ownerMail(call, server.name, access, parts) : undefined,
    made: await creationRights(call, { path, account, server }, parts),
  };
  await call.userNow(); // the daemon may have taken long
  call.admit(call.clientAddress, account.uid);
  const share = await parts.store.put(server.name, draft, parts.maxPerUser);
  call.audit({ server: server.name, owner: share.owner, target: share.target, path, access: share.access });
  return share;
}

/** Checks that the server knows a Unix group, by a login. @throws {ERR_INVALID_REQUEST} */
async function checkGroup(
  call: Call,
  group: string | undefined,
  { account: { uid }, server }: { readonly account: { readonly uid: string }; readonly server: SharedServer },
): Promise<void> {
  if (group === undefined || accountOn(call, server.name)?.availableGroups.includes(group)) return;
  const trial = { user: uid, group, instance: server.instance };
  if (await groupRefusal(server.sessions, trial, call.signal) === "unknown") {
    throw invalidRequest("The server does not know this group");
  }
}

/** Hashes the password of a link. @throws As `ScryptSemaphore.run()`. */
export async function passwordHash(
  { user, signal }: Pick<Call, "user" | "signal">,
  password: Secret | undefined,
  { hashing }: SharingParts,
): Promise<string | undefined> {
  if (password === undefined) return undefined;
  const waiter = { queueKey: user.uid ?? "", known: true, signal };
  return formatScrypt(await hashing.run(() => hashWithScrypt(password.reveal()), waiter));
}

/** Returns the end of a share that begins now, in seconds since the epoch, within the operator's bound. */
export function expiryOf(
  lifetime: number,
  { maxLifetimeSeconds, clock }: Pick<SharingParts, "maxLifetimeSeconds" | "clock">,
): number {
  const limits = [lifetime, maxLifetimeSeconds].filter((seconds) => seconds > 0);
  return limits.length === 0 ? 0 : Math.min(epochSeconds(clock) + Math.min(...limits), LAST_SECOND);
}

/** Removes shares by the text of their path, with or without last slash: path and daemon may no longer exist (D36). */
async function removeShares(
  call: Call,
  server: SharedServer,
  { path, target }: ShareFields,
  parts: SharingParts,
): Promise<void> {
  const { name } = server;
  const owner = nameOnServer(call, name);
  const exact = await fullPath(path, () => shareAccount(call, name).uid, server, call.signal);
  checkTokenUse(call, exact, "READ");
  const toggled = exact.endsWith("/") ? withoutSlash(exact) : `${exact}/`;
  await replaced(call, server, { paths: [exact, toggled], target }, parts);
  const removed = await parts.store.removeByPath(name, owner, exact, target) ||
    await parts.store.removeByPath(name, owner, toggled, target);
  if (removed > 0) call.audit({ server: name, owner, target, path: exact });
}

/** Returns the caller's shares that a request changes or removes by their path. @throws {ERR_TOKEN_RESTRICTIONS} */
async function replaced(
  call: Call,
  { name }: SharedServer,
  { paths, target }: { readonly paths: readonly string[]; readonly target: string },
  parts: SharingParts,
): Promise<readonly Share[]> {
  const owner = nameOnServer(call, name);
  const own = (await parts.store.withPaths(name, paths, [target])).filter((share) => share.owner === owner);
  for (const share of own) {
    checkTokenShare(call, share);
    await checkEverywhere(call, share, parts);
  }
  return own;
}

/** Returns {ERR_NOT_PERMITTED}, or an outage, for owners whose login lacks the account of their share. */
export function accountMissing({ user }: Call, { uid }: Share): HttpError {
  return user.outage ??
    notPermitted(`This share uses account ${uid}. Log in with its account and group to change it`);
}
