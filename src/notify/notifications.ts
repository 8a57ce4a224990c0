import type { Sinks } from "../logging/sink.ts";
import { realTime, type Schedule } from "../model/schedule.ts";
import type { Database, Work } from "../store/database.ts";
import type { NotifiedEvent } from "./event.ts";
import type { Recorder } from "./recorder.ts";

/** Bans by failed logins are gathered, since attackers choose their number: milliseconds, and bans of one event. */
const GATHER_MS = 5000;
const MOST_BANS = 100;

/** Banned user or address. */
interface NotifiedBan {
  readonly user?: string | undefined; // only names that exist: others may be passwords
  readonly address?: string | undefined;
  readonly until?: string;
  readonly seconds?: number;
}

/** Records events that belong to no transaction of a share, one after the other. */
export class Notifications {
  readonly recorder: Recorder;
  readonly #database: Database;
  readonly #sinks: Pick<Sinks, "of">;
  readonly #schedule: Schedule;
  #last: Promise<void> = Promise.resolve();
  #bans: NotifiedBan[] = [];
  #moreBans = 0;
  #cancel: (() => void) | undefined;

  constructor(
    { recorder, database, sinks, schedule = realTime }: {
      readonly recorder: Recorder;
      readonly database: Database;
      readonly sinks: Pick<Sinks, "of">;
      readonly schedule?: Schedule;
    },
  ) {
    this.recorder = recorder;
    this.#database = database;
    this.#sinks = sinks;
    this.#schedule = schedule;
  }

  /** Tells of an operator's ban, or of its end. */
  ban(type: "ban.created" | "ban.lifted", ban: NotifiedBan): void {
    this.#tell({ type, stream: "bans", data: { reason: "operator", bans: [ban] } });
  }

  /** Tells of a ban by failed logins, soon, together with others. */
  failed(ban: NotifiedBan): void {
    if (this.#bans.length < MOST_BANS) this.#bans.push(ban);
    else this.#moreBans++;
    this.#cancel ??= this.#schedule(GATHER_MS, () => this.#tellBans());
  }

  /** Tells whether a daemon serves, if that changed. @param reason Why it does not. */
  daemon(address: string, servers: readonly string[], reason: string | undefined): void {
    const type = reason === undefined ? "daemon.up" : "daemon.down";
    const subject = `daemon ${address}`;
    const event: NotifiedEvent = { type, stream: subject, data: { daemon: address, servers, reason } };
    this.#change(event, () => this.recorder.turn(event, { subject, usual: reason === undefined }));
  }

  /** Records what was gathered. */
  async close(): Promise<void> {
    if (this.#cancel !== undefined) this.#tellBans();
    await this.#last;
  }

  #tellBans(): void {
    this.#cancel?.();
    const data = { reason: "failed logins", bans: this.#bans, more: this.#moreBans };
    [this.#bans, this.#moreBans, this.#cancel] = [[], 0, undefined];
    this.#tell({ type: "ban.created", stream: "bans", data });
  }

  #tell(event: NotifiedEvent): void {
    this.#change(event, () => this.recorder.record(event));
  }

  #change(event: NotifiedEvent, work: () => Work<unknown>): void {
    this.#last = this.#last.then(() => this.#database.change(work)).then(() => {}, (error) => {
      for (const { config, kind } of this.recorder.kinds) {
        if (kind.wants(config, event)) this.#sinks.of(kind.name).failed(error, undefined, 1);
      }
    });
  }
}
