import type { Sinks } from "../logging/sink.ts";
import type { Database, SqlSteps } from "../store/database.ts";
import type { NotifiedEvent } from "./event.ts";
import type { Recorder } from "./recorder.ts";

/** Records events that belong to no transaction of a share, one after the other. */
export class Notifications {
  #last: Promise<void> = Promise.resolve();

  constructor(readonly recorder: Recorder, readonly database: Database, readonly sinks: Pick<Sinks, "of">) {}

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

  async close(): Promise<void> {
    await this.#last;
  }

  #change(event: NotifiedEvent, work: () => SqlSteps<unknown>): void {
    const change = () => this.database.change(work, { lock: event.stream }); // orders the events of all instances
    this.#last = this.#last.then(change).then(() => {}, (error) => {
      for (const { config, kind } of this.recorder.kinds) {
        if (kind.accepts(config, event)) this.sinks.of(kind.name).failed(error, undefined, 1);
      }
    });
  }
}
