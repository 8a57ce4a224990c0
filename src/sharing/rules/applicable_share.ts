import { type AccessLevel, grants, type Share, specificity } from "../share.ts";
import { parentOf } from "../../model/absolute_path.ts";

/** Returns the paths whose shares may cover a normalised path (rest-api.md 2.5): itself and its ancestors (D28). */
export function coveringPaths(path: string): readonly string[] {
  const paths = path.endsWith("/") ? [path] : [path, `${path}/`];
  let directory = path;
  while (directory !== "/") paths.push(directory = parentOf(directory));
  return paths;
}

/**
 * Returns the share that decides on a path: the most specific one per owner, then shares in the owner's home directory,
 * then the owner with the oldest share, so that nobody can intercept users by sharing the path later. Shares with too
 * little access come last. @param shares All that cover the path and match the caller.
 */
export function applicableShare(
  shares: readonly Share[],
  wanted: AccessLevel,
): Share | undefined {
  const owners = [...Map.groupBy(shares, ({ owner }) => owner).values()].map((own) => ({
    share: own.reduce((best, share) => precedence(share, best) < 0 ? share : best),
    since: Math.min(...own.map(({ created }) => created)),
  }));
  const rank = ({ share }: typeof owners[number]) =>
    Number(grants(share.access, wanted)) * 2 + Number(share.made?.atHome ?? false);
  return owners.toSorted((a, b) => rank(b) - rank(a) || a.since - b.since)[0]?.share;
}

/** Compares: prefers the longer path, then users to groups and groups to everybody, then more access, then age. */
function precedence(a: Share, b: Share): number {
  return b.path.length - a.path.length ||
    specificity(b.target) - specificity(a.target) ||
    Number(grants(b.access, a.access)) - Number(grants(a.access, b.access)) ||
    a.created - b.created;
}
