import { Buffer } from "node:buffer";
import type { Logger } from "../logging/logger.ts";
import { type Schedule, wholeMs } from "../model/clock.ts";
import { ASYNC_COMMIT, type Database, type Row, row, rows } from "../store/database.ts";
import { Poller } from "../store/poller.ts";

interface InstanceFacts {
  readonly id: string;
  readonly name: string; // for people: `host:port`
  readonly version: string; // of the program
  readonly configuration: string; // digest of the settings that must be equal on all instances
  readonly upSince: number; // start of the process, milliseconds since the epoch
}

/** Instance as others see it. */
export interface RegisteredInstance extends InstanceFacts {
  readonly ageMs: number; // milliseconds since it was last seen
  readonly alive: boolean; // whether it probably serves
  readonly own: boolean; // whether it is this one
}

const BEAT_MS = 5000;
const SILENT_MS = 17_000; // milliseconds without heartbeat after which an instance counts as stopped
const FORGOTTEN_MS = wholeMs(3600_000); // milliseconds without heartbeat after which an instance is deleted

const SQL = {
  announce: `INSERT INTO instance (id, name, version, configuration, up_since, seen)
             VALUES (:id, :name, :version, :configuration, :upSince, :clock)
             ON CONFLICT (id) DO UPDATE SET version = excluded.version, configuration = excluded.configuration,
               name = excluded.name, seen = excluded.seen`,
  all: `SELECT id, name, version, configuration, up_since, :clock - seen AS age FROM instance`,
  forget:
    `DELETE FROM instance WHERE seen < :clock - :forgotten OR (name = :name AND seen < :clock - :silent)`,
  leave: `DELETE FROM instance WHERE id = :id`,
} as const;

/** Register of instances; keeps the last state while the database is down. */
export class InstanceRegister extends Poller {
  #known: readonly RegisteredInstance[] | undefined;
  constructor(
    readonly parts: {
      readonly database: Database;
      readonly own: InstanceFacts;
      readonly log: Logger;
      readonly schedule?: Schedule;
    },
  ) {
    const { log, schedule } = parts;
    const failureMessage = "instances are not known";
    super({ poll: () => this.#beat(), intervalMs: BEAT_MS, failureMessage, log, schedule });
  }

  /** Instances as last seen; only this one before the first poll. */
  get known(): readonly RegisteredInstance[] {
    return this.#known ?? [{ ...this.parts.own, ageMs: 0, alive: true, own: true }];
  }

  get alive(): number {
    return Math.max(1, this.known.filter(({ alive, own }) => alive && !own).length + 1);
  }

  /** Whether running instances of this version have different configurations. */
  get differ(): boolean {
    return this.#different().length > 0;
  }

  /** Deletes this instance, so that others notice at once. @throws {DatabaseFailure} */
  async leave(): Promise<void> {
    await this.end(); // a running announcement would arrive after the deletion
    const { database, own: { id } } = this.parts;
    await database.change(() => row(SQL.leave, { id }), ASYNC_COMMIT);
  }

  async #beat(): Promise<void> {
    const { database, own, log } = this.parts;
    const { differ } = this;
    const found = await database.change(function* () {
      const before = (yield* rows(SQL.all, {})).map(toInstance);
      yield* row(SQL.announce, { ...own, upSince: wholeMs(own.upSince) });
      // A silent one of this host and port was killed, or comes from a restored dump.
      if (before.some(({ ageMs, name }) => ageMs > (name === own.name ? SILENT_MS : FORGOTTEN_MS))) {
        yield* row(SQL.forget, { forgotten: FORGOTTEN_MS, name: own.name, silent: wholeMs(SILENT_MS) });
      }
      return before;
    }, ASYNC_COMMIT);
    // While this instance could not write, others could not either.
    const lastBeatMs = found.find(({ id }) => id === own.id)?.ageMs ?? BEAT_MS;
    const silentMs = SILENT_MS - BEAT_MS + Math.max(BEAT_MS, lastBeatMs);
    const others = found.filter(({ id }) => id !== own.id).map((other): RegisteredInstance => ({
      ...other,
      alive: other.ageMs < silentMs,
      own: false,
    }));
    this.#known = [{ ...own, ageMs: 0, alive: true, own: true } as const, ...others].toSorted((one, other) =>
      Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)) || one.upSince - other.upSince
    );
    if (!this.differ || differ) return;
    const names = this.#different().map(({ name }) => name).join(", ");
    log.warn("instances have different configurations", { names });
  }

  #different(): readonly RegisteredInstance[] {
    const { own: { version, configuration } } = this.parts;
    return this.known.filter((other) =>
      other.alive && other.version === version && other.configuration !== configuration
    );
  }
}

function toInstance(found: Row): InstanceFacts & { readonly ageMs: number } {
  return {
    id: String(found["id"]),
    name: String(found["name"]),
    version: String(found["version"]),
    configuration: String(found["configuration"]),
    upSince: Number(found["up_since"]),
    ageMs: Math.max(0, Number(found["age"])),
  };
}
