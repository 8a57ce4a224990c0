import type { Logger } from "../logging/logger.ts";
import type { Sinks } from "../logging/sink.ts";
import { type Schedule, type Stopwatch, stopwatch } from "../model/clock.ts";
import { RemoteUnavailable } from "../outgoing/remote_unavailable.ts";
import { Poller } from "../store/poller.ts";
import { type Destination, Undeliverable } from "./destination.ts";
import type { Notification } from "./event.ts";
import type { Outbox } from "./outbox.ts";

const POLL_MS = 1000;
const POLLS_PER_EXPIRY = 60;
const ATTEMPT_MS = 15_000; // less than the lease
const MAX_STREAMS = 4; // streams to one destination at a time
const TURN_MS = 1000; // time for one stream until it queues behind the others, in milliseconds
/** Pauses before further attempts, in milliseconds; each doubles the one before. */
const FIRST_PAUSE_MS = 5000;
const MAX_PAUSE_MS = 3_600_000;

interface DispatcherParts {
  readonly outbox: Outbox;
  readonly sinks: Pick<Sinks, "of">;
  readonly log: Logger;
  readonly schedule?: Schedule;
  readonly elapsed?: Stopwatch;
  readonly attemptMs?: number;
}

/** Delivers the notifications for one destination, as far as no other instance holds the lease of a stream. */
export class Dispatcher {
  readonly #poller: Poller;
  readonly #closing = new AbortController();
  #polls = 0;
  #pollSoon: (() => void) | undefined;

  constructor(readonly destination: Destination, readonly parts: DispatcherParts) {
    const { schedule, log } = parts;
    this.#poller = new Poller({
      poll: () => this.poll(),
      intervalMs: POLL_MS,
      failureMessage: "notifications are not delivered",
      log,
      schedule,
      onChange: (listener) => this.#pollSoon = listener,
    });
  }

  begin(): void {
    void this.#poller.start();
  }

  /** Delivers the notifications that are due. @throws {DatabaseFailure} */
  async poll(): Promise<void> {
    const { outbox, sinks } = this.parts;
    const expired = this.#polls++ % POLLS_PER_EXPIRY === 0 ? await outbox.expire() : [];
    for (const name of expired) {
      sinks.of(name).failed(new Error("not delivered within three days"), undefined, 1);
    }
    const heads = await outbox.take(this.destination, MAX_STREAMS);
    await Promise.all(heads.map((head) => this.#deliverFrom(head)));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#poller.end();
  }

  /** Delivers the notifications of a stream in order, until one fails or its turn ends. */
  async #deliverFrom(head: Notification): Promise<void> {
    const { outbox, elapsed = stopwatch } = this.parts;
    const end = elapsed() + TURN_MS;
    for (let next: Notification | undefined = head; next !== undefined;) {
      const batch = await outbox.batchOf(next, this.destination);
      const waitMs = next === head || elapsed() < end ? await this.#attempt(next, batch) : 0;
      if (waitMs === 0) this.#pollSoon?.();
      if (waitMs !== undefined) return await outbox.postpone(next, waitMs);
      next = await outbox.done(batch, this.destination);
    }
  }

  /** @returns Milliseconds until the next attempt; undefined if there is none. */
  async #attempt(first: Notification, batch: readonly Notification[]): Promise<number | undefined> {
    const { sinks, log, attemptMs = ATTEMPT_MS } = this.parts;
    const { name, host } = this.destination;
    const closing = this.#closing.signal;
    if (closing.aborted) return 0;
    try {
      await this.destination.deliver(batch, AbortSignal.any([closing, AbortSignal.timeout(attemptMs)]));
    } catch (error) {
      if (closing.aborted) return 0;
      if (error instanceof Undeliverable) {
        log.warn("notification refused for good", { to: host, type: first.type, error });
        sinks.of(name).lose(batch.length);
        sinks.of(name).written();
        return undefined;
      }
      const retryAfterSeconds = error instanceof RemoteUnavailable ? error.retryAfterSeconds ?? 0 : 0;
      sinks.of(name).failed(error, host);
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (first.attempts - 1), MAX_PAUSE_MS);
      return Math.max(pauseMs, retryAfterSeconds * 1000);
    }
    sinks.of(name).written();
    return undefined;
  }
}
