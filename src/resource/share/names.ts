import { attributesOnServer } from "../../attributes/server_attributes.ts";
import { comparableForm } from "../../model/distinguished_name.ts";
import { ANONYMOUS_DN, type Caller } from "../../model/identity.ts";
import { ServiceError } from "../../model/service_error.ts";
import { EVERYBODY } from "../../sharing/share.ts";
import type { Call } from "../call.ts";

/** A caller's name in comparable form (rest-api.md 2.6). */
export function callerName(caller: Caller): string {
  return comparableForm(caller.kind === "anonymous" ? ANONYMOUS_DN : caller.identity.dn);
}

/**
 * Whose shares on a server are the caller's, and which are for the caller: the name in comparable form.
 *
 * A key that a daemon reported gives the same name to people of one account name on different hosts. On servers of other
 * daemons the name is the caller's only if the attribute sources give it an account there; else the caller is nobody in
 * particular.
 */
export function nameOnServer({ caller, user, log }: Call, server: string): string {
  const proven = user.restricted === undefined || user.restricted.servers.includes(server);
  return proven || hasAccount({ user, log }, server) ? callerName(caller) : EVERYBODY;
}

function hasAccount({ user, log }: Pick<Call, "user" | "log">, server: string): boolean {
  try {
    attributesOnServer(user, server, { log });
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}
