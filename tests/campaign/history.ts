/** Requests and answers of clients in a campaign, checked against `docs/several-instances.md`. */

/** Outcome of a request: its status, or `cut` if the connection was lost before. */
export type Outcome = number | "cut";

/** History of a share; its times are monotonic. */
export interface SharePast {
  readonly id: string;
  /** Largest number of uses. */
  readonly mostUses: number;
  readonly uses: { readonly began: number; readonly outcome: Outcome }[];
  /** Times of the request for its removal, and of the acknowledgement. */
  removal?: { readonly asked: number; acknowledged?: number };
}

/** Row of a share in the database at the end. */
export interface ShareRow {
  readonly id: string;
  readonly accessCount: number;
  readonly usesLeft: number | undefined;
  readonly uses: number;
}

/** Time until an instance served again after the end of a fault. */
export interface Recovery {
  readonly fault: string;
  readonly instance: number;
  readonly ms: number;
  /** Longest wait of a thread for a processor meanwhile. */
  readonly waitedMs: number;
}

/** Promised time until an instance serves again after the end of a fault, in milliseconds. */
export const SERVES_AGAIN_MS = 20_000;

/** Outcomes that do not show whether a use was counted; the caller should retry. */
const UNKNOWN: readonly Outcome[] = ["cut", 500, 502, 503, 504];
const KNOWN: readonly Outcome[] = [200, 404, 410];

/** Returns broken promises about one share. @param row Its row in the database, if any. */
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
 * Returns instances that took too long. Subtracts the time a thread waited for a processor, at most half of the total.
 * @param most Longest time in milliseconds.
 */
export function checkRecoveries(recoveries: readonly Recovery[], most = SERVES_AGAIN_MS): string[] {
  const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
  return recoveries.filter(({ ms, waitedMs }) => ms - Math.min(waitedMs, ms / 2) > most).map((late) =>
    `instance ${late.instance} served ${seconds(late.ms)} after the end of: ${late.fault}; ` +
    `${seconds(late.waitedMs)} of them a thread waited for a processor`
  );
}

/** History of a token. */
export interface TokenPast {
  readonly text: string;
  readonly id: string;
  /** Whether all tokens were revoked while it was issued. */
  readonly isUnclear: boolean;
  /** Instance that revoked it, and time of the acknowledgement; absent if nobody requested a revocation. */
  revocation?: { readonly at: number; readonly acknowledged?: number };
  readonly uses: {
    readonly at: number;
    readonly outcome: Outcome;
    /** Whether the instance must know the revocation. */
    readonly mustKnow: boolean;
    /** Whether all faults had ended long before. */
    readonly isLast: boolean;
  }[];
}

/** Returns broken promises about one token. */
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

/** Ban or lift by the operator. */
export interface BanOrder {
  readonly isBan: boolean;
  readonly at: number;
  /** Whether it took effect at the instance itself. */
  isKnown: boolean;
  /** Whether it was acknowledged for all instances, and no instance may report a ban to them later. */
  isSure: boolean;
}

/** Answer of an instance to the user, and what the last ban or lift requires. */
export interface BanProbe {
  readonly at: number;
  readonly isBan: boolean;
  readonly mustKnow: boolean;
  readonly outcome: Outcome;
}

const BANNED = 429;

/** Returns broken promises about bans. @param last Answer of each instance at the end. */
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

/** Share for uploads, with the uploaded files. */
export interface DropPast {
  readonly id: string;
  readonly mostFiles: number;
  readonly mostBytes: number;
  readonly files: { readonly key: string; readonly content: string; readonly outcomes: Outcome[] }[];
}

/** Row of a share for uploads in the database at the end. */
export interface DropRow {
  readonly receivedFiles: number;
  readonly receivedBytes: number;
  /** Number of unfinished uploads. */
  readonly unfinished: number;
}

/** Returns broken promises about one share for uploads. @param contents Contents of its files, by name. */
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
  if (foreign.length > 0) found.push(`share ${id} has ${foreign.length} files that nobody uploaded`);
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
