import type { Secret } from "../model/secret.ts";

/** Session permission; the daemon takes any other word for `FULL` (daemon-protocol.md 1.8). */
export type AccessPermission = "NONE" | "INFO" | "READ" | "WRITE" | "FULL";

/** Session request. The encoder checks every field before anything is sent. */
export interface SessionOrder {
  readonly user: string;
  /** Primary group, to which the daemon adds the account's others; or an exclusive list separated by `:`. */
  readonly group?: string;
  /** Allowed client addresses. */
  readonly clientAddresses: readonly string[];
  /** Base directory ending in `/`, or empty for the unconfined home directory. */
  readonly file: string;
  readonly permission: AccessPermission;
  readonly persistent: boolean;
  readonly streams: number;
  readonly compress: boolean;
  readonly encryption?: { readonly key: Secret; readonly algorithm: "AES" | "BLOWFISH" };
  /** Bytes per second; 0: no limit. */
  readonly rateLimit: number;
  /** Patterns separated by `:`. */
  readonly includes?: string;
  readonly excludes?: string;
}

/** Announced session. */
export interface SessionGrant {
  /** Configured listen host, verbatim. */
  readonly host: string;
  /** Reported by the daemon. */
  readonly port: number;
  readonly secret: Secret;
  /** From 1. */
  readonly instance: number;
}

/** Daemon's reply about an account (daemon-protocol.md 2). */
export type UserInfo =
  | {
    readonly kind: "known";
    readonly home?: string;
    /** `authorized_keys` lines with options. */
    readonly keyLines: readonly string[];
  }
  | { readonly kind: "unknown" };

/** Status of a logical server, from real requests. */
export interface GroupStatus {
  /** Whether an instance is up. */
  readonly usable: boolean;
  /** Whether an instance is up or unchecked. */
  readonly worthTrying: boolean;
  /** Whether no instance has responded or failed yet. */
  readonly unchecked: boolean;
  readonly total: number;
  readonly available: number;
  readonly instances: readonly InstanceStatus[];
  /** First version reported. */
  readonly version?: string;
  /** Smallest positive `MaxSessionsPerClient`. */
  readonly sessionLimit?: number;
}

/** Health of an instance. */
export interface InstanceStatus extends DaemonHealth {
  /** From 1. */
  readonly instance: number;
  /** `host:port` of the listen socket, or `host` while the port is unknown; never the command address. */
  readonly address: string;
}

/** Health of a physical daemon. */
export interface DaemonHealth {
  readonly up: boolean;
  /** Whether it has not responded or failed yet. */
  readonly unchecked?: boolean;
  /** Reason of a failure, for log and operator. */
  readonly reason?: string;
  /** Latest latency in milliseconds, including connecting. */
  readonly latencyMs?: number;
  /** Whether its configured certificate proves nothing. */
  readonly unverifiable?: boolean;
}

/** Logical server: physical daemons with round-robin and fail-over. */
export interface DaemonGroup {
  readonly name: string;
  readonly description: string;
  readonly size: number;
  /** The same object until something changes. */
  status(): GroupStatus;
  /**
   * Announces a session to a daemon.
   * @param options.instance Only this instance, from 1.
   * @throws {ERR_INVALID_ORDER} 400 for an invalid value; nothing was sent.
   * @throws {ERR_DAEMON_REFUSED | ERR_SESSION_LIMIT_REACHED | ERR_DAEMON_UNAVAILABLE | ERR_DAEMON_TIMEOUT |
   * ERR_DAEMON_REPLY_INVALID}
   */
  openSession(
    order: SessionOrder,
    options: { readonly instance?: number; readonly signal: AbortSignal },
  ): Promise<SessionGrant>;
  /** Asks an instance about an account. @throws As {@link openSession}. */
  userInfo(user: string, signal: AbortSignal): Promise<UserInfo>;
  /** Stops checks and waits for running requests, which are never cut between handshake and `END`. */
  close(): Promise<void>;
}
