import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import { formatDiagnostic } from "../model/diagnostic.ts";
import { watchFile } from "../watch/watched_file.ts";
import { activeLimit, describeReservations, type Reservation } from "./reservation.ts";
import { readReservationFile } from "./reservation_file.ts";

/** The reservations of one logical server, as the service goes by them. */
export interface ReservationRegistry {
  /**
   * Limit for a connection that the account opens now, in bytes per second; 0 is none.
   * @param uid Absent for callers without account.
   */
  limitFor(uid: string | undefined): number;
  /** Reservations of the account that are not over, as text. */
  descriptionsFor(uid: string | undefined): readonly string[];
  /** Reservations that are not over. */
  list(): readonly Reservation[];
  close(): void;
}

/** Reservations of a server that has none. */
export const NO_RESERVATIONS: ReservationRegistry = {
  limitFor: () => 0,
  descriptionsFor: () => [],
  list: () => [],
  close: () => {},
};

/** Where reservations come from, and what time it is. */
interface RegistryOptions {
  readonly file: string;
  /** Time zone of times without offset, such as `Europe/Berlin`; default the host's. */
  readonly timeZone?: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Milliseconds between checks for changes. */
  readonly intervalMs?: number;
}

/** Bytes of the largest file that is read; a reservation takes about 200. */
export const MAX_RESERVATIONS = 4 * 1024 * 1024;

/**
 * Opens a reservations file and follows its changes. It need not exist yet.
 * @throws {InvalidFile} If it exists and cannot be used.
 */
export async function openReservationRegistry(options: RegistryOptions): Promise<ReservationRegistry> {
  const { file, timeZone: zone = hostZone(), clock, log, intervalMs } = options;
  const watched = await watchFile<readonly Reservation[]>(file, (text) => {
    const { reservations, diagnostics } = readReservationFile(text, { file, zone, now: clock() });
    for (const diagnostic of diagnostics) {
      log.warn("reservation left out", { diagnostic: formatDiagnostic(diagnostic) });
    }
    return reservations;
  }, { log, missing: [], maxBytes: MAX_RESERVATIONS, intervalMs });
  return {
    limitFor: (uid) => activeLimit(watched.current, uid, clock()),
    descriptionsFor: (uid) =>
      uid === undefined ? [] : describeReservations(watched.current, { uid, at: clock(), zone }),
    list: () => {
      const at = clock();
      return watched.current.filter(({ to }) => at < to);
    },
    close: () => watched.close(),
  };
}

/** Name of the time zone the host is set to. */
export function hostZone(): string {
  return Temporal.Now.timeZoneId();
}
