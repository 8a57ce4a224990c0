import { isRelativePattern, patternsOf } from "../model/pattern_list.ts";
import { ServiceError } from "../model/service_error.ts";

/** Patterns that limit the paths of a session, separated by `:`, as configured. */
interface PathLimits {
  readonly includes?: string;
  readonly excludes?: string;
}

/** Limits that hold only in sessions that begin in the home directory, for one that would begin elsewhere. */
export class LimitsCountFromHome extends ServiceError {
  readonly code = "ERR_LIMITS_FROM_HOME";
  readonly status = 403;
  readonly publicMessage =
    "Your allowed and forbidden paths count from your home directory: only sessions that begin there are possible";
}

/**
 * Daemons count patterns without a leading slash from where a session begins, and that is the user's choice: beginning
 * in `/`, nobody would be kept from `.ssh/*` any more. Therefore such limits are for sessions from the home directory.
 * @param file Where the session begins, with its last slash; empty is the home directory.
 * @throws {LimitsCountFromHome}
 */
export function checkLimitsFromHome(file: string, { includes = "", excludes = "" }: PathLimits): void {
  if (file === "" || file === "./") return;
  if ([includes, excludes].flatMap(patternsOf).some(isRelativePattern)) throw new LimitsCountFromHome();
}
