import type { Sink, Sinks } from "../logging/sink.ts";
import { coalescedTimeout, type Schedule } from "../model/clock.ts";
import { type Database, DatabaseFailure, type SqlSteps } from "../store/database.ts";
import type { NotifiedEvent } from "./event.ts";
import type { Recorder } from "./recorder.ts";

const RETRY_MS = 5000;
const MAX_WAITING = 1000; // events that wait for the database

/** Records events that belong to no transaction of a share, in order, as soon as the database takes them. */
export class Notifications {
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #failure: unknown; // of the last attempt
  #isClosing = false;
  #wake = () => {};

  constructor(
    readonly recorder: Recorder,
    readonly database: Database,
    readonly sinks: Pick<Sinks, "of">,
    readonly schedule: Schedule = coalescedTimeout,
  ) {}

  /** Records an operator's ban, or its end. */
  ban(type: "ban.created" | "ban.lifted", ban: Readonly<Record<string, string | undefined>>): void {
    const event: NotifiedEvent = { type, stream: "bans", data: ban };
    this.#change(event, () => this.recorder.record(event));
  }

  /** Records whether a daemon serves, if that changed. @param reason Why it does not. */
  daemon(address: string, reason: string | undefined): void {
    const type = reason === undefined ? "daemon.up" : "daemon.down";
    const subject = `daemon ${address}`;
    const event: NotifiedEvent = { type, stream: subject, data: { daemon: address, reason } };
    this.#change(event, () => this.recorder.change(event, { subject, initial: reason === undefined }));
  }

  /** Tries once more to record the events that wait. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#failure = undefined;
    this.#wake();
    await this.#last;
  }

  #change(event: NotifiedEvent, work: () => SqlSteps<unknown>): void {
    if (this.#waiting >= MAX_WAITING) return this.#failed(event, new Error("too many events wait"), 1);
    this.#waiting++;
    this.#last = this.#last.then(() => this.#untilRecorded(event, work)).finally(() => this.#waiting--);
  }

  async #untilRecorded(event: NotifiedEvent, work: () => SqlSteps<unknown>): Promise<void> {
    while (!this.#isClosing || this.#failure === undefined) {
      try {
        await this.database.change(work, { lock: event.stream }); // orders the events of all instances
        const isAgain = this.#failure !== undefined;
        if (isAgain) this.#sinksOf(event).forEach((sink) => sink.written()); // the event may cause no delivery
        this.#failure = undefined;
        return;
      } catch (error) {
        this.#failure = error;
        if (!(error instanceof DatabaseFailure)) break;
      }
      this.#failed(event, this.#failure);
      if (this.#isClosing) continue;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        this.schedule(RETRY_MS, resolve);
      });
    }
    this.#failed(event, this.#failure, 1);
  }

  #failed(event: NotifiedEvent, error: unknown, lost = 0): void {
    this.#sinksOf(event).forEach((sink) => sink.failed(error, undefined, lost));
  }

  #sinksOf(event: NotifiedEvent): readonly Sink[] {
    const accepting = this.recorder.kinds.filter(({ config, kind }) => kind.accepts(config, event));
    return accepting.map(({ kind }) => this.sinks.of(kind.name));
  }
}
