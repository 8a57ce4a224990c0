import { wholeMs } from "../model/clock.ts";
import { type Database, type Row, row, rows } from "../store/database.ts";
import type { Destination } from "./destination.ts";
import type { Notification } from "./event.ts";

const LEASE_MS = 30_000; // lease of a delivery, longer than an attempt, in milliseconds
const MAX_AGE_MS = wholeMs(3 * 86_400_000); // milliseconds after which a notification is dropped: three days

const SAME_STREAM = (other: string) =>
  `FROM notification AS ${other} WHERE ${other}.destination = head.destination AND ${other}.stream = head.stream`;

const HELD = `holder = :holder, held_until = :clock + ${LEASE_MS}, attempts = attempts + 1`;

const SQL = {
  // The first notification of each stream, once the stream was quiet for a while.
  streamHeads: `SELECT number FROM notification AS head
    WHERE destination = :destination AND due <= :clock AND held_until <= :clock
      AND NOT EXISTS (SELECT 1 ${SAME_STREAM("earlier")} AND earlier.number < head.number)
      AND (made <= :clock - :lasts OR NOT EXISTS (SELECT 1 ${
    SAME_STREAM("later")
  } AND later.made > :clock - :window))
    ORDER BY due, number LIMIT :most`,
  take: `UPDATE notification SET ${HELD} WHERE number = :number AND held_until <= :clock RETURNING *`,
  next: `UPDATE notification SET ${HELD} WHERE held_until <= :clock AND number = (
      SELECT min(number) FROM notification WHERE destination = :destination AND stream = :stream) RETURNING *`,
  following:
    `SELECT * FROM notification WHERE destination = :destination AND stream = :stream AND number >= :number
    ORDER BY number LIMIT :most`,
  held: `SELECT number FROM notification WHERE number = :number AND holder = :holder`,
  remove: `DELETE FROM notification WHERE number IN (SELECT CAST(value AS BIGINT) FROM json_each(:numbers))`,
  postpone: `UPDATE notification SET due = :clock + :wait, held_until = 0,
      attempts = CASE WHEN :wait = 0 THEN attempts - 1 ELSE attempts END
    WHERE number = :number AND holder = :holder`,
  expire: `DELETE FROM notification WHERE made <= :clock - :lasts RETURNING destination`,
} as const;

/** Notifications in the database. One instance at a time holds the first of a stream by a lease. Methods throw {@link DatabaseFailure}. */
export class Outbox {
  readonly #holder = crypto.randomUUID();

  constructor(readonly database: Database) {}

  /** Leases the first notification of up to `most` streams. Writes only if there are any. */
  async take({ name: destination, batching }: Destination, most: number): Promise<readonly Notification[]> {
    const [window, lasts] = [wholeMs(batching?.quietMs ?? 0), wholeMs(batching?.maxMs ?? 0)];
    const heads = await this.database.read(() => rows(SQL.streamHeads, { destination, most, window, lasts }));
    const holder = this.#holder;
    const taken = heads.map((head) =>
      this.database.change(() => row(SQL.take, { number: Number(head["number"]), holder }))
    );
    return (await Promise.all(taken)).flatMap((found) => found === undefined ? [] : toNotification(found));
  }

  /** Returns a notification with its batch: the next ones of the stream, up to the first for another address. */
  async batchOf(first: Notification, { name, batching }: Destination): Promise<readonly Notification[]> {
    if (batching === undefined) return [first];
    const { stream, number } = first;
    const values = { destination: name, stream, number, most: batching.maxCount };
    const following = (await this.database.read(() => rows(SQL.following, values))).map(toNotification);
    const other = following.findIndex(({ mailTo }) => mailTo !== first.mailTo);
    return other < 0 ? following : following.slice(0, other);
  }

  /** Removes delivered notifications, and leases the next of the stream unless it is delivered in batches. */
  done(
    delivered: readonly Notification[],
    { name: destination, batching }: Destination,
  ): Promise<Notification | undefined> {
    const [first] = delivered;
    if (first === undefined) return Promise.resolve(undefined);
    const { stream, number } = first;
    const numbers = JSON.stringify(delivered.map(({ number }) => number));
    const holder = this.#holder;
    return this.database.change(function* () {
      if ((yield* row(SQL.held, { number, holder })) === undefined) return undefined;
      yield* rows(SQL.remove, { numbers });
      const next = batching === undefined ? yield* row(SQL.next, { destination, stream, holder }) : undefined;
      return next && toNotification(next);
    });
  }

  /** Schedules another attempt; without a pause, the current one does not count. */
  async postpone({ number }: Notification, waitMs: number): Promise<void> {
    const values = { number, holder: this.#holder, wait: wholeMs(waitMs) };
    await this.database.change(() => rows(SQL.postpone, values));
  }

  /** Drops notifications that are too old. @returns The destination of each. */
  async expire(): Promise<readonly Destination["name"][]> {
    const dropped = await this.database.change(() => rows(SQL.expire, { lasts: MAX_AGE_MS }));
    return dropped.map(({ destination }) => destination === "mail" ? "mail" : "webhook");
  }
}

function toNotification(found: Row): Notification {
  return {
    ...JSON.parse(String(found["content"])),
    number: Number(found["number"]),
    message: String(found["message"]),
    stream: String(found["stream"]),
    made: Number(found["made"]),
    attempts: Number(found["attempts"]),
  };
}
