import type { DaemonGroup, GroupStatus } from "../daemon/daemon_group.ts";
import type { Caller } from "../model/identity.ts";
import type { Reservation } from "../reservations/reservation.ts";

/** A logical server as resources see it: its daemons, and what the operator says about it. */
export interface ServerFacts {
  readonly name: string;
  readonly description: string;
  readonly daemons: DaemonGroup;
  /** Whether files on it can be shared. */
  readonly sharing: boolean;
  readonly reservations: ServerReservations;
  /** Absent: every login will do. */
  readonly logins?: LoginPolicy;
}

/** What reservations say about users of one server; see `src/reservations`. */
interface ServerReservations {
  /** Limit on a session that begins now, in bytes per second; 0 is none. */
  limitFor(uid: string | undefined): number;
  /** Reservations that name the user, in words. */
  descriptionsFor(uid: string | undefined): readonly string[];
  /** Reservations of whomever, that are not over. */
  list(): readonly Reservation[];
}

/** What a server requires of logins. */
export interface LoginPolicy {
  /** All of it, in words. */
  readonly inWords: string;
  /** What a caller's login lacks, in words; undefined if it lacks nothing. */
  missing(caller: Caller, addresses: readonly string[]): string | undefined;
}

/**
 * Text of a status entry: begins with `OK` exactly when a session can be created, and names listen addresses only, to
 * those alone who are known (design decision "status of an entry").
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
