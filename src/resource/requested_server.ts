import { httpError } from "../model/http_error.ts";
import type { ServerFacts } from "./server_facts.ts";

/** The logical server that a request names, or one physical instance of it, whether there is one or not. */
export interface RequestedServer {
  readonly name: string;
  /** Counted from 1; absent for the whole group. May be 0 or out of range: then there is no such instance. */
  readonly instance?: number;
  /** Absent: there is no server of that name. */
  readonly facts?: ServerFacts;
}

/** Finds out once what a path segment such as `HPC1-2` means. */
export function requestedServer(segment: string, servers: ReadonlyMap<string, ServerFacts>): RequestedServer {
  const address = parseServerAddress(segment);
  const facts = servers.get(address.name);
  return { ...address, facts };
}

/** A server, or an instance of it, that is there. */
export type ExistingServer = RequestedServer & { readonly facts: ServerFacts };

/** @throws {ERR_UNKNOWN_SERVER} If a request names none, or one that is not there. */
export function existingServer(server: RequestedServer | undefined): ExistingServer {
  const { facts, instance } = server ?? {};
  if (server === undefined || facts === undefined) throw httpError("ERR_UNKNOWN_SERVER");
  if (instance !== undefined && (instance < 1 || instance > facts.daemons.size)) {
    throw httpError("ERR_UNKNOWN_SERVER");
  }
  return { ...server, facts };
}

/**
 * Takes `HPC1-2` apart. A dash at position 0 or 1, or one that no decimal 32-bit number follows, belongs to the name
 * (rest-api.md 1.2).
 */
export function parseServerAddress(segment: string): Pick<RequestedServer, "name" | "instance"> {
  const dash = segment.lastIndexOf("-");
  if (dash <= 1) return { name: segment };
  const digits = segment.slice(dash + 1);
  if (!/^\+?\d{1,10}$/.test(digits) || Number(digits) > 0x7fff_ffff) return { name: segment };
  return { name: segment.slice(0, dash), instance: Number(digits) };
}
