import type { KnownDaemons } from "../daemon/daemons.ts";
import type { SeenMark } from "../model/replay_cache.ts";
import type { ThrottlingNews } from "../throttling/memory.ts";

/**
 * State of a core that changed, as plain data. The supervisor merges all updates and hands the result to the next core; other
 * cores that serve adopt the part that concerns logins.
 */
export interface StateUpdate extends LoginUpdate {
  readonly daemons?: KnownDaemons; // by the addresses of their command sockets
  /** Milliseconds by which the clock of this machine is behind the clock of the shared database. */
  readonly behindMs?: number;
}

/** State that decides about logins: every core must know it at once. */
export interface LoginUpdate {
  readonly throttling?: ThrottlingNews;
  readonly proofs?: readonly SeenMark[]; // proofs of possession that clients have shown
  readonly signedOut?: readonly string[]; // canonical DNs of banned users whose browsers the core signed out
}

/** Takes each update of a core's state. */
export type Publish = (update: StateUpdate) => void;
