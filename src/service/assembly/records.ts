import type { Sink } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import type { Database } from "../../store/database.ts";
import { DatabaseRecordStore } from "../../store/database_record_store.ts";
import type { RecordStore } from "../../store/record_store.ts";
import { IN_MEMORY } from "../../store/sqlite_database.ts";
import { openRecordStore, RECORD_DATABASE } from "../../store/sqlite_record_store.ts";

/** Milliseconds between deletions of expired records. */
const PURGE_INTERVAL = 10 * 60 * 1000;

/** Stores beside the shares, created on first use. */
export class Records {
  #store: RecordStore | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param place `persistence.directory`, or the shared database; absent: nothing is stored. */
  constructor(readonly place: string | Database | undefined, readonly clock: Clock, readonly sink?: Sink) {}

  /** @throws {UnknownDatabase} And file system errors. */
  readonly open = (): RecordStore | undefined =>
    this.place === undefined ? undefined : this.#opened(this.place);

  /** Falls back to records in memory. @throws As {@link open}. */
  readonly openAnyway = (): RecordStore => this.open() ?? this.#opened();

  /** @param place Absent: in memory. */
  #opened(place?: string | Database): RecordStore {
    if (this.#store === undefined) {
      const file = place === undefined ? IN_MEMORY : `${place}/${RECORD_DATABASE}`;
      const store = typeof place === "object"
        ? new DatabaseRecordStore(place)
        : openRecordStore(file, this.clock, this.sink);
      this.#store = store;
      this.#timer = setInterval(() => void store.purge().catch(() => {}), PURGE_INTERVAL); // the next one tries again
    }
    return this.#store;
  }

  /** As {@link open} for read-only use: undefined if no database exists. */
  readonly openPresent = (): RecordStore | undefined => {
    if (this.place === undefined || this.#store !== undefined) return this.#store;
    if (typeof this.place === "object") return this.open();
    try {
      Deno.statSync(`${this.place}/${RECORD_DATABASE}`);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
    return this.open();
  };

  close(): void {
    clearInterval(this.#timer);
    this.#store?.close();
  }
}
