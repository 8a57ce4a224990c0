import type { ServiceConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Sinks } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import type { TlsMaterial } from "../../model/tls_material.ts";
import type { KnownDaemons } from "../../daemon/daemons.ts";
import type { ReplayEntry } from "../../model/replay_cache.ts";
import type { ThrottlingUpdate } from "../../throttling/memory.ts";
import type { OwnCertificate } from "./own_certificate.ts";

export interface InstanceName {
  readonly id: string; // unique per process
  readonly host: string;
}

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

/**
 * Changed state of a core, as plain data. The supervisor merges all updates and passes the result to the next core; other
 * serving cores adopt the part that concerns logins.
 */
export interface StateUpdate extends LoginUpdate {
  readonly daemons?: KnownDaemons; // by the addresses of their command sockets
  /** Milliseconds by which the clock of this machine is behind the clock of the shared database. */
  readonly behindMs?: number;
}

/** State that decides on logins: every core must know it at once. */
export interface LoginUpdate {
  readonly throttling?: ThrottlingUpdate;
  readonly proofs?: readonly ReplayEntry[]; // proofs of possession that clients have shown
  readonly signedOut?: readonly string[]; // canonical DNs of banned users whose browsers the core signed out
}

/** Takes each update of a core's state. */
export type Publish = (update: StateUpdate) => void;

/** Part of a service that must be closed. */
export interface Part {
  close(): Promise<void> | void;
  retire?(): void; // ends work that depends on the old configuration; called when the next core gets all further requests
}

export interface Opening extends ServiceOptions {
  readonly log: Logger;
  readonly clock: Clock; // of this machine
  readonly own: OwnCertificate;
  readonly publish: Publish;
  readonly sinks: Sinks;
  readonly readOnly: boolean; // reads stored state without creating it, beside the running service
  /** Registers a part to close at the end, or after a failed start. */
  readonly autoClose: <T extends Part>(part: T) => T;
}
