import { comparableForm } from "../../model/distinguished_name.ts";
import { ANONYMOUS_DN, type Caller } from "../../model/identity.ts";

/** The target of a share for everybody, in comparable form. */
export const EVERYBODY = "cn=anonymous,o=unknown,ou=unknown";

/** A caller's name in comparable form (rest-api.md 2.6). */
export function callerName(caller: Caller): string {
  return comparableForm(caller.kind === "anonymous" ? ANONYMOUS_DN : caller.identity.dn);
}
