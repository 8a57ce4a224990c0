import { InvalidFile } from "../model/diagnostic.ts";
import type { Reservation } from "./reservation.ts";
import { type ReadingContext, readReservationFile, type ReservationFile } from "./reservation_file.ts";

/** A reservation as an operator enters it; texts as in the file. */
export interface NewReservation {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly uids: readonly string[];
  /** Default `10m`. */
  readonly rateLimit?: string;
}

/** Keeps the reservations of one logical server, for whoever lists and changes them. */
export interface ReservationStore {
  /** Absent: they are in the database that instances share. */
  readonly file?: string;
  /** All of them, also those that are over. @throws {InvalidFile} If the file cannot be used. */
  list(): Promise<ReservationFile>;
  /**
   * @returns The new reservation, as the service reads it, and what else the operator should know.
   * @throws {InvalidFile} If the entry is not valid. @throws {ReservationNotChanged} If the name is taken or empty.
   */
  add(
    entry: NewReservation,
  ): Promise<{ readonly reservation: Reservation; readonly remarks: readonly string[] }>;
  /** Removes those of that name. @throws {ReservationNotChanged} If there is none. */
  remove(name: string): Promise<{ readonly remarks: readonly string[] }>;
}

/** What was asked for cannot be done to the reservations there are; the message is for the operator. */
export class ReservationNotChanged extends Error {
  override readonly name = "ReservationNotChanged";
}

/** A new reservation as the service will read it. @throws {InvalidFile} @throws {ReservationNotChanged} If it has no name. */
export function readNewReservation(entry: NewReservation, context: ReadingContext): Reservation {
  if (entry.name.trim() === "") throw new ReservationNotChanged("A reservation needs a name");
  const checked = readReservationFile(JSON.stringify({ reservations: [entry] }), context);
  const [reservation] = checked.reservations;
  if (reservation === undefined) {
    throw new InvalidFile(checked.diagnostics.map(({ line: _, ...diagnostic }) => diagnostic));
  }
  return reservation;
}

/** Why a reservation of that name is not added. */
export function nameTaken(name: string): ReservationNotChanged {
  return new ReservationNotChanged(`There is already a reservation named '${name}'`);
}

/** Why none of that name is removed. */
export function noneOfName(name: string): ReservationNotChanged {
  return new ReservationNotChanged(`There is no reservation named '${name}'`);
}
