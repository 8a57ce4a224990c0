import { InvalidFile } from "../model/diagnostic.ts";
import type { Reservation } from "./reservation.ts";
import { type ReadingContext, readReservationFile, type ReservationFile } from "./reservation_file.ts";

/** Reservation as an operator enters it; texts as in the file. */
export interface NewReservation {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly uids: readonly string[];
  readonly rateLimit?: string; // default `10m`
}

/** Reservations of one logical server, to list and change. */
export interface ReservationStore {
  readonly file?: string; // absent: stored in the shared database
  /** Lists all, also past ones. @throws {InvalidFile} */
  list(): Promise<ReservationFile>;
  /**
   * Adds a reservation. @throws {InvalidFile | ReservationNotChanged} If invalid, or the name is taken or
   * empty.
   */
  add(
    entry: NewReservation,
  ): Promise<{ readonly reservation: Reservation; readonly remarks: readonly string[] }>;
  /** Removes all of that name. @throws {ReservationNotChanged} If there is none. */
  remove(name: string): Promise<{ readonly remarks: readonly string[] }>;
}

/** Error of a change that does not fit the existing reservations; the message is for the operator. */
export class ReservationNotChanged extends Error {
  override readonly name = "ReservationNotChanged";
}

/** Parses a new reservation. @throws {InvalidFile} @throws {ReservationNotChanged} Without a name. */
export function readNewReservation(entry: NewReservation, context: ReadingContext): Reservation {
  if (entry.name.trim() === "") throw new ReservationNotChanged("A reservation needs a name");
  const checked = readReservationFile(JSON.stringify({ reservations: [entry] }), context);
  const [reservation] = checked.reservations;
  if (reservation === undefined) {
    throw new InvalidFile(checked.diagnostics.map(({ line: _, ...diagnostic }) => diagnostic));
  }
  return reservation;
}

/** Returns the error for a name that is taken. */
export function nameTaken(name: string): ReservationNotChanged {
  return new ReservationNotChanged(`There is already a reservation named '${name}'`);
}

/** Returns the error for a name that does not exist. */
export function noneOfName(name: string): ReservationNotChanged {
  return new ReservationNotChanged(`There is no reservation named '${name}'`);
}
