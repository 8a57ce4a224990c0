import { rangeWithin } from "./address.ts";

/** What a token may do with files, from least to most: read, change as well, delete as well. */
export const ACTIVITIES = ["read", "write", "all"] as const;

/** One of {@link ACTIVITIES}. */
export type Activity = typeof ACTIVITIES[number];

/** To what a token is narrowed; all of it holds at once, and what is absent is not narrowed. */
export interface TokenRestrictions {
  /** Directories, absolute, in normal form and ending in a slash; without characters that patterns give a meaning to. */
  readonly paths?: readonly string[];
  readonly activity?: Activity;
  /** Logical servers. */
  readonly servers?: readonly string[];
  /** Address or range from which token, sessions and shares can be used. */
  readonly address?: string;
}

/** Whether anything is bounded. */
export function isNarrow({ paths, activity, servers, address }: TokenRestrictions): boolean {
  return [paths, activity, servers, address].some((bound) => bound !== undefined);
}

/** Whether a path, in normal form, lies in one of the directories; so does each directory itself. */
export function isWithinPaths({ paths }: TokenRestrictions, path: string): boolean {
  return paths === undefined || paths.some((directory) => path.startsWith(directory));
}

/** Whether a token for some activity may do what `wanted` is. */
export function includesActivity({ activity = "all" }: TokenRestrictions, wanted: Activity): boolean {
  return ACTIVITIES.indexOf(wanted) <= ACTIVITIES.indexOf(activity);
}

/** Whether a server is among those that a token is for. */
export function includesServer({ servers }: TokenRestrictions, name: string): boolean {
  return servers === undefined || servers.includes(name);
}

/**
 * The bounds of a token that is asked for with another one: those asked for where there are some, else those of before.
 * @returns What of it would be more than before, by the name of the parameter, in its place.
 */
export function narrowed(
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
