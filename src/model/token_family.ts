/** Token with its ancestors: revoking any of them revokes it. */
export interface TokenFamily extends LineMember {
  readonly since: number; // creation of the root token, in milliseconds since the epoch
  readonly root: string; // id of the root token; its own after a login without a token
  /** Unexpired ancestors at issue, oldest first; if more than {@link MAX_ANCESTORS}, those that expire last. */
  readonly line: readonly LineMember[];
}

interface LineMember {
  readonly id: string; // `jti` (RFC 7519, 4.1.7); for old tokens without `jti`, `sha256-` and the digest
  readonly expires: number; // seconds since the epoch
}

/** Most ancestors in a token, which has to fit into a header. */
export const MAX_ANCESTORS = 16;

/** Returns the family of a new token. @param former Its parent's. @param now Milliseconds since the epoch. */
export function familyWith(
  former: TokenFamily | undefined,
  token: LineMember,
  now: number,
): TokenFamily {
  if (former === undefined) return { ...token, since: now, root: token.id, line: [] };
  const { id, expires, since, root, line } = former;
  const live = [...line, { id, expires }].filter((member) => member.expires * 1000 > now);
  const surplus = live.toSorted((one, other) => one.expires - other.expires)
    .slice(0, Math.max(0, live.length - MAX_ANCESTORS));
  return { ...token, since, root, line: live.filter((member) => !surplus.includes(member)) };
}

export interface RevokedTokens {
  readonly ids: ReadonlySet<string>;
  readonly roots: ReadonlySet<string>; // roots of the revoked families
  readonly before?: number; // tokens made until then are revoked, in milliseconds since the epoch
}

/** Reports whether a token or an ancestor is revoked; for a truncated family, whether any token of the same root is. */
export function isAmong(
  { id, since, root, line }: TokenFamily,
  { ids, roots, before = -Infinity }: RevokedTokens,
): boolean {
  return since <= before || ids.has(id) || line.some((member) => ids.has(member.id)) ||
    (line.length >= MAX_ANCESTORS && roots.has(root));
}
