import type { DaemonGroup, GroupStatus } from "../daemon/daemon_group.ts";
import type { Caller } from "../model/identity.ts";
import type { ReservationRegistry } from "../reservations/reservation.ts";
import { httpError } from "../model/http_error.ts";

/** Logical server as resources see it. */
export interface ServerFacts {
  readonly name: string;
  readonly description: string;
  readonly daemons: DaemonGroup;
  readonly sharing: boolean;
  readonly reservations: Omit<ReservationRegistry, "close">;
  readonly logins?: LoginPolicy; // absent if every login suffices
}

export interface LoginPolicy {
  readonly summary: string;
  /** Returns what the login lacks, in words; only by address for an unknown login (`undefined`). */
  missing(caller: Caller | undefined, addresses: readonly string[]): string | undefined;
}

/** Returns the status text: `OK` exactly when a session can be created; listen addresses only for known callers. */
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

/** Logical server, or one instance of it, named in a request; it may not exist. */
export interface RequestedServer {
  readonly name: string;
  readonly instance?: number; // counted from 1; absent for the whole group. May be out of range
  readonly facts?: ServerFacts; // absent if unknown
}

/** Resolves a path segment such as `HPC1-2`. */
export function requestedServer(segment: string, servers: ReadonlyMap<string, ServerFacts>): RequestedServer {
  const address = parseServerAddress(segment);
  return { ...address, facts: servers.get(address.name) };
}

export type ExistingServer = RequestedServer & { readonly facts: ServerFacts };

/** Returns the server if it exists. @throws {ERR_UNKNOWN_SERVER} */
export function existingServer(server: RequestedServer | undefined): ExistingServer {
  const { facts, instance } = server ?? {};
  if (server === undefined || facts === undefined) throw httpError("ERR_UNKNOWN_SERVER");
  if (instance !== undefined && (instance < 1 || instance > facts.daemons.size)) {
    throw httpError("ERR_UNKNOWN_SERVER");
  }
  return { ...server, facts };
}

/** Asserts that sessions can be tried; an instance that the caller chose is always tried. @throws {ERR_SERVER_DOWN} */
export function checkAvailable({ facts, instance }: Pick<ExistingServer, "facts" | "instance">): void {
  const status = facts.daemons.status();
  if (instance !== undefined || status.worthTrying) return;
  throw httpError("ERR_SERVER_DOWN", { status: statusText(status, false) });
}

/** Splits `HPC1-2`. A dash at position 0 or 1, or without a decimal 32-bit number after it, belongs to the name (rest-api.md 1.2). */
export function parseServerAddress(segment: string): Pick<RequestedServer, "name" | "instance"> {
  const dash = segment.lastIndexOf("-");
  if (dash <= 1) return { name: segment };
  const digits = segment.slice(dash + 1);
  if (!/^\+?\d{1,10}$/.test(digits) || Number(digits) > 0x7fff_ffff) return { name: segment };
  return { name: segment.slice(0, dash), instance: Number(digits) };
}

/** Returns the lowest limit in bytes per second; 0 is unlimited. */
export function lowestLimit(...limits: readonly number[]): number {
  const real = limits.filter((limit) => limit > 0);
  return real.length === 0 ? 0 : Math.min(...real);
}
