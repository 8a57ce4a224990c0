import { saturation, type Station, throughput } from "./closed_network.ts";
import type { Figure } from "./figure.ts";

/** What one request of a kind takes of whatever it goes through, in milliseconds. */
export interface Demands {
  /** Thread of the edge, of the instance that serves it. */
  readonly edge: number;
  /** Thread of its core. */
  readonly core: number;
  readonly database: number;
  readonly balancer: number;
  /** Command socket of a daemon, which serves one after the other. */
  readonly daemon: number;
}

/** What there is besides instances. */
export interface Surroundings {
  /** Cores of the database's machine. */
  readonly databaseCores: number;
  readonly daemons: number;
}

/** Numbers of instances that the model is asked for. */
export const INSTANCES = [1, 2, 4, 8, 16] as const;
/** Clients at once, for each instance. */
const CLIENTS = 32;

/** Requests a second that instances give, and what of them or around them is full first. */
export function modelled(
  what: string,
  demands: Demands,
  { databaseCores, daemons }: Surroundings,
): readonly Figure[] {
  return INSTANCES.map((instances) => {
    const stations: Station[] = [
      { name: "edges", demandMs: demands.edge, copies: instances },
      { name: "cores", demandMs: demands.core, copies: instances },
      { name: "PostgreSQL", demandMs: demands.database, copies: databaseCores },
      { name: "HAProxy", demandMs: demands.balancer },
      { name: daemons === 1 ? "daemon" : "daemons", demandMs: demands.daemon, copies: daemons },
    ];
    const { first } = saturation(stations);
    const named = `${what}, ${instances} ${instances === 1 ? "instance" : "instances"}, full first: ${first}`;
    return { what: named, value: throughput(stations, CLIENTS * instances), unit: "/s" };
  });
}
