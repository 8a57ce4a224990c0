import { editFile, type EditOutcome, FileNotChanged, readText } from "../model/edit_file.ts";
import { InvalidFile, OperatorError } from "../model/diagnostic.ts";
import type { Reservation } from "./reservation.ts";
import { type ReadingContext, readReservationFile, type ReservationFile } from "./reservation_file.ts";

const EMPTY = '{ "reservations": [] }';

/** A reservation as an operator enters it; texts as in the file. */
interface NewReservation {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly uids: readonly string[];
  readonly rateLimit?: string; // default `10m`
}

/** The requested change does not fit the reservations in the file. */
export class ReservationNotChanged extends OperatorError {}

/** Reservations in a file; a change leaves the rest of it as it was. @throws {InvalidFile | FileNotChanged} Each method. */
export class FileReservationStore {
  readonly file: string;

  constructor(readonly context: ReadingContext) {
    this.file = context.file;
  }

  /** Returns all reservations, also those that are over. */
  async list(): Promise<ReservationFile> {
    return readReservationFile(await readText(this.file) ?? EMPTY, this.context);
  }

  /** Adds a reservation. @throws {ReservationNotChanged} If the name is taken or empty. */
  async add(entry: NewReservation): Promise<EditOutcome & { readonly reservation: Reservation }> {
    const reservation = readEntry(entry, this.context);
    const { name, from, to, uids, rateLimit } = entry;
    const outcome = await this.#change((entries) => {
      if (entries.some((other) => nameOf(other) === name)) {
        throw new ReservationNotChanged(`There is already a reservation named '${name}'`);
      }
      return [...entries, { name, from, to, uids, rateLimit }];
    });
    return { ...outcome, reservation };
  }

  /** Removes the reservations of that name. @throws {ReservationNotChanged} If there are none. */
  async remove(name: string): Promise<EditOutcome> {
    return await this.#change((entries) => {
      const rest = entries.filter((entry) => nameOf(entry) !== name);
      if (rest.length === entries.length) {
        throw new ReservationNotChanged(`There is no reservation named '${name}'`);
      }
      return rest;
    });
  }

  /** Changes the file's entries; invalid ones stay as they are. */
  async #change(edit: (entries: readonly unknown[]) => readonly unknown[]): Promise<EditOutcome> {
    return await editFile(this.file, (text = EMPTY) => {
      readReservationFile(text, this.context);
      const content: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
      if (!hasReservations(content)) throw new FileNotChanged(`${this.file} has no array of reservations`);
      return `${JSON.stringify({ ...content, reservations: edit(content.reservations) }, null, 2)}\n`;
    }, { secret: false });
  }
}

/** Reads a new reservation as the service will read it. */
function readEntry(entry: NewReservation, context: ReadingContext): Reservation {
  if (entry.name.trim() === "") throw new ReservationNotChanged("A reservation needs a name");
  const { reservations: [reservation], diagnostics } = readReservationFile(
    JSON.stringify({ reservations: [entry] }),
    context,
  );
  if (reservation === undefined) throw new InvalidFile(diagnostics.map(({ line: _, ...rest }) => rest));
  return reservation;
}

function hasReservations(content: unknown): content is { readonly reservations: readonly unknown[] } {
  return typeof content === "object" && content !== null && "reservations" in content &&
    Array.isArray(content.reservations);
}

function nameOf(entry: unknown): unknown {
  return typeof entry === "object" && entry !== null && "name" in entry ? entry.name : undefined;
}
