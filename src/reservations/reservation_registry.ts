import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import { formatDiagnostic } from "../model/diagnostic.ts";
import { watchFile } from "../watch/watched_file.ts";
import { activeLimit, describeReservations, type Reservation } from "./reservation.ts";
import { readReservationFile } from "./reservation_file.ts";

/** Reservations of one logical server. */
export interface ReservationRegistry {
  /** Returns the limit for a new connection in bytes per second; 0: no limit. */
  limitFor(uid: string | undefined): number;
  /** Describes the account's current and future reservations. */
  descriptionsFor(uid: string | undefined): readonly string[];
  list(): readonly Reservation[]; // current and future reservations
  close(): void;
}

/** Registry of a server without reservations. */
export const NO_RESERVATIONS: ReservationRegistry = {
  limitFor: () => 0,
  descriptionsFor: () => [],
  list: () => [],
  close: () => {},
};

interface RegistryOptions {
  readonly file: string;
  readonly zone?: string; // default: the host's zone
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs?: number; // milliseconds between checks for changes
}

/** Bytes of the largest file; a reservation takes about 200. */
export const MAX_RESERVATIONS = 4 * 1024 * 1024;

/** Opens and follows a reservations file, which may be absent. @throws {InvalidFile} If it is invalid. */
export async function openReservationRegistry(options: RegistryOptions): Promise<ReservationRegistry> {
  const { file, zone = hostZone(), clock, log, intervalMs } = options;
  const watched = await watchFile<readonly Reservation[]>(file, (text) => {
    const { reservations, diagnostics } = readReservationFile(text, { file, zone, now: clock() });
    for (const diagnostic of diagnostics) {
      log.warn("reservation left out", { diagnostic: formatDiagnostic(diagnostic) });
    }
    return reservations;
  }, { log, missing: [], maxBytes: MAX_RESERVATIONS, intervalMs });
  return new KnownReservations({ known: () => watched.current, zone, clock, close: () => watched.close() });
}

/** Returns the host's time zone. */
export function hostZone(): string {
  return Temporal.Now.timeZoneId();
}

/** Registry over reservations that other code keeps up to date. */
export class KnownReservations implements ReservationRegistry {
  constructor(
    readonly parts: {
      readonly known: () => readonly Reservation[]; // some may be over
      readonly zone: string;
      readonly clock: Clock;
      readonly close?: () => void;
    },
  ) {}

  limitFor(uid: string | undefined): number {
    const { known, clock } = this.parts;
    return activeLimit(known(), uid, clock());
  }

  descriptionsFor(uid: string | undefined): readonly string[] {
    const { known, zone, clock } = this.parts;
    return uid === undefined ? [] : describeReservations(known(), { uid, at: clock(), zone });
  }

  list(): readonly Reservation[] {
    const { known, clock } = this.parts;
    const at = clock();
    return known().filter(({ to }) => at < to);
  }

  close(): void {
    this.parts.close?.();
  }
}
