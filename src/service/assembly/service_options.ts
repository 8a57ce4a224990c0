import type { ServiceConfig } from "../../config/service_config.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { StateUpdate } from "../state_update.ts";
import type { InstanceName } from "./open_cluster.ts";

/** Options of a service; plain data for `postMessage`. */
export interface ServiceOptions {
  readonly config: ServiceConfig;
  readonly material: TlsMaterial | undefined; // absent without TLS
  readonly assertionIssuers: readonly string[]; // PEM, one certificate each
  readonly generation: number; // generation of the core, from 1
  readonly upSince: number; // start of the process, milliseconds since the epoch
  readonly port: number; // actual port for clients, if 0 is configured
  readonly state?: StateUpdate; // state of earlier cores
  readonly instance?: InstanceName; // absent for read-only use
}
