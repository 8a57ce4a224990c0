import type { DaemonGroup, GroupStatus } from "../daemon/daemon_group.ts";
import type { Caller } from "../model/identity.ts";
import type { Reservation } from "../reservations/reservation.ts";

/** Logical server as resources see it. */
export interface ServerFacts {
  readonly name: string;
  readonly description: string;
  readonly daemons: DaemonGroup;
  readonly sharing: boolean;
  readonly reservations: ServerReservations;
  readonly logins?: LoginPolicy; // absent if every login suffices
}

/** Reservations of one server. */
interface ServerReservations {
  /** Bytes per second for a session that begins now; 0 is unlimited. */
  limitFor(uid: string | undefined): number;
  descriptionsFor(uid: string | undefined): readonly string[];
  /** Returns the reservations of all users that are not over. */
  list(): readonly Reservation[];
}

/** Login requirements of a server. */
export interface LoginPolicy {
  readonly inWords: string;
  /** Returns what the login lacks, in words. */
  missing(caller: Caller, addresses: readonly string[]): string | undefined;
}

/**
 * Returns the status text: begins with `OK` exactly when a session can be created; lists listen addresses only for known
 * callers (design decision "status of an entry").
 */
export function statusText(
  { usable, unchecked, total, available, instances }: GroupStatus,
  isKnown: boolean,
): string {
  if (unchecked) return "DOWN [not checked yet]";
  if (!usable) return `DOWN [${available} of ${total} available]`;
  if (!isKnown) return `OK [${available} of ${total} available]`;
  const connected = instances.filter(({ up }) => up).map(({ address }) => address).join(", ");
  return total === 1
    ? `OK [connected to ${connected}]`
    : `OK [connected to ${connected}; ${available} of ${total} available]`;
}
