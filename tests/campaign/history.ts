/** What clients did and were told in a campaign, and what of it breaks a promise of `docs/several-instances.md`. */

/** How a request came out: its status, or that the connection was lost before. */
export type Outcome = number | "cut";

/** What is known of a share and what was done with it; times go on evenly. */
export interface SharePast {
  readonly id: string;
  /** How often it may be used. */
  readonly mostUses: number;
  readonly uses: { readonly began: number; readonly outcome: Outcome }[];
  /** When its removal was asked for, and acknowledged. */
  removal?: { readonly asked: number; acknowledged?: number };
}

/** What the database has of a share in the end. */
export interface ShareRow {
  readonly id: string;
  readonly accessCount: number;
  readonly usesLeft: number | undefined;
  readonly uses: number;
}

/** How long an instance took to serve after a fault had ended. */
export interface Recovery {
  readonly fault: string;
  readonly instance: number;
  readonly ms: number;
}

/** What is promised after the end of a fault, in milliseconds. */
export const SERVES_AGAIN_MS = 20_000;

/** Answers that do not tell whether a use was counted: the caller is to try again. */
const UNKNOWN: readonly Outcome[] = ["cut", 500, 502, 503, 504];
const KNOWN: readonly Outcome[] = [200, 404, 410];

/** Finds what breaks a promise about one share. @param row What the database has; absent if it has none. */
export function checkShare(
  { id, mostUses, uses, removal }: SharePast,
  row: ShareRow | undefined,
): string[] {
  const found: string[] = [];
  const succeeded = uses.filter(({ outcome }) => outcome === 200).length;
  const unknown = uses.filter(({ outcome }) => UNKNOWN.includes(outcome)).length;
  if (succeeded > mostUses) found.push(`share ${id} for ${mostUses} uses was used ${succeeded} times`);
  for (const { outcome } of uses) {
    if (!UNKNOWN.includes(outcome) && !KNOWN.includes(outcome)) {
      found.push(`a use of share ${id} was answered ${outcome}`);
    }
  }
  const gone = removal?.acknowledged ?? Infinity;
  if (uses.some(({ began, outcome }) => outcome === 200 && began > gone)) {
    found.push(`share ${id} was used after its removal was acknowledged`);
  }
  if (removal?.acknowledged !== undefined && row !== undefined) {
    found.push(`share ${id} is there although its removal was acknowledged`);
  }
  if (removal === undefined && row === undefined) found.push(`share ${id} was acknowledged and is lost`);
  if (row !== undefined) {
    const { accessCount, usesLeft } = row;
    if (accessCount < succeeded || accessCount > succeeded + unknown) {
      found.push(`share ${id} counts ${accessCount} uses; clients had ${succeeded}, and ${unknown} unknown`);
    }
    if (row.uses !== accessCount) {
      found.push(`share ${id} counts ${accessCount} uses and records ${row.uses}`);
    }
    if (usesLeft !== undefined && usesLeft + accessCount !== mostUses) {
      found.push(`share ${id} has ${usesLeft} of ${mostUses} uses left after ${accessCount}`);
    }
  }
  return found;
}

/** Finds instances that took longer than they may. @param most In milliseconds. */
export function checkRecoveries(recoveries: readonly Recovery[], most = SERVES_AGAIN_MS): string[] {
  return recoveries.filter(({ ms }) => ms > most).map(({ fault, instance, ms }) =>
    `instance ${instance} served ${(ms / 1000).toFixed(1)} s after the end of: ${fault}`
  );
}
