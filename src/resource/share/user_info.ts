import type { Call } from "../call.ts";
import { accountOn, callerName } from "./names.ts";

/**
 * The member `userInfo` of the share service's answers: who the caller is, as far as that is known, on the last of these
 * servers where they are somebody, since the Java service says it for each and the last one stays (rest-api.md 1.12).
 */
export function userInfo(call: Call, servers: readonly string[]) {
  const dn = callerName(call.caller);
  const known = servers.map((server) => accountOn(call, server)).findLast((account) => account !== undefined);
  if (known === undefined) return { dn };
  const { uid, gid, availableGroups } = known;
  return { uid, gid, groups: availableGroups, dn };
}
