import type { Reservation } from "./reservation.ts";

/** Reservations of one logical server. */
export interface ReservationRegistry {
  /** Returns the limit for a new connection in bytes per second; 0: no limit. */
  limitFor(uid: string | undefined): number;
  /** Describes the account's current and future reservations. */
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
