import { attempt } from "../model/attempt.ts";
import { InvalidJson, type JsonMember, type JsonNode, readMembers } from "../model/json_text.ts";
import { type Diagnostic, InvalidFile } from "../model/diagnostic.ts";
import { parseRate } from "../model/rate.ts";
import type { Reservation } from "./reservation.ts";

const DEFAULT_LIMIT = "10m"; // limit of other users if a reservation names none (specification 2.4)

export interface ReadingContext {
  readonly file: string;
  readonly zone: string; // time zone of times without offset
  readonly now: number;
}

/** Reads a reservations file (specification 2.4, rest-api.md 3.6) without bad entries. @throws {InvalidFile} */
export function readReservationFile(text: string, context: ReadingContext) {
  const diagnostics: Diagnostic[] = []; // ignored entries with reasons
  const reservations: Reservation[] = [];
  for (const [index, entry] of entriesOf(text, context.file).entries()) {
    const reservation = readEntry(entry, index, context);
    if ("expected" in reservation) diagnostics.push(reservation);
    else reservations.push(reservation);
  }
  return { reservations, diagnostics };
}

function entriesOf(text: string, file: string): readonly JsonNode[] {
  const fail = (expected: string, line: number, fix?: string) =>
    new InvalidFile([{ severity: "error", file, line, expected, fix }]);
  const members = attempt(() => [...readMembers(text)], InvalidJson, ({ expected, line }) => {
    throw fail(expected, line, `correct the syntax; see: sed -n ${line}p ${file}`);
  });
  if (members.length === 0) return []; // some write {} for none
  const found = members.findLast(({ name }) => name === "reservations")?.value;
  if (found?.kind !== "array") throw fail('expected an array "reservations"', found?.line ?? 1);
  return found.items;
}

function readEntry(entry: JsonNode, index: number, context: ReadingContext): Reservation | Diagnostic {
  const members = new Map(
    (entry.kind === "object" ? entry.members : []).map((member) => [member.name, member]),
  );
  const name = textOf(members.get("name")) ?? `reservation ${index + 1}`;
  const diagnostic = (expected: string, member?: JsonMember): Diagnostic => ({
    severity: "error",
    file: context.file,
    line: member?.line ?? entry.line,
    key: member === undefined ? `'${name}'` : `'${name}' ${member.name}`,
    found: member?.value.kind === "string" ? member.value.text.slice(0, 100) : undefined,
    expected,
  });
  if (entry.kind !== "object") return diagnostic("expected an object");

  const from = textOf(members.get("from"));
  const to = textOf(members.get("to"));
  if (from === undefined) return diagnostic("expected a start, from", members.get("from"));
  if (to === undefined) return diagnostic("expected an end, to", members.get("to"));
  const times = readTimes({ from, to }, context);
  if ("wrong" in times) return diagnostic(times.expected, members.get(times.wrong));

  const uids: string[] = [];
  for (const member of ["uids", "uid"].flatMap((key) => members.get(key) ?? [])) {
    const accounts = accountsOf(member.value);
    if (accounts === undefined) return diagnostic("expected account names as texts", member);
    uids.push(...accounts);
  }

  const limit = members.get("rateLimit");
  const limitText = limit === undefined || limit.value.kind === "null"
    ? DEFAULT_LIMIT
    : textOf(limit)?.trim();
  const rate = limitText === undefined ? undefined : parseRate(limitText);
  if (limitText === undefined || rate === undefined) return diagnostic("expected a rate as text", limit);
  if (rate.kind === "invalid") return diagnostic(rate.expected, limit);
  return { name, ...times, uids: [...new Set(uids)], rateLimit: rate.bytesPerSecond, limitText };
}

function textOf(member: JsonMember | undefined): string | undefined {
  const value = member?.value;
  return value?.kind === "string" || value?.kind === "number" ? value.text : undefined;
}

function accountsOf(value: JsonNode): readonly string[] | undefined {
  const accounts: string[] = [];
  for (const item of value.kind === "array" ? value.items : [value]) {
    if (item.kind !== "string" && item.kind !== "number") return undefined;
    if (item.text.trim() !== "") accounts.push(item.text.trim());
  }
  return accounts;
}

type WrittenTime =
  /** In the server's zone. */
  | { readonly kind: "local"; readonly time: Temporal.PlainDateTime }
  | { readonly kind: "clock"; readonly time: Temporal.PlainTime }
  | { readonly kind: "instant"; readonly at: Temporal.Instant };

const MOMENT = /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:Z|([+-][0-9]{2}):?([0-9]{2}))$/;
const TIME_FORMATS = "expected a time such as 2026-01-05 20:00, 20:00 or 2026-01-05T20:00:00+0100";

/**
 * Reads the times of a reservation, or names the invalid one (specification 2.4, rest-api.md 3.6). A time without date
 * means the current or next occurrence, also if the file is reread in the middle of it. For a local time that is skipped
 * in spring, the hour after it counts; for one that occurs twice in autumn, the first is the start, the second the end.
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
    ? nearest(end.time, fixedStart ?? Temporal.Instant.fromEpochMilliseconds(now), zone, "later")
    : instantOf(end, zone, "later");
  const fromAt = start.kind === "clock"
    ? nearest(start.time, toAt, zone, "compatible")
    : instantOf(start, zone, "compatible");

  return Temporal.Instant.compare(fromAt, toAt) < 0
    ? { from: fromAt.epochMilliseconds, to: toAt.epochMilliseconds }
    : { wrong: "to", expected: "expected an end after the start" };
}

function parseTime(text: string): WrittenTime | undefined {
  const trimmed = text.trim().replace(/\b[0-9]\b/g, "0$&"); // `2026-1-5 8:00`
  const [, clock] = /^([0-9]{2}:[0-9]{2})$/.exec(trimmed) ?? [];
  const [, day, time] = /^([0-9]{4}-[0-9]{2}-[0-9]{2}) +([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)$/.exec(trimmed) ??
    [];
  const [, moment, hours, minutes] = MOMENT.exec(trimmed) ?? [];
  try {
    if (clock !== undefined) return { kind: "clock", time: Temporal.PlainTime.from(clock) };
    if (day !== undefined) return { kind: "local", time: Temporal.PlainDateTime.from(`${day}T${time}`) };
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

/** Returns the first occurrence of a time after a moment (`later`), or the last before it. */
function nearest(
  time: Temporal.PlainTime,
  moment: Temporal.Instant,
  zone: string,
  disambiguation: "compatible" | "later",
): Temporal.Instant {
  const day = moment.toZonedDateTimeISO(zone).toPlainDate();
  const sign = disambiguation === "later" ? 1 : -1;
  const candidates = [0, 1, 2].map((n) =>
    day.add({ days: n * sign }).toPlainDateTime(time).toZonedDateTime(zone, { disambiguation }).toInstant()
  );
  return candidates.find((at) => Temporal.Instant.compare(at, moment) * sign > 0) ?? moment;
}
