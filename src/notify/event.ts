/** Types of events, in the order of the manual. */
export const EVENT_TYPES = [
  "share.created",
  "share.used",
  "share.ended",
  "files.arrived",
  "ban.created",
  "ban.lifted",
  "daemon.down",
  "daemon.up",
] as const;

/** Event that causes notifications. It holds no secrets: ids of shares, which are links, only as digests. */
export interface NotifiedEvent {
  readonly type: typeof EVENT_TYPES[number];
  readonly stream: string; // events of one stream are delivered in order
  readonly data: Readonly<Record<string, unknown>>;
  readonly mailTo?: string | undefined; // address of the person who asked for mail about it
}

/** Recorded event on its way to one destination. */
export interface Notification extends Pick<NotifiedEvent, "type" | "data" | "mailTo"> {
  readonly number: number;
  readonly message: string; // unique; the same at each attempt
  readonly stream: string;
  readonly made: number; // milliseconds since the epoch
  readonly attempts: number; // begun attempts, this one included
}
