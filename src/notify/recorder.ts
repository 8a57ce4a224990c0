import type { OfKind } from "../config/kind.ts";
import type { Sinks } from "../logging/sink.ts";
import { row, rows, type SqlSteps } from "../store/database.ts";
import type { Destination, DestinationKind } from "./destination.ts";
import type { NotifiedEvent } from "./event.ts";

/** Other notifications that may wait for one destination, and of one stream of it. */
const OTHERS = { others: 9_999, othersOfStream: 999 };

const full = (where: string, most: string) =>
  `EXISTS (SELECT 1 FROM notification WHERE destination = :destination ${where} LIMIT 1 OFFSET :${most})`;

const SQL = {
  record: `INSERT INTO notification
      (message, destination, stream, content, made, due, attempts, held_until)
    SELECT :message, :destination, :stream, :content, :clock, :clock, 0, 0
    WHERE NOT ${full("", "others")} AND NOT ${full("AND stream = :stream", "othersOfStream")}
    RETURNING message`,
  withdraw: `DELETE FROM notification WHERE message = :message AND attempts = 0`,
  setState: `INSERT INTO notified_state (subject, state) VALUES (:subject, :state)
    ON CONFLICT (subject) DO UPDATE SET state = excluded.state WHERE notified_state.state <> excluded.state
    RETURNING subject`,
  resetState:
    `UPDATE notified_state SET state = :state WHERE subject = :subject AND state <> :state RETURNING subject`,
} as const;

/** Records events for the configured destinations, in the transaction of the change that causes them. */
export class Recorder {
  static readonly none = new Recorder([]);

  /** @param sinks Count the events that are dropped because too many wait. */
  constructor(readonly kinds: readonly OfKind<DestinationKind>[], readonly sinks?: Pick<Sinks, "of">) {}

  get isActive(): boolean {
    return this.kinds.length > 0;
  }

  has(name: Destination["name"]): boolean {
    return this.kinds.some(({ kind }) => kind.name === name);
  }

  /** @returns Messages for {@link withdraw}. */
  *record(...events: readonly NotifiedEvent[]): SqlSteps<readonly string[]> {
    const messages: string[] = [];
    for (const event of events) {
      const { stream, type, data, mailTo } = event;
      for (const { config, kind } of this.kinds) {
        if (!kind.accepts(config, event)) continue;
        const message = crypto.randomUUID();
        const content = JSON.stringify({ type, data, mailTo });
        const values = { message, destination: kind.name, stream, content, ...OTHERS };
        if ((yield* row(SQL.record, values)) !== undefined) messages.push(message);
        else this.sinks?.of(kind.name).failed(new Error("too many notifications wait"), undefined, 1);
      }
    }
    return messages;
  }

  /** Removes messages unless their delivery has begun. */
  *withdraw(messages: readonly string[]): SqlSteps<void> {
    for (const message of messages) yield* rows(SQL.withdraw, { message });
  }

  /** Records an event if it changes the state of its subject. @param initial Whether this is the state without an earlier event. */
  *change(event: NotifiedEvent, { subject, initial }: { subject: string; initial: boolean }): SqlSteps<void> {
    const changed = yield* row(initial ? SQL.resetState : SQL.setState, { subject, state: event.type });
    if (changed !== undefined) yield* this.record(event);
  }
}
