/** Timeouts of a session in milliseconds. */
export interface SessionTimes {
  readonly connectMs: number;
  /** Per reply. */
  readonly replyMs: number;
  /** Without traffic of the daemon while data flows. */
  readonly dataIdleMs: number;
  /** Without traffic of the client while data flows. */
  readonly clientIdleMs: number;
}

/** Default timeouts. */
export const SESSION_TIMES: SessionTimes = {
  connectMs: 5_000,
  replyMs: 20_000,
  dataIdleMs: 60_000,
  clientIdleMs: 120_000,
};
