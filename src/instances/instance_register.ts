import { Buffer } from "node:buffer";
import type { Logger } from "../logging/logger.ts";
import type { Schedule } from "../model/schedule.ts";
import { type Database, type Row, row, rows } from "../store/database.ts";
import { Following } from "../store/following.ts";

/** One of the processes that together are the service. */
interface InstanceFacts {
  readonly id: string; // of the process
  readonly name: string; // for people: `host:port`
  readonly version: string; // of the program
  readonly configuration: string; // digest of the settings that must be equal on all instances instances
  readonly upSince: number; // start of the process, milliseconds since the epoch
}

/** An instance as others see it. */
export interface RegisteredInstance extends InstanceFacts {
  readonly ageMs: number; // milliseconds since it was seen last
  readonly alive: boolean; // whether it is to be taken for one that serves
  readonly own: boolean; // whether it is this one
}

/** How often each says that it is there, in milliseconds. */
const TURN_MS = 5000;
/** One that was not seen for so long, in milliseconds, serves no more. */
const SILENT_MS = 17_000;
/** One that was not seen for so long, in milliseconds, is forgotten. */
const FORGOTTEN_MS = 3600_000;

/** A crash of the database empties the table: there is no disk to wait for. */
const ASYNC_COMMIT = { asyncCommit: true } as const;

const SQL = {
  announce: `INSERT INTO instance (id, name, version, configuration, up_since, seen)
             VALUES (:id, :name, :version, :configuration, :upSince, :clock)
             ON CONFLICT (id) DO UPDATE SET version = excluded.version, configuration = excluded.configuration,
               name = excluded.name, seen = excluded.seen`,
  all: `SELECT id, name, version, configuration, up_since, :clock - seen AS age FROM instance`,
  forget: `DELETE FROM instance WHERE seen < :clock - :forgotten`,
  leave: `DELETE FROM instance WHERE id = :id`,
} as const;

/** Which instances there are; what is known of them stays while the database is away. */
export class InstanceRegister {
  #known: readonly RegisteredInstance[] | undefined;
  readonly #following: Following;

  constructor(
    readonly parts: {
      readonly database: Database;
      readonly own: InstanceFacts;
      readonly log: Logger;
      readonly schedule?: Schedule;
    },
  ) {
    const { log, schedule } = parts;
    this.#following = new Following({
      look: () => this.#turn(),
      everyMs: TURN_MS,
      trouble: "instances are not known",
      log,
      schedule,
    });
  }

  /** As this one saw them last; itself alone before the first look. */
  get known(): readonly RegisteredInstance[] {
    return this.#known ?? [{ ...this.parts.own, ageMs: 0, alive: true, own: true }];
  }

  /** How many serve, this one included. */
  get alive(): number {
    return Math.max(1, this.known.filter(({ alive, own }) => alive && !own).length + 1);
  }

  /** Whether some that serve with the same version have other configurations. */
  get differ(): boolean {
    return this.#different().length > 0;
  }

  /** Announces this one, and looks who else is there, from now on. */
  follow(): Promise<void> {
    return this.#following.begin();
  }

  /** This one ends: the others need not wait until it is silent. @throws {DatabaseFailure} */
  async leave(): Promise<void> {
    await this.#following.end(); // an announcement under way would come after the end
    const { database, own: { id } } = this.parts;
    await database.change(() => row(SQL.leave, { id }), ASYNC_COMMIT);
  }

  close(): void {
    this.#following.close();
  }

  async #turn(): Promise<void> {
    const { database, own, log } = this.parts;
    const { differ } = this;
    const found = await database.change(function* () {
      const before = yield* rows(SQL.all, {});
      yield* row(SQL.announce, { ...own });
      yield* row(SQL.forget, { forgotten: FORGOTTEN_MS });
      return before.map(toInstance);
    }, ASYNC_COMMIT);
    // What this one could not say for some time, others could not either.
    const lastTurnMs = found.find(({ id }) => id === own.id)?.ageMs ?? TURN_MS;
    const silentMs = SILENT_MS - TURN_MS + Math.max(TURN_MS, lastTurnMs);
    const others = found.filter(({ id }) => id !== own.id).map((other): RegisteredInstance => ({
      ...other,
      alive: other.ageMs < silentMs,
      own: false,
    }));
    this.#known = [{ ...own, ageMs: 0, alive: true, own: true } as const, ...others].toSorted(byName);
    if (!this.differ || differ) return;
    const names = this.#different().map(({ name }) => name).join(", ");
    log.warn("instances have different configurations", { names });
  }

  /** Those that serve with the same version and another configuration. */
  #different(): readonly RegisteredInstance[] {
    const { own: { version, configuration } } = this.parts;
    return this.known.filter((other) =>
      other.alive && other.version === version && other.configuration !== configuration
    );
  }
}

/** By the bytes of their names; those of one name, started one after the other, by their start. */
function byName(one: InstanceFacts, other: InstanceFacts): number {
  return Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)) || one.upSince - other.upSince;
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
