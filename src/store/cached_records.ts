import type { Logger } from "../logging/logger.ts";
import type { Schedule, Stopwatch } from "../model/clock.ts";
import { Poller } from "./poller.ts";
import type { RecordStore, StoredRecord } from "./record_store.ts";

const POLL_MS = 1000; // interval of checks for changes without notification, in milliseconds

/** Interval of complete reads, which drop records that others deleted, in milliseconds. */
const COMPLETE_MS = 3600_000;

export interface ReadRecords {
  readonly records: readonly { readonly kind: string; readonly record: StoredRecord }[];
  readonly until: number; // where the next read begins
  readonly isComplete: boolean; // whether these are all, or those that changed
}

interface CachedRecordsParts {
  readonly kinds: readonly string[];
  readonly version: () => number; // changes after any change to these kinds; see `isReachable`
  /** Number that changes whenever the database may be another one, or may have lost changes. */
  readonly session: () => number;
  /** Reads records that changed since the `until` of an earlier read, or all. @throws {DatabaseFailure} */
  readonly read: (since?: number) => Promise<ReadRecords>;
  readonly onChange?: (listener: () => void) => void; // calls a listener after changes of the version
  readonly isReachable: () => boolean; // whether the store works and notifies of changes
  readonly elapsed: Stopwatch;
  readonly log: Logger;
  readonly schedule?: Schedule;
}

/** Shared record store with copies of some kinds for outages. If two records have the same key, the later one applies. */
export class CachedRecords extends Poller implements RecordStore {
  readonly #store: RecordStore;
  readonly #parts: CachedRecordsParts;
  #records: ReadonlyMap<string, RecordIndex> | undefined; // by kind; absent before the first read
  #freshPuts: { readonly kind: string; readonly record: StoredRecord }[] = []; // records put during a read
  #version: number | undefined;
  #last: { readonly until: number; readonly session: number; readonly completeAt: number } | undefined;
  #currentAt = -Infinity;
  #loads = 0;
  constructor(store: RecordStore, parts: CachedRecordsParts) {
    const { log, schedule, onChange } = parts;
    super({
      poll: () => this.#poll(),
      intervalMs: POLL_MS,
      failureMessage: "records are not followed",
      log,
      schedule,
      onChange,
    });
    this.#store = store;
    this.#parts = parts;
  }

  /** Milliseconds since the copy may be stale; 0 if current. */
  get staleMs(): number {
    const { elapsed } = this.#parts;
    return this.#isCurrent() ? 0 : Math.max(1, elapsed() - this.#currentAt);
  }

  version(): number {
    return this.#store.version() + this.#loads;
  }

  async put(kind: string, record: StoredRecord, most: number): Promise<void> {
    await this.#store.put(kind, record, most);
    this.#cache(kind, record);
  }

  async raise(kind: string, record: StoredRecord): Promise<StoredRecord> {
    const kept = await this.#store.raise(kind, record);
    this.#cache(kind, kept);
    return kept;
  }

  get(kind: string, key: string): Promise<StoredRecord | undefined> {
    const known = this.#records?.get(kind);
    return known === undefined ? this.#store.get(kind, key) : Promise.resolve(known.byKey.get(key));
  }

  list(kind: string, owner?: string): Promise<readonly StoredRecord[]> {
    const known = this.#records?.get(kind);
    if (known === undefined) return this.#store.list(kind, owner);
    const found = owner === undefined ? known.byKey : known.byOwner.get(owner);
    return Promise.resolve([...found?.values() ?? []]);
  }

  async remove(kind: string, key: string): Promise<boolean> {
    const removed = await this.#store.remove(kind, key);
    this.#records?.get(kind)?.delete(key);
    this.#loads++;
    return removed;
  }

  async removeOf(kind: string, owner: string, before = Infinity): Promise<number> {
    const removed = await this.#store.removeOf(kind, owner, before === Infinity ? undefined : before);
    const known = this.#records?.get(kind);
    for (const { key, made } of [...known?.byOwner.get(owner)?.values() ?? []]) {
      if (made < before) known?.delete(key);
    }
    this.#loads++;
    return removed;
  }

  purge(): Promise<number> {
    return this.#store.purge();
  }

  override close(): void {
    super.close();
    this.#store.close();
  }

  async #poll(): Promise<void> {
    if (!this.#isCurrent()) await this.#load();
    if (this.#isCurrent()) this.#currentAt = this.#parts.elapsed();
  }

  #isCurrent(): boolean {
    const { version, isReachable } = this.#parts;
    return this.#records !== undefined && isReachable() && version() === this.#version;
  }

  async #load(): Promise<void> {
    const { kinds, version, session, read, elapsed } = this.#parts;
    const [asOf, inSession, now, last] = [version(), session(), elapsed(), this.#last];
    const isIncremental = last?.session === inSession && now - last.completeAt < COMPLETE_MS;
    this.#freshPuts = [];
    const { records, until, isComplete } = await read(isIncremental ? last.until : undefined);
    if (isComplete) this.#records = new Map(kinds.map((kind) => [kind, new RecordIndex()]));
    for (const { kind, record } of [...records, ...this.#freshPuts]) this.#records?.get(kind)?.set(record);
    this.#freshPuts = [];
    this.#last = {
      until,
      session: inSession,
      completeAt: isComplete || last === undefined ? now : last.completeAt,
    };
    this.#version = asOf;
    this.#loads++;
  }

  #cache(kind: string, record: StoredRecord): void {
    if (!this.#parts.kinds.includes(kind)) return;
    this.#freshPuts.push({ kind, record });
    this.#records?.get(kind)?.set(record);
    this.#loads++;
  }
}

class RecordIndex {
  readonly byKey = new Map<string, StoredRecord>();
  readonly byOwner = new Map<string, Map<string, StoredRecord>>();

  /** Adds a record unless a later one is known. */
  set(record: StoredRecord): void {
    if ((this.byKey.get(record.key)?.made ?? -Infinity) > record.made) return;
    this.delete(record.key);
    this.byKey.set(record.key, record);
    this.byOwner.getOrInsertComputed(record.owner, () => new Map()).set(record.key, record);
  }

  delete(key: string): void {
    const record = this.byKey.get(key);
    if (record === undefined) return;
    this.byKey.delete(key);
    const owned = this.byOwner.get(record.owner);
    owned?.delete(key);
    if (owned?.size === 0) this.byOwner.delete(record.owner);
  }
}
