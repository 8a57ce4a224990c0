import { absolutePath } from "../../model/absolute_path.ts";
import type { Capability } from "../../model/identity.ts";
import { HttpError } from "../../model/http_error.ts";
import { scopesOf } from "./token_requirements.ts";
import type { Said } from "../claims.ts";

/** What a scope permits, by its name: WLCG Common JWT Profiles 1.2, and SciTokens. */
const ACTIVITIES: ReadonlyMap<string, "read" | "modify"> = new Map([
  ["storage.read", "read"],
  ["storage.stage", "read"],
  ["storage.modify", "modify"],
  ["read", "read"],
  ["write", "modify"],
]);

/** Scopes that are looked at; real tokens have a few. */
const MOST = 100;

/**
 * What a token permits at a daemon, by scopes such as `storage.read:/path`. Daemons know reading, and all that one may do to
 * files with reading: what a token gives less of, such as new files alone or writing without reading, counts for nothing.
 * @param base Directory that the paths of tokens start from, without trailing slash; empty is the root.
 */
export function readCapabilities(said: Said, base: string): readonly Capability[] {
  const given = scopesOf(said).slice(0, MOST).flatMap((scope) => {
    const colon = scope.indexOf(":");
    const activity = ACTIVITIES.get(scope.slice(0, colon));
    const path = colon < 0 ? undefined : readPath(scope.slice(colon + 1), base);
    return activity === undefined || path === undefined ? [] : [{ activity, path }];
  });
  const paths = (wanted: "read" | "modify") =>
    given.filter(({ activity }) => activity === wanted).map(({ path }) => path);
  const [readable, modifiable] = [paths("read"), paths("modify")];
  const within = (path: string, others: readonly string[]) => others.some((other) => path.startsWith(other));
  const all = [
    ...readable.map((path) => ({
      path,
      access: within(path, modifiable) ? "all" as const : "read" as const,
    })),
    ...modifiable.filter((path) => within(path, readable)).map((path) => ({ path, access: "all" as const })),
  ];
  return [...new Map(all.map((one) => [`${one.access} ${one.path}`, one])).values()];
}

/**
 * The directory that a scope names, with trailing slash; `undefined` if it is not in its normal form, or has characters
 * that mean something else to daemons.
 */
function readPath(text: string, base: string): string | undefined {
  if (!text.startsWith("/") || /[*?[\]:%]/.test(text)) return undefined;
  const path = text.endsWith("/") ? text : `${text}/`;
  try {
    return absolutePath(path) === path ? base + path : undefined;
  } catch (error) {
    if (error instanceof HttpError) return undefined;
    throw error;
  }
}
