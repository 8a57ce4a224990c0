/** Time for which some users have the bandwidth to themselves (specification 2.4). */
export interface Reservation {
  readonly name: string;
  readonly from: number; // first moment, in milliseconds since the epoch
  readonly to: number; // first moment after the reservation
  readonly uids: readonly string[]; // Unix accounts without limit
  readonly rateLimit: number; // limit for others in bytes per second; 0: no limit
  readonly limitText: string; // as written, such as `10m`
}

/** Returns the limit in bytes per second; 0: none. An owner of an active reservation has none; others the lowest. */
export function activeLimit(all: readonly Reservation[], uid: string | undefined, at: number): number {
  const active = all.filter(({ from, to }) => from <= at && at < to);
  if (uid !== undefined && active.some(({ uids }) => uids.includes(uid))) return 0;
  const limits = active.map(({ rateLimit }) => rateLimit).filter((limit) => limit > 0);
  return limits.length === 0 ? 0 : Math.min(...limits);
}

/**
 * Describes an account's reservations for the status entry (rest-api.md 1.9), such as
 * `'night-run': users=[alice] from=Mon Jan 05 20:00:00 UTC 2026 to=… other_users_limit=10m`.
 */
export function describeReservations(
  all: readonly Reservation[],
  { uid, at, zone }: { readonly uid: string; readonly at: number; readonly zone: string },
): readonly string[] {
  return all.filter(({ uids, to }) => uids.includes(uid) && at < to).map((reservation) => {
    const { name, uids, from, to, limitText } = reservation;
    const times = `from=${formatTime(from, zone)} to=${formatTime(to, zone)}`;
    return `'${name}': users=[${uids.join(", ")}] ${times} other_users_limit=${limitText}`;
  });
}

/** Formatters by time zone: creating one takes milliseconds. */
const FORMATS = new Map<string, Intl.DateTimeFormat>();

const PARTS: Intl.DateTimeFormatOptions = {
  weekday: "short",
  month: "short",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  hourCycle: "h23",
  timeZoneName: "short",
  year: "numeric",
};

/** Formats as `Mon Jan 05 20:00:00 UTC 2026`, which clients expect. */
function formatTime(at: number, zone: string): string {
  const format = () => new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...PARTS });
  const parts = FORMATS.getOrInsertComputed(zone, format).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((p) => p.type === type)?.value ?? "";
  const month = part("month").slice(0, 3);
  const time = `${part("hour")}:${part("minute")}:${part("second")}`;
  return `${part("weekday")} ${month} ${part("day")} ${time} ${part("timeZoneName")} ${part("year")}`;
}

/** Reservations of one logical server. */
export interface ReservationRegistry {
  /** Returns the limit for a new connection in bytes per second; 0: no limit. */
  limitFor(uid: string | undefined): number;
  descriptionsFor(uid: string | undefined): readonly string[];
  list(): readonly Reservation[]; // current and future reservations
  close(): void;
}

/** Reservations of a server that has none. */
export const NO_RESERVATIONS: ReservationRegistry = {
  limitFor: () => 0,
  descriptionsFor: () => [],
  list: () => [],
  close: () => {},
};
