/** Something small that is kept until it ends, such as an uploaded certificate or a token that was taken back. */
export interface KeptRecord {
  /** Unique among the records of its kind. */
  readonly key: string;
  /** Whose it is, in a form in which names can be compared. */
  readonly owner: string;
  /** When it was made, in seconds since the epoch. */
  readonly made: number;
  /** First second at which it is gone, since the epoch. */
  readonly ends: number;
  /** What else there is to know, as JSON. */
  readonly content: unknown;
}

/**
 * Records of all kinds, each kind by a name of its own. Every change is one transaction and is on disk when its promise
 * resolves. Records that have ended are invisible.
 * @throws {ERR_RECORD_STORE} Each method, if the store cannot do it.
 */
export interface RecordStore {
  /**
   * A number that differs from what it was whenever something may have changed, here, by another process or on another
   * instance: what was read before is to be read anew. Cheap enough for each request.
   */
  version(): number;
  /** Keeps a record, in place of that with the same key. If its owner has more than `most`, those go that end first. */
  put(kind: string, record: KeptRecord, most: number): Promise<void>;
  /**
   * Keeps a record whose `made` is a bound that may only grow: of the record kept and this one, the greater `made` counts,
   * with its content, and the later end. Decided in the statement itself.
   * @returns What is kept now.
   */
  raise(kind: string, record: KeptRecord): Promise<KeptRecord>;
  get(kind: string, key: string): Promise<KeptRecord | undefined>;
  /** Those of an owner, or of all; oldest first. */
  list(kind: string, owner?: string): Promise<readonly KeptRecord[]>;
  /** Whether there was one. */
  remove(kind: string, key: string): Promise<boolean>;
  /** How many there were. */
  removeOf(kind: string, owner: string): Promise<number>;
  /** Deletes what has ended; how many. */
  purge(): Promise<number>;
  close(): void;
}
