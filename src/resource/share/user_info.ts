import { attributesOnServer } from "../../attributes/server_attributes.ts";
import { ServiceError } from "../../model/service_error.ts";
import type { Call } from "../call.ts";
import { callerName } from "./names.ts";

/**
 * The member `userInfo` of the share service's answers: who the caller is on a server, as far as that is known.
 * @param server Absent: on no server in particular.
 */
export function userInfo({ caller, user, log }: Call, server?: string) {
  const dn = callerName(caller);
  if (server === undefined) {
    const { uid, group, availableGroups } = user;
    return uid === undefined
      ? { dn }
      : { uid, ...(group !== undefined && { gid: group }), groups: availableGroups, dn };
  }
  try {
    const { uid, gid, availableGroups } = attributesOnServer(user, server, { log });
    return { uid, ...(gid !== undefined && { gid }), groups: availableGroups, dn };
  } catch (error) {
    if (error instanceof ServiceError) return { dn };
    throw error;
  }
}
