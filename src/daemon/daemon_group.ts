import type { Secret } from "../model/secret.ts";

/** Session permission; the daemon reads any other word as `FULL` (daemon-protocol.md 1.8). */
export type AccessPermission = "NONE" | "INFO" | "READ" | "WRITE" | "FULL";

/** Session request. The encoder checks every field before anything is sent. */
export interface SessionRequest {
  readonly user: string;
  /** Primary group, to which the daemon adds the account's others; or an exclusive list separated by `:`. */
  readonly group?: string;
  readonly clientAddresses: readonly string[]; // allowed client addresses
  readonly file: string; // base directory ending in `/`, or empty for the unconfined home directory
  readonly permission: AccessPermission;
  readonly persistent: boolean;
  readonly streams: number;
  readonly compress: boolean;
  readonly encryption?: { readonly key: Secret; readonly algorithm: "AES" | "BLOWFISH" };
  readonly rateLimit: number; // bytes per second; 0: no limit
  readonly includes?: string; // patterns separated by `:`
  readonly excludes?: string;
}

export interface SessionGrant {
  readonly host: string; // configured listen host, verbatim
  readonly port: number; // reported by the daemon
  readonly secret: Secret;
  readonly instance: number; // from 1
}

/** Daemon's reply about an account (daemon-protocol.md 2). */
export type UserInfo =
  | {
    readonly kind: "known";
    readonly home?: string;
    readonly keyLines: readonly string[]; // `authorized_keys` lines with options
  }
  | { readonly kind: "unknown" };

/** Status of a logical server, derived from real requests. */
export interface GroupStatus {
  readonly usable: boolean; // whether an instance is up
  readonly worthTrying: boolean; // whether an instance is up or unchecked
  readonly unchecked: boolean; // whether no instance has responded or failed yet
  readonly total: number;
  readonly available: number;
  readonly instances: readonly InstanceStatus[];
  readonly version?: string; // first version reported
  readonly sessionLimit?: number; // smallest positive `MaxSessionsPerClient`
}

export interface InstanceStatus extends DaemonHealth {
  readonly instance: number; // from 1
  /** `host:port` of the listen socket, or `host` while the port is unknown; never the command address. */
  readonly address: string;
}

export interface DaemonHealth {
  readonly up: boolean;
  readonly unchecked?: boolean; // whether it has not responded or failed yet
  readonly reason?: string; // reason of a failure, for log and operator
  readonly latencyMs?: number; // latest latency in milliseconds, including connecting
  readonly unverifiable?: boolean; // whether its configured certificate proves nothing
}

/** Logical server: physical daemons with round-robin and fail-over. */
export interface DaemonGroup {
  readonly name: string;
  readonly description: string;
  readonly size: number;
  status(): GroupStatus;
  /** Announces a session to a daemon. @throws {ERR_INVALID_VALUE} Nothing was sent. @throws The errors of daemons. */
  openSession(
    request: SessionRequest,
    options: { readonly instance?: number; readonly signal: AbortSignal },
  ): Promise<SessionGrant>;
  /** Asks an instance about an account. @throws As {@link openSession}. */
  userInfo(user: string, signal: AbortSignal): Promise<UserInfo>;
  /** Stops checks and waits for running requests; never cuts them off between handshake and `END`. */
  close(): Promise<void>;
}
