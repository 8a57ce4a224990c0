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
  /** What a thread waited for a processor meanwhile. */
  readonly waitedMs: number;
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

/**
 * Finds instances that took longer than they may. What a thread waited for a processor does not count, up to half of the
 * time. @param most In milliseconds.
 */
export function checkRecoveries(recoveries: readonly Recovery[], most = SERVES_AGAIN_MS): string[] {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return recoveries.filter(({ ms, waitedMs }) => ms - Math.min(waitedMs, ms / 2) > most).map((late) =>
    `instance ${late.instance} served ${seconds(late.ms)} after the end of: ${late.fault}; ` +
    `${seconds(late.waitedMs)} of them a thread waited for a processor`
  );
}

/** What is known of a token. */
export interface TokenPast {
  readonly text: string;
  readonly id: string;
  /** Whether all were taken back while it was issued. */
  readonly isUnclear: boolean;
  /** Where it was taken back, and when that was acknowledged; absent: nobody asked for it. */
  revocation?: { readonly at: number; readonly acknowledged?: number };
  readonly uses: {
    readonly at: number;
    readonly outcome: Outcome;
    /** Whether the instance has to know of the revocation. */
    readonly mustKnow: boolean;
    /** Whether all faults were over for long. */
    readonly isLast: boolean;
  }[];
}

/** Finds what breaks a promise about one token. */
export function checkToken({ id, isUnclear, revocation, uses }: TokenPast): string[] {
  return uses.flatMap(({ at, outcome, mustKnow, isLast }) => {
    if (mustKnow && outcome === 200) return [`instance ${at} took token ${id} after it was taken back`];
    if (!UNKNOWN.includes(outcome) && outcome !== 200 && outcome !== 401) {
      return [`instance ${at} answered token ${id} with ${outcome}`];
    }
    if (isLast && UNKNOWN.includes(outcome)) {
      return [`instance ${at} answered token ${id} with ${outcome} in the end`];
    }
    const isLost = outcome === 401 && revocation === undefined && !isUnclear;
    return isLost ? [`instance ${at} refused token ${id}, which nobody took back`] : [];
  });
}

/** An order of the operator. */
export interface BanOrder {
  readonly isBan: boolean;
  readonly at: number;
  /** Whether it was carried out at the instance itself. */
  isKnown: boolean;
  /** Whether it was acknowledged for all instances, and no ban may be told to them later. */
  isSure: boolean;
}

/** How an instance answered the user, and what the last order said. */
export interface BanProbe {
  readonly at: number;
  readonly isBan: boolean;
  readonly mustKnow: boolean;
  readonly outcome: Outcome;
}

const BANNED = 429;

/** Finds what breaks a promise about bans. @param last How each instance answers in the end. */
export function checkBans(
  orders: readonly BanOrder[],
  probes: readonly BanProbe[],
  last: readonly BanProbe[],
): string[] {
  const wrong = probes.filter(({ isBan, mustKnow, outcome }) =>
    mustKnow && outcome === (isBan ? 200 : BANNED)
  );
  const found = wrong.map(({ at, isBan, outcome }) =>
    `instance ${at} answered ${outcome} after ${isBan ? "a ban" : "the end of a ban"} that it has to know`
  );
  const outcomes = new Set(last.map(({ outcome }) => outcome));
  if (outcomes.size > 1) found.push(`in the end instances differ about a ban: ${[...outcomes].join(", ")}`);
  const end = orders.at(-1);
  if (end?.isSure && !outcomes.has(end.isBan ? BANNED : 200)) {
    found.push(`in the end a ban is ${end.isBan ? "lost" : "still there"}`);
  }
  return found;
}

/** A share for uploads, and what was brought to it. */
export interface DropPast {
  readonly id: string;
  readonly mostFiles: number;
  readonly mostBytes: number;
  readonly files: { readonly key: string; readonly content: string; readonly outcomes: Outcome[] }[];
}

/** What the database has of it in the end. */
export interface DropRow {
  readonly receivedFiles: number;
  readonly receivedBytes: number;
  /** Uploads that are not finished. */
  readonly unfinished: number;
}

/** Finds what breaks a promise about one share for uploads. @param contents Of its files, by name. */
export function checkDrop(
  { id, mostFiles, mostBytes, files }: DropPast,
  contents: ReadonlyMap<string, string>,
  { receivedFiles, receivedBytes, unfinished }: DropRow,
): string[] {
  const found: string[] = [];
  const there = [...contents.values()];
  for (const { key, content, outcomes } of files) {
    const copies = there.filter((text) => text === content).length;
    if (copies > 1) found.push(`upload ${key} is there ${copies} times`);
    if (copies === 0 && outcomes.includes(201)) found.push(`upload ${key} was acknowledged and is lost`);
  }
  const foreign = there.filter((text) => !files.some(({ content }) => content === text));
  if (foreign.length > 0) found.push(`share ${id} has ${foreign.length} files that nobody brought`);
  const bytes = there.reduce((sum, { length }) => sum + length, 0);
  if (there.length > mostFiles || bytes > mostBytes) {
    found.push(`share ${id} for ${mostFiles} files of ${mostBytes} bytes has ${there.length} of ${bytes}`);
  }
  if (receivedFiles > mostFiles || receivedBytes > mostBytes) {
    found.push(`share ${id} counts ${receivedFiles} files of ${receivedBytes} bytes`);
  }
  if (receivedFiles < there.length || receivedFiles > there.length + unfinished) {
    found.push(
      `share ${id} counts ${receivedFiles} files, has ${there.length}, and ${unfinished} unfinished`,
    );
  }
  return found;
}
