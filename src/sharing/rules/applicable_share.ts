import { type AccessLevel, grants } from "../access_level.ts";
import type { Share } from "../share.ts";
import { exactness } from "../target.ts";
import { parentOf } from "../../model/absolute_path.ts";

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
 * The share that decides about a request by path. Of each owner it is the most specific one. Of several owners, one who
 * shares out of their own home directory comes first, then the one whose oldest share is the oldest: nobody gets between
 * an owner and the users of a share by sharing the same path later. Owners whose share does not grant what is wanted
 * count only if there is no other.
 * @param shares All that cover the path and are for the caller.
 */
export function decidingShare(
  shares: readonly Share[],
  wanted: AccessLevel,
): Share | undefined {
  const owners = [...Map.groupBy(shares, ({ owner }) => owner).values()].map((own) => ({
    share: mostSpecific(own),
    since: Math.min(...own.map(({ created }) => created)),
  }));
  const rank = ({ share }: typeof owners[number]) =>
    Number(grants(share.access, wanted)) * 2 + Number(share.made?.atHome ?? false);
  return owners.toSorted((a, b) => rank(b) - rank(a) || a.since - b.since)[0]?.share;
}

/**
 * Of several shares of an owner for the same path the caller's own comes before those of the caller's groups, these before
 * everybody's, then the one that grants more, then the older.
 */
function mostSpecific(shares: readonly Share[]): Share {
  return shares.reduce((best, share) => precedence(share, best) < 0 ? share : best);
}

function precedence(a: Share, b: Share): number {
  return b.path.length - a.path.length ||
    exactness(b.target) - exactness(a.target) ||
    Number(grants(b.access, a.access)) - Number(grants(a.access, b.access)) ||
    a.created - b.created;
}
