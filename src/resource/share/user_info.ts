import type { Call } from "../call.ts";
import { accountOn, callerName } from "./names.ts";

/**
 * Returns `userInfo` for the last server on which the caller has an account: the Java service overwrites it per server
 * (rest-api.md 1.12).
 */
export function userInfo(call: Call, servers: readonly string[]) {
  const dn = callerName(call.caller);
  const known = servers.map((server) => accountOn(call, server)).findLast((account) => account !== undefined);
  if (known === undefined) return { dn };
  const { uid, gid, availableGroups } = known;
  return { uid, gid, groups: availableGroups, dn };
}
