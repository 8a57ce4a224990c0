import type { Logger } from "../logging/logger.ts";
import type { Clock } from "../model/clock.ts";
import { formatDiagnostic } from "../model/diagnostic.ts";
import { watchFile } from "../watch/watched_file.ts";
import {
  activeLimit,
  describeReservations,
  type Reservation,
  type ReservationRegistry,
} from "./reservation.ts";
import { readReservationFile } from "./reservation_file.ts";

export interface RegistryOptions {
  readonly file: string;
  /** Time zone of times without offset, such as `Europe/Berlin`; default the host's. */
  readonly timeZone?: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervalMs?: number; // milliseconds between checks for changes
}

/** Bytes of the largest file; a reservation takes about 200. */
export const MAX_RESERVATIONS = 4 * 1024 * 1024;

/** Opens and watches a reservations file, which may be absent or invalid, since it only limits bandwidth. */
export async function openReservationRegistry(options: RegistryOptions): Promise<ReservationRegistry> {
  const { file, timeZone: zone = hostZone(), clock, log, intervalMs } = options;
  const watched = await watchFile<readonly Reservation[]>(file, (text) => {
    const { reservations, diagnostics } = readReservationFile(text, { file, zone, now: clock() });
    for (const diagnostic of diagnostics) {
      log.warn("reservation left out", { diagnostic: formatDiagnostic(diagnostic) });
    }
    return reservations;
  }, { log, fallback: [], maxBytes: MAX_RESERVATIONS, intervalMs });
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

/** Returns the host's time zone: a name of the IANA database. */
export function hostZone(): string {
  return Temporal.Now.timeZoneId();
}
