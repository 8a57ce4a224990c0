import { restrictionsOf } from "../model/identity.ts";
import type { AccessPermission } from "../daemon/daemon_group.ts";
import { absolutePath } from "../model/absolute_path.ts";
import { rangeWithin } from "../model/address.ts";
import { dependsOnDirectory, isRelativePattern, patternsOf } from "../model/wildcards.ts";
import { type HttpError, httpError } from "../model/http_error.ts";
import {
  type Activity,
  includesActivity,
  includesServer,
  isWithinPaths,
  type TokenRestrictions,
} from "../model/token_restrictions.ts";
import { type AccessLevel, grants, type Share } from "../sharing/share.ts";
import { hasWildcards, staysBelow } from "../files/path_pattern.ts";
import type { Call } from "./call.ts";
import type { PathLimits } from "../files/path_limits.ts";
import { limitsWithin } from "./path_limits.ts";

type ConfinedSession = PathLimits & { readonly file: string; readonly permission: AccessPermission };

const PERMISSIONS: Readonly<Record<Activity, AccessPermission>> = {
  read: "READ",
  write: "WRITE",
  all: "FULL",
};

/** Checks the token's servers. @throws {ERR_TOKEN_RESTRICTIONS} */
export function checkTokenServer({ caller }: Pick<Call, "caller">, name: string): void {
  const restrictions = restrictionsOf(caller);
  if (!includesServer(restrictions, name)) throw outside(`servers ${restrictions.servers?.join(", ")}`);
}

/** Checks the token's networks for each address of a session. @throws {ERR_TOKEN_RESTRICTIONS} */
export function checkTokenAddresses({ caller }: Pick<Call, "caller">, addresses: readonly string[]): void {
  const { address } = restrictionsOf(caller);
  if (address === undefined || addresses.every((each) => rangeWithin(each, address))) return;
  throw outside(`addresses ${address}`);
}

/**
 * Confines a session to the user's limits and the token's directories: it starts in one, so the daemon keeps it there.
 * @param options.home Called only if needed. @throws {ERR_TOKEN_RESTRICTIONS | ERR_LIMITS_FROM_HOME | ERR_OUTSIDE_LIMITS}
 */
export async function confinedSession(
  { caller }: Pick<Call, "caller">,
  file: string,
  { limits, home }: { readonly limits: PathLimits; readonly home: () => Promise<string | undefined> },
): Promise<ConfinedSession> {
  const isFree = restrictionsOf(caller).paths === undefined;
  const patterns = patternsOf(`${limits.includes ?? ""}:${limits.excludes ?? ""}`);
  // An absolute pattern requires an absolute start; beside a relative one, the home directory as the start without base.
  const [namesPlaces, depends] = [!patterns.every(isRelativePattern), patterns.some(dependsOnDirectory)];
  const from = isFree && namesPlaces && depends && file === "./" ? "" : file;
  const keepsFile = isFree && (from === "" || !namesPlaces || depends);
  const start = keepsFile ? from : await absoluteStart(file, home) ?? (isFree ? file : undefined);
  return confinedFrom({ caller }, start, limits);
}

/** As {@link confinedSession}, from a directory whose absolute path is known. */
export function confinedFrom(
  { caller }: Pick<Call, "caller">,
  start: string | undefined,
  limits: PathLimits,
): ConfinedSession {
  const restrictions = restrictionsOf(caller);
  const permission = PERMISSIONS[restrictions.activity ?? "all"];
  if (restrictions.paths === undefined && start !== undefined) {
    const { includes, excludes } = limitsWithin(start, limits);
    // Daemons compare texts: a session in `/data/` would reach `/data2/`, for which it gets no excludes.
    const confining = start === "" || limits.excludes === undefined ? undefined : `${ALL}:.`;
    return { file: start, permission, includes: includes ?? confining, excludes };
  }
  if (start === undefined || !isWithinPaths(restrictions, start)) {
    throw outside(`directories ${restrictions.paths?.join(", ")}; a session must begin in one of them`);
  }
  if (hasWildcards(start) || start.includes(":") || /\s\//u.test(start)) {
    throw httpError("ERR_TOKEN_RESTRICTIONS", {
      restrictions:
        "the transfer server cannot enforce a directory name with wildcards, colons or a blank before a slash",
    });
  }
  const { includes = ALL, excludes } = limitsWithin(start, limits);
  return {
    file: start,
    permission,
    includes: patternsOf(includes).map((pattern) => below(pattern, start)).join(":"),
    excludes,
  };
}

const ALL = "*";

/** Daemons match a pattern anywhere from its first wildcard, so it must begin below the start. */
function below(pattern: string, start: string): string {
  if (pattern === ALL) return `${start}*`;
  if (isRelativePattern(pattern) || staysBelow(pattern, start)) return pattern;
  throw httpError("ERR_OUTSIDE_LIMITS", "the user's includes cut across the directory of a restricted token");
}

async function absoluteStart(
  file: string,
  home: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const from = file.startsWith("/") ? "" : await home();
  if (from === undefined) return undefined;
  const path = absolutePath(from === "" ? file : `${from}/${file}`);
  return path.endsWith("/") ? path : `${path}/`;
}

type SharedThing = Pick<Share, "path" | "access" | "sources">;

/** Reports whether the token's restrictions cover all that a share grants: required to create, show, change or remove it. */
export function tokenCoversShare(
  { caller }: Pick<Call, "caller">,
  { path, access, sources }: SharedThing,
): boolean {
  const restrictions = restrictionsOf(caller);
  const { address } = restrictions;
  return isWithinPaths(restrictions, path) && includesActivity(restrictions, activityOf(access)) &&
    (address === undefined || (sources.length > 0 && sources.every((range) => rangeWithin(range, address))));
}

/** @throws {ERR_TOKEN_RESTRICTIONS} Unless {@link tokenCoversShare}. */
export function checkTokenShare(call: Pick<Call, "caller">, share: SharedThing): void {
  if (!tokenCoversShare(call, share)) throw outside(describe(restrictionsOf(call.caller)));
}

/** Returns the networks of a new share: the requested ones, or the token's. */
export function tokenSources(
  { caller }: Pick<Call, "caller">,
  sources: readonly string[],
): readonly string[] {
  const { address } = restrictionsOf(caller);
  return sources.length === 0 && address !== undefined ? [address] : sources;
}

/** Checks the use of a shared path. @throws {ERR_TOKEN_RESTRICTIONS} */
export function checkTokenUse({ caller }: Pick<Call, "caller">, path: string, wanted: AccessLevel): void {
  const restrictions = restrictionsOf(caller);
  if (isWithinPaths(restrictions, path) && includesActivity(restrictions, activityOf(wanted))) return;
  throw outside(describe(restrictions));
}

/** Returns the permission of a session for the share within the token's restrictions. */
export function tokenPermission(
  { caller }: Pick<Call, "caller">,
  granted: "READ" | "WRITE",
): "READ" | "WRITE" {
  return includesActivity(restrictionsOf(caller), "write") ? granted : "READ";
}

function activityOf(access: AccessLevel): Activity {
  return access === "DROP" || grants(access, "WRITE") ? "write" : "read";
}

function describe({ paths, activity, address }: TokenRestrictions): string {
  return [
    ...(paths === undefined ? [] : [`directories ${paths.join(", ")}`]),
    ...(activity === undefined ? [] : [`activity ${activity}`]),
    ...(address === undefined ? [] : [`addresses ${address}`]),
  ].join("; ");
}

function outside(restrictions: string): HttpError {
  return httpError("ERR_TOKEN_RESTRICTIONS", { restrictions });
}
