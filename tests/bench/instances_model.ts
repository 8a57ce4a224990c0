import { saturation, type Station, throughput } from "./closed_network.ts";
import type { Figure } from "./figure.ts";

/** Service times of one kind of request, in milliseconds. */
export interface Demands {
  /** Edge thread of the instance that serves it. */
  readonly edge: number;
  /** Core thread of that instance. */
  readonly core: number;
  readonly database: number;
  readonly balancer: number;
  /** Command socket of a daemon, which serves one request at a time. */
  readonly daemon: number;
}

/** Resources around the instances. */
export interface Surroundings {
  /** Cores of the database's machine. */
  readonly databaseCores: number;
  readonly daemons: number;
}

/** Numbers of instances in the model. */
export const INSTANCES = [1, 4, 16] as const;
/** Concurrent clients for each instance. */
const CLIENTS = 32;

/** Returns the modelled requests a second, and names the station that saturates first. */
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
    const named = `${what}, ${instances} ${instances === 1 ? "instance" : "instances"}, limited by ${first}`;
    return { what: named, value: throughput(stations, CLIENTS * instances), unit: "/s" };
  });
}
