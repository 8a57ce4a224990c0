/** Timeouts of a session in milliseconds. */
export interface SessionTimes {
  readonly connectMs: number;
  readonly replyMs: number; // per reply
  readonly dataIdleMs: number; // without traffic of the daemon while data flows
  readonly clientIdleMs: number; // without traffic of the client while data flows
}

/** Default timeouts. */
export const SESSION_TIMES: SessionTimes = {
  connectMs: 5_000,
  replyMs: 20_000,
  dataIdleMs: 60_000,
  clientIdleMs: 120_000,
};
