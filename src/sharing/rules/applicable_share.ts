import { grants } from "../access_level.ts";
import type { Share } from "../share.ts";
import { parentOf } from "./absolute_path.ts";

/**
 * Paths whose shares may cover a path (rest-api.md 2.5): the path itself, as a directory too, and every directory above
 * it with the root (D28). `path` is in normal form.
 */
export function coveringPaths(path: string): readonly string[] {
  const paths = path.endsWith("/") ? [path] : [path, `${path}/`];
  let directory = path;
  while (directory !== "/") paths.push(directory = parentOf(directory));
  return paths;
}

/**
 * The share that decides: the most specific one that is for the caller or for everybody. Of several for the same path
 * the caller's own comes before everybody's, then the one that grants more, then the older.
 * @param names The caller and everybody, in comparable form.
 */
export function mostSpecific(
  shares: readonly Share[],
  { caller, everybody }: { readonly caller: string; readonly everybody: string },
): Share | undefined {
  return shares
    .filter(({ target }) => target === caller || target === everybody)
    .toSorted((a, b) =>
      b.path.length - a.path.length ||
      Number(b.target === caller) - Number(a.target === caller) ||
      Number(grants(b.access, a.access)) - Number(grants(a.access, b.access)) ||
      a.created - b.created
    )[0];
}
