import { absolutePath } from "../../model/absolute_path.ts";
import type { Capability } from "../../model/identity.ts";
import { HttpError } from "../../model/http_error.ts";
import { scopesOf } from "./token_requirements.ts";
import type { Said } from "../claims.ts";

/** Activities by scope: WLCG Common JWT Profiles 1.2, SciTokens. */
const ACTIVITIES: ReadonlyMap<string, "read" | "modify"> = new Map([
  ["storage.read", "read"],
  ["storage.stage", "read"],
  ["storage.modify", "modify"],
  ["read", "read"],
  ["write", "modify"],
]);

const MOST = 100; // scopes considered

/**
 * Returns session permissions from scopes such as `storage.read:/path` below `base`. Daemons know only read
 * and full access, so lesser rights (create only, write without read) grant nothing.
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

/** Returns a scope's directory with trailing slash; `undefined` if not normalised or with pattern characters. */
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
