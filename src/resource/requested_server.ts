import { httpError } from "../model/http_error.ts";
import type { ServerFacts } from "./server_facts.ts";

/** Logical server, or one instance of it, named in a request; it may not exist. */
export interface RequestedServer {
  readonly name: string;
  readonly instance?: number; // counted from 1; absent for the whole group. May be out of range
  readonly facts?: ServerFacts; // absent if unknown
}

/** Resolves a path segment such as `HPC1-2`. */
export function requestedServer(segment: string, servers: ReadonlyMap<string, ServerFacts>): RequestedServer {
  const address = parseServerAddress(segment);
  const facts = servers.get(address.name);
  return { ...address, facts };
}

/** Known server or instance. */
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

/** Splits `HPC1-2`. A dash at position 0 or 1, or without a decimal 32-bit number behind it, belongs to the name (rest-api.md 1.2). */
export function parseServerAddress(segment: string): Pick<RequestedServer, "name" | "instance"> {
  const dash = segment.lastIndexOf("-");
  if (dash <= 1) return { name: segment };
  const digits = segment.slice(dash + 1);
  if (!/^\+?\d{1,10}$/.test(digits) || Number(digits) > 0x7fff_ffff) return { name: segment };
  return { name: segment.slice(0, dash), instance: Number(digits) };
}
