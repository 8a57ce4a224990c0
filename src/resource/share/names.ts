import { attributesOnServer, type ServerAttributes } from "../../attributes/server_attributes.ts";
import { attempt } from "../../model/attempt.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { ANONYMOUS_DN, type Caller } from "../../model/identity.ts";
import { HttpError } from "../../model/http_error.ts";
import { EVERYBODY, groupTarget, type Share } from "../../sharing/share.ts";
import type { Call } from "../call.ts";

/** Returns the caller's canonical DN (rest-api.md 2.6). */
export function callerName(caller: Caller): string {
  return canonicalDn(caller.kind === "anonymous" ? ANONYMOUS_DN : caller.identity.dn);
}

/** Returns the canonical DN that owns shares on a server. A daemon's key proves it on its servers only, else an account does. */
export function nameOnServer({ caller, user, log }: Call, server: string): string {
  const proven = user.restricted === undefined || user.restricted.servers.includes(server);
  return proven || accountOn({ user, log }, server) !== undefined ? callerName(caller) : EVERYBODY;
}

/** Returns the caller's name as they write it, for logs that people read; see {@link nameOnServer}. */
export function shownName(call: Call, server: string): string {
  const name = nameOnServer(call, server);
  return name === EVERYBODY || call.caller.kind === "anonymous" ? EVERYBODY : call.caller.identity.dn;
}

/** Reports whether a signed-in browser views a share of its own user as others see it. */
export function isOwnerPreview(call: Call, { server, owner }: Pick<Share, "server" | "owner">): boolean {
  const { signIn, request: { method } } = call;
  return signIn !== undefined && (method === "GET" || method === "HEAD") && owner !== EVERYBODY &&
    nameOnServer(call, server) === owner;
}

/** Returns the targets that match the caller on a server: the name and, with an account, the Unix groups. */
export function targetsOnServer(call: Call, server: string): readonly string[] {
  const name = nameOnServer(call, server);
  if (call.caller.kind === "anonymous" || name === EVERYBODY) return [];
  return [name, ...(accountOn(call, server)?.availableGroups ?? []).map(groupTarget)];
}

/** Returns the caller's account on a server; undefined without an account, or on error. */
export function accountOn(
  { user, log }: Pick<Call, "user" | "log">,
  server: string,
): ServerAttributes | undefined {
  return attempt(() => attributesOnServer(user, server, { log }), HttpError, () => undefined);
}
