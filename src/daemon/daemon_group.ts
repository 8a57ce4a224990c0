import type { Secret } from "../model/secret.ts";

/** What a session may do; the daemon takes any other word for `FULL` (daemon-protocol.md 1.8). */
export type AccessPermission = "NONE" | "INFO" | "READ" | "WRITE" | "FULL";

/** A session to be announced to a daemon. Values are checked by the encoder, field by field, before anything is sent. */
export interface SessionOrder {
  /** Unix account. */
  readonly user: string;
  /** Primary group, to which the daemon adds the account's other groups; or several with colons between, and no others. */
  readonly group?: string;
  /** Addresses the client may come from. */
  readonly clientAddresses: readonly string[];
  /** Base directory: empty for the home directory without confinement, else ending in `/`. */
  readonly file: string;
  readonly permission: AccessPermission;
  readonly persistent: boolean;
  readonly streams: number;
  readonly compress: boolean;
  readonly encryption?: { readonly key: Secret; readonly algorithm: "AES" | "BLOWFISH" };
  /** Bytes per second; 0 is no limit. */
  readonly rateLimit: number;
  /** Patterns separated by `:`. */
  readonly includes?: string;
  readonly excludes?: string;
}

/** A session that a daemon expects. */
export interface SessionGrant {
  /** Configured listen host, verbatim. */
  readonly host: string;
  /** Port the daemon reported. */
  readonly port: number;
  readonly secret: Secret;
  /** Physical instance, counted from 1. */
  readonly instance: number;
}

/** What a daemon says about an account (daemon-protocol.md 2). */
export type UserInfo =
  | {
    readonly kind: "known";
    readonly home?: string;
    /** `authorized_keys` lines as the daemon has them, with options. */
    readonly keyLines: readonly string[];
  }
  | { readonly kind: "unknown" };

/** State of a logical server, from real outcomes. */
export interface GroupStatus {
  /** Whether the server can open a session: an instance answered, and does as far as is known. */
  readonly usable: boolean;
  /** Whether a request may find one that serves it: some instance is up, or was not asked yet. */
  readonly worthTrying: boolean;
  /** Whether no instance was asked yet, or none has answered or failed so far. */
  readonly unchecked: boolean;
  readonly total: number;
  readonly available: number;
  readonly instances: readonly InstanceStatus[];
  /** First version an instance reported. */
  readonly version?: string;
  /** Smallest positive `MaxSessionsPerClient` of the instances. */
  readonly sessionLimit?: number;
}

/** How one instance of a group is, with its place in it. */
export interface InstanceStatus extends DaemonHealth {
  /** Counted from 1. */
  readonly instance: number;
  /** `host:port` of the listen socket, without port while none is known; the command address is never shown. */
  readonly address: string;
}

/** How a physical daemon is. */
export interface DaemonHealth {
  /** Whether the daemon answers. */
  readonly up: boolean;
  /** Whether it was not asked yet, or has neither answered nor failed so far. */
  readonly unchecked?: boolean;
  /** Reason why the daemon is down, for the log and the operator. */
  readonly reason?: string;
  /** Milliseconds that the last answer took, from the attempt to connect on; absent before the first. */
  readonly latencyMs?: number;
  /** Whether it is configured to show a certificate that proves nothing. */
  readonly unverifiable?: boolean;
}

/** One logical server: one or several physical daemons, in turn and with fail-over. */
export interface DaemonGroup {
  readonly name: string;
  readonly description: string;
  readonly size: number;
  /** The same object as long as nothing has changed. */
  status(): GroupStatus;
  /**
   * Has a daemon expect a session.
   * @param options.instance That instance and no other, counted from 1.
   * @throws {ERR_INVALID_ORDER} 400, a value that must not be sent; nothing was.
   * @throws {ERR_DAEMON_REFUSED | ERR_SESSION_LIMIT_REACHED | ERR_DAEMON_UNAVAILABLE | ERR_DAEMON_TIMEOUT | ERR_DAEMON_REPLY_INVALID}
   */
  openSession(
    order: SessionOrder,
    options: { readonly instance?: number; readonly signal: AbortSignal },
  ): Promise<SessionGrant>;
  /** Asks one live instance about an account. @throws As {@link openSession}. */
  userInfo(user: string, signal: AbortSignal): Promise<UserInfo>;
  /** Ends idle checks; waits for the requests under way, which are never cut between handshake and `END`. */
  close(): Promise<void>;
}
