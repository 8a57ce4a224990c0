import { rangeWithin } from "./address.ts";

/** Activities of a token from least to most: read, also change, also delete. */
export const ACTIVITIES = ["read", "write", "all"] as const;

export type Activity = typeof ACTIVITIES[number];

/** Restrictions of a token, all in force at once; an absent one restricts nothing. */
export interface TokenRestrictions {
  readonly paths?: readonly string[]; // absolute, normalised, ending in a slash, without pattern characters
  readonly activity?: Activity;
  readonly servers?: readonly string[];
  readonly address?: string; // address or range from which token, sessions and shares can be used
}

/** Reports whether a token has any restriction. */
export function isRestricted({ paths, activity, servers, address }: TokenRestrictions): boolean {
  return [paths, activity, servers, address].some((bound) => bound !== undefined);
}

/** Reports whether a normalised path is one of the directories or lies below one. */
export function isWithinPaths({ paths }: TokenRestrictions, path: string): boolean {
  return paths === undefined || paths.some((directory) => path.startsWith(directory));
}

/** Reports whether a token's activity includes `wanted`. */
export function includesActivity({ activity = "all" }: TokenRestrictions, wanted: Activity): boolean {
  return ACTIVITIES.indexOf(wanted) <= ACTIVITIES.indexOf(activity);
}

/** Reports whether a token is valid for a server. */
export function includesServer({ servers }: TokenRestrictions, name: string): boolean {
  return servers === undefined || servers.includes(name);
}

/** Returns the restrictions of a derived token, or the name of the parameter that exceeds the inherited ones. */
export function restricted(
  before: TokenRestrictions,
  asked: TokenRestrictions,
): TokenRestrictions | "path" | "activity" | "server" | "address" {
  if (asked.paths?.every((path) => isWithinPaths(before, path)) === false) return "path";
  if (asked.activity !== undefined && !includesActivity(before, asked.activity)) return "activity";
  if (asked.servers?.every((name) => includesServer(before, name)) === false) return "server";
  if (
    asked.address !== undefined && before.address !== undefined && !rangeWithin(asked.address, before.address)
  ) {
    return "address";
  }
  return { ...before, ...asked };
}
