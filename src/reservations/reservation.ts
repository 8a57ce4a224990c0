/** A time for which some users have the bandwidth to themselves (specification 2.4). */
export interface Reservation {
  readonly name: string;
  /** First moment, in milliseconds since the epoch. */
  readonly from: number;
  /** First moment after it. */
  readonly to: number;
  /** Unix accounts that are not limited meanwhile. */
  readonly uids: readonly string[];
  /** Limit for everyone else in bytes per second; 0 is no limit. */
  readonly rateLimit: number;
  /** The limit as written, such as `10m`. */
  readonly limitText: string;
}

/**
 * The limit that reservations put on a connection about to be opened; open ones keep their speed.
 * Whoever owns one of the active reservations is not limited by any; for others the lowest of the limits holds.
 * @param uid Unix account; absent for callers without one.
 * @param at Moment of the new connection, in milliseconds since the epoch.
 * @returns Bytes per second, 0 for no limit; the user's own limit may be lower.
 */
export function activeLimit(all: readonly Reservation[], uid: string | undefined, at: number): number {
  const active = all.filter(({ from, to }) => from <= at && at < to);
  if (uid !== undefined && active.some(({ uids }) => uids.includes(uid))) return 0;
  const limits = active.map(({ rateLimit }) => rateLimit).filter((limit) => limit > 0);
  return limits.length === 0 ? 0 : Math.min(...limits);
}

/**
 * Reservations that list the account and are not over, as text for the status entry (rest-api.md 1.9):
 * `'night-run': users=[alice] from=Mon Jan 05 20:00:00 UTC 2026 to=… other_users_limit=10m`.
 * @param zone Time zone to write the times in, such as `Europe/Berlin`.
 */
export function describeReservations(
  all: readonly Reservation[],
  { uid, at, zone }: { readonly uid: string; readonly at: number; readonly zone: string },
): readonly string[] {
  return all.filter(({ uids, to }) => uids.includes(uid) && at < to).map((reservation) => {
    const { name, uids, from, to, limitText } = reservation;
    return `'${name}': users=[${uids.join(", ")}] from=${formatTime(from, zone)} to=${
      formatTime(to, zone)
    } ` +
      `other_users_limit=${limitText}`;
  });
}

/** `Mon Jan 05 20:00:00 UTC 2026`, as clients are used to. */
function formatTime(at: number, zone: string): string {
  const parts = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    weekday: "short",
    month: "short",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    hourCycle: "h23",
    timeZoneName: "short",
    year: "numeric",
  }).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((p) => p.type === type)?.value ?? "";
  const month = part("month").slice(0, 3);
  const time = `${part("hour")}:${part("minute")}:${part("second")}`;
  return `${part("weekday")} ${month} ${part("day")} ${time} ${part("timeZoneName")} ${part("year")}`;
}
