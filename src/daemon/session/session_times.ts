/** How long each step of a session may take, in milliseconds. */
export interface SessionTimes {
  readonly connectMs: number;
  /** For each reply on the control connection. */
  readonly replyMs: number;
  /** Without a byte from or to the daemon while data flows. */
  readonly dataIdleMs: number;
  /** Without the client taking or sending anything while data flows. */
  readonly clientIdleMs: number;
}

/** The limits that the service works with. */
export const SESSION_TIMES: SessionTimes = {
  connectMs: 5_000,
  replyMs: 20_000,
  dataIdleMs: 60_000,
  clientIdleMs: 120_000,
};
