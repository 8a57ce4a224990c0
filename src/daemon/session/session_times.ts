/** Timeouts of a session in milliseconds. */
export interface SessionTimes {
  readonly connectMs: number;
  readonly replyMs: number; // per reply
  readonly dataIdleMs: number; // without traffic from the daemon during a transfer
  readonly clientIdleMs: number; // without traffic from the client during a transfer
}

/** Default timeouts. */
export const SESSION_TIMES: SessionTimes = {
  connectMs: 5_000,
  replyMs: 20_000,
  dataIdleMs: 60_000,
  clientIdleMs: 120_000,
};
