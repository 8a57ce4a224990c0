import { attributesOnServer, type ServerAttributes } from "../../attributes/server_attributes.ts";
import { canonicalDn } from "../../model/distinguished_name.ts";
import { ANONYMOUS_DN, type Caller } from "../../model/identity.ts";
import { HttpError } from "../../model/http_error.ts";
import { EVERYBODY, groupTarget } from "../../sharing/target.ts";
import type { Call } from "../call.ts";

/** A caller's name in canonical DN (rest-api.md 2.6). */
export function callerName(caller: Caller): string {
  return canonicalDn(caller.kind === "anonymous" ? ANONYMOUS_DN : caller.identity.dn);
}

/**
 * Whose shares on a server are the caller's, and which are for the caller: the name in canonical DN.
 *
 * A key that a daemon reported gives the same name to people of one account name on different hosts. On servers of other
 * daemons the name is the caller's only if the attribute sources give it an account there; else the caller is nobody in
 * particular.
 */
export function nameOnServer({ caller, user, log }: Call, server: string): string {
  const proven = user.restricted === undefined || user.restricted.servers.includes(server);
  return proven || hasAccount({ user, log }, server) ? callerName(caller) : EVERYBODY;
}

/**
 * The targets of shares on a server that are for the caller in particular: by name, and by the Unix groups that the caller
 * has there now. None for whoever is nobody in particular; and no groups for whoever has no account there.
 */
export function targetsOnServer(call: Call, server: string): readonly string[] {
  const name = nameOnServer(call, server);
  if (call.caller.kind === "anonymous" || name === EVERYBODY) return [];
  const groups = accountOn(call, server)?.availableGroups ?? [];
  return [name, ...groups.map(groupTarget)];
}

function hasAccount(of: Pick<Call, "user" | "log">, server: string): boolean {
  return accountOn(of, server) !== undefined;
}

/** What somebody is on a server; undefined without an account there, or where it cannot be told. */
export function accountOn(
  { user, log }: Pick<Call, "user" | "log">,
  server: string,
): ServerAttributes | undefined {
  try {
    return attributesOnServer(user, server, { log });
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}
