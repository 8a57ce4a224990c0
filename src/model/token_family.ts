/** A token and those that it was got with: if one of them is taken back, it counts no more. */
export interface TokenFamily extends LineMember {
  /** When the first of its line was made, in milliseconds since the epoch. */
  readonly since: number;
  /** Id of the first of its line; its own, if it was got by another login than with a token. */
  readonly root: string;
  /** Those before it that had not ended when it was made, oldest first; of more than {@link LONGEST_LINE} those that end last. */
  readonly line: readonly LineMember[];
}

/** A token by itself. */
interface LineMember {
  /** `jti` (RFC 7519, 4.1.7); of a token from before tokens had one, `sha256-` and its digest. */
  readonly id: string;
  /** In seconds since the epoch. */
  readonly expires: number;
}

/** Most members of a line that a token names; it has to fit into a header. */
export const LONGEST_LINE = 16;

/**
 * The lineage of a token that is made.
 * @param former Of the token that it is got with, if it is one.
 * @param now In milliseconds since the epoch.
 */
export function familyWith(
  former: TokenFamily | undefined,
  token: LineMember,
  now: number,
): TokenFamily {
  if (former === undefined) return { ...token, since: now, root: token.id, line: [] };
  const { id, expires, since, root, line } = former;
  const live = [...line, { id, expires }].filter((member) => member.expires * 1000 > now);
  const surplus = live.toSorted((one, other) => one.expires - other.expires)
    .slice(0, Math.max(0, live.length - LONGEST_LINE));
  return { ...token, since, root, line: live.filter((member) => !surplus.includes(member)) };
}

/** Tokens that were taken back, of one user. */
export interface RevokedTokens {
  readonly ids: ReadonlySet<string>;
  /** First ones of the lines of those. */
  readonly roots: ReadonlySet<string>;
  /** All that were made until then are taken back, in milliseconds since the epoch; absent: they are not. */
  readonly before?: number;
}

/**
 * Whether a token, or one that it was got with, is among those taken back. Where its line is longer than it can name, it is
 * if any of the same origin was.
 */
export function isAmong(
  { id, since, root, line }: TokenFamily,
  { ids, roots, before = -Infinity }: RevokedTokens,
): boolean {
  return since <= before || ids.has(id) || line.some((member) => ids.has(member.id)) ||
    (line.length >= LONGEST_LINE && roots.has(root));
}
