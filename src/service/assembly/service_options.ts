import type { ServiceConfig } from "../../config/service_config.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { StateUpdate } from "../state_update.ts";
import type { InstanceName } from "./open_cluster.ts";

/** Options of a service; plain data for `postMessage`. */
export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Absent without TLS. */
  readonly material: TlsMaterial | undefined;
  /** PEM, one certificate each. */
  readonly assertionIssuers: readonly string[];
  /** Generation of the core, from 1. */
  readonly generation: number;
  /** Start of the process, milliseconds since the epoch. */
  readonly upSince: number;
  /** Actual port for clients, if 0 is configured. */
  readonly port: number;
  /** State of earlier cores. */
  readonly state?: StateUpdate;
  /** Absent for read-only use. */
  readonly instance?: InstanceName;
}
