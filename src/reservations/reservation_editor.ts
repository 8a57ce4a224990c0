import { editFile, type EditOutcome, FileNotChanged, readText } from "../model/edit_file.ts";
import { InvalidFile } from "../model/problem.ts";
import type { Reservation } from "./reservation.ts";
import { type ReadingContext, readReservationFile, type ReservationFile } from "./reservation_file.ts";

/** A reservation as an operator enters it; texts as in the file. */
interface NewReservation {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly uids: readonly string[];
  /** Default `10m`. */
  readonly rateLimit?: string;
}

const EMPTY = '{ "reservations": [] }';

/** All entries of a reservations file, also those that are over; none if there is no file. @throws {InvalidFile} */
export async function listReservations(context: ReadingContext): Promise<ReservationFile> {
  return readReservationFile(await readText(context.file) ?? EMPTY, context);
}

/**
 * Adds an entry to a reservations file, which is made if there is none. All that is not changed stays.
 * @returns The new entry, as the service will read it, and what else the operator should know.
 * @throws {FileNotChanged} If the name is taken. @throws {InvalidFile} If the file or the entry is not valid.
 */
export async function addReservation(
  entry: NewReservation,
  context: ReadingContext,
): Promise<EditOutcome & { readonly reservation: Reservation }> {
  const { name, from, to, uids, rateLimit } = entry;
  if (name.trim() === "") throw new FileNotChanged("A reservation needs a name");
  const added = { name, from, to, uids, rateLimit };
  const checked = readReservationFile(JSON.stringify({ reservations: [added] }), context);
  const [reservation] = checked.reservations;
  if (reservation === undefined) {
    throw new InvalidFile(checked.problems.map(({ line: _, ...problem }) => problem));
  }
  const outcome = await change(context, (entries) => {
    if (entries.some((other) => nameOf(other) === name)) {
      throw new FileNotChanged(`There is already a reservation named '${name}'`);
    }
    return [...entries, added];
  });
  return { ...outcome, reservation };
}

/** Removes the entries of that name. @throws {FileNotChanged} If there is none. @throws {InvalidFile} */
export async function removeReservation(name: string, context: ReadingContext): Promise<EditOutcome> {
  return await change(context, (entries) => {
    const rest = entries.filter((entry) => nameOf(entry) !== name);
    if (rest.length === entries.length) {
      throw new FileNotChanged(`There is no reservation named '${name}'`);
    }
    return rest;
  });
}

/** Changes the entries of the file alone; what is not valid is not rewritten. */
async function change(
  context: ReadingContext,
  edit: (entries: readonly unknown[]) => readonly unknown[],
): Promise<EditOutcome> {
  const { file } = context;
  return await editFile(file, (text = EMPTY) => {
    readReservationFile(text, context);
    const content: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    if (!hasReservations(content)) throw new FileNotChanged(`${file} has no array of reservations`);
    return `${JSON.stringify({ ...content, reservations: edit(content.reservations) }, null, 2)}\n`;
  }, { secret: false });
}

function hasReservations(content: unknown): content is { readonly reservations: readonly unknown[] } {
  return typeof content === "object" && content !== null && "reservations" in content &&
    Array.isArray(content.reservations);
}

function nameOf(entry: unknown): unknown {
  return typeof entry === "object" && entry !== null && "name" in entry ? entry.name : undefined;
}
