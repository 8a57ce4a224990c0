type WrittenTime =
  /** In the server's zone. */
  | { readonly kind: "local"; readonly time: Temporal.PlainDateTime }
  | { readonly kind: "clock"; readonly time: Temporal.PlainTime }
  | { readonly kind: "instant"; readonly at: Temporal.Instant };

const TIME_FORMATS = "expected a time such as 2026-01-05 20:00, 20:00 or 2026-01-05T20:00:00+0100";

/**
 * Reads the times of a reservation to milliseconds since the epoch, or names the invalid one (specification
 * 2.4, rest-api.md 3.6): `yyyy-MM-dd HH:mm` and `HH:mm` in the server's zone, or `yyyy-MM-ddTHH:mm:ssZ` with
 * an offset such as `+0100`. A time without date means the current or next occurrence, also if the file is
 * reread in the middle of it. Of a local time that is skipped in spring, the hour after counts; of one that
 * comes twice in autumn, the first is the start and the second the end, so that no reservation is cut short.
 */
export function readTimes(
  { from, to }: { readonly from: string; readonly to: string },
  { zone, now }: { readonly zone: string; readonly now: number },
): { readonly from: number; readonly to: number } | {
  readonly wrong: "from" | "to";
  readonly expected: string;
} {
  const start = parseTime(from);
  if (start === undefined) return { wrong: "from", expected: TIME_FORMATS };
  const end = parseTime(to);
  if (end === undefined) return { wrong: "to", expected: TIME_FORMATS };

  // A time with a date gives the other its date; without any, the end is the next one.
  const fixedStart = start.kind === "clock" ? undefined : instantOf(start, zone, "compatible");
  const toAt = end.kind === "clock"
    ? firstAfter(end.time, fixedStart ?? Temporal.Instant.fromEpochMilliseconds(now), zone)
    : instantOf(end, zone, "later");
  const fromAt = start.kind === "clock"
    ? lastBefore(start.time, toAt, zone)
    : instantOf(start, zone, "compatible");

  return Temporal.Instant.compare(fromAt, toAt) < 0
    ? { from: fromAt.epochMilliseconds, to: toAt.epochMilliseconds }
    : { wrong: "to", expected: "expected an end after the start" };
}

/** Reports whether the runtime knows a time zone. */
export function isTimeZone(name: string): boolean {
  try {
    Temporal.Now.zonedDateTimeISO(name);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function parseTime(text: string): WrittenTime | undefined {
  const trimmed = text.trim();
  const [, clock] = /^([0-9]{2}:[0-9]{2})$/.exec(trimmed) ?? [];
  const [, day, time] = /^([0-9]{4}-[0-9]{2}-[0-9]{2}) +([0-9]{2}:[0-9]{2})$/.exec(trimmed) ?? [];
  const [, moment, hours, minutes] =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:Z|([+-][0-9]{2}):?([0-9]{2}))$/.exec(
      trimmed,
    ) ?? [];
  try {
    if (clock !== undefined) return { kind: "clock", time: Temporal.PlainTime.from(clock) };
    if (day !== undefined) return { kind: "local", time: Temporal.PlainDateTime.from(`${day}T${time}:00`) };
    if (moment === undefined) return undefined;
    const offset = hours === undefined ? "Z" : `${hours}:${minutes}`;
    return { kind: "instant", at: Temporal.Instant.from(`${moment}${offset}`) };
  } catch (error) {
    if (error instanceof RangeError) return undefined; // such as the 30th of February
    throw error;
  }
}

function instantOf(
  written: Exclude<WrittenTime, { kind: "clock" }>,
  zone: string,
  disambiguation: "compatible" | "later",
): Temporal.Instant {
  if (written.kind === "instant") return written.at;
  return written.time.toZonedDateTime(zone, { disambiguation }).toInstant();
}

function firstAfter(time: Temporal.PlainTime, after: Temporal.Instant, zone: string): Temporal.Instant {
  const day = after.toZonedDateTimeISO(zone).toPlainDate();
  const candidates = [0, 1, 2].map((days) =>
    day.add({ days }).toPlainDateTime(time).toZonedDateTime(zone, { disambiguation: "later" }).toInstant()
  );
  return candidates.find((at) => Temporal.Instant.compare(at, after) > 0) ?? after;
}

function lastBefore(time: Temporal.PlainTime, before: Temporal.Instant, zone: string): Temporal.Instant {
  const day = before.toZonedDateTimeISO(zone).toPlainDate();
  const candidates = [0, 1, 2].map((days) =>
    day.subtract({ days }).toPlainDateTime(time).toZonedDateTime(zone, { disambiguation: "compatible" })
      .toInstant()
  );
  return candidates.find((at) => Temporal.Instant.compare(at, before) < 0) ?? before;
}
