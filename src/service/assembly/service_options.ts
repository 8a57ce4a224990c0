import type { ServiceConfig } from "../../config/service_config.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { StateUpdate } from "../state_update.ts";
import type { InstanceName } from "./open_cluster.ts";

/** What a service is made from; plain data, so that it can be posted to a worker. */
export interface ServiceOptions {
  readonly config: ServiceConfig;
  /** Absent if nothing speaks TLS. */
  readonly material: TlsMaterial | undefined;
  /** Certificates of trusted SAML issuers, PEM, one each. */
  readonly assertionIssuers: readonly string[];
  /** Counts the services since the start of the process, from 1. */
  readonly generation: number;
  /** Start of the process, milliseconds since the epoch. */
  readonly upSince: number;
  /** Port that clients connect to: the configured one, or what the system chose for 0. */
  readonly port: number;
  /** State of earlier cores. */
  readonly state?: StateUpdate;
  /** What tells it from others that are the same service; absent for whoever only looks on. */
  readonly instance?: InstanceName;
}
