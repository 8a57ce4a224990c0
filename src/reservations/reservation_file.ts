import { InvalidJson, type JsonMember, type JsonNode, readMembers } from "../model/json_text.ts";
import { type Diagnostic, InvalidFile } from "../model/diagnostic.ts";
import { parseRate } from "../model/rate.ts";
import type { Reservation } from "./reservation.ts";
import { readTimes } from "./reservation_times.ts";

/** Limit of other users if a reservation names none (specification 2.4). */
const DEFAULT_LIMIT = "10m";

/** Content of a reservations file with its diagnostics. */
export interface ReservationFile {
  readonly reservations: readonly Reservation[];
  readonly diagnostics: readonly Diagnostic[]; // ignored entries with reasons
}

/** Zone and time for reading a reservations file. */
export interface ReadingContext {
  readonly file: string;
  readonly zone: string; // time zone of times without offset
  readonly now: number;
}

/**
 * Reads a reservations file: an object with an array `reservations` (specification 2.4, rest-api.md 3.6). Bad
 * entries are skipped and reported by name. @throws {InvalidFile} Without the array.
 */
export function readReservationFile(text: string, context: ReadingContext): ReservationFile {
  const diagnostics: Diagnostic[] = [];
  const reservations: Reservation[] = [];
  for (const [index, entry] of entriesOf(text, context.file).entries()) {
    const reservation = readEntry(entry, index, context);
    if ("expected" in reservation) diagnostics.push(reservation);
    else reservations.push(reservation);
  }
  return { reservations, diagnostics };
}

function entriesOf(text: string, file: string): readonly JsonNode[] {
  const fail = (expected: string, line: number) =>
    new InvalidFile([{ severity: "error", file, line, expected }]);
  let found: JsonNode | undefined;
  try {
    for (const { name, value } of readMembers(text)) if (name === "reservations") found = value;
  } catch (error) {
    if (error instanceof InvalidJson) throw fail(error.expected, error.line);
    throw error;
  }
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
  const limitText = limit === undefined ? DEFAULT_LIMIT : textOf(limit)?.trim();
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
