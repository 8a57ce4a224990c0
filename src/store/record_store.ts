/** Small record with an expiry, such as an uploaded certificate or a revoked token. */
export interface StoredRecord {
  readonly key: string; // unique within the kind
  readonly owner: string; // canonical DN
  readonly made: number; // creation time in seconds since the epoch
  readonly ends: number; // first second after the expiry, since the epoch
  readonly content: unknown;
}

/** Store of records; changes are on disk when they resolve, expired ones invisible. @throws {ERR_RECORD_STORE} */
export interface RecordStore {
  /** Number that changes after any change here, by another process or instance; cheap enough for each request. */
  version(): number;
  /** Inserts or replaces a record. If its owner has more than `most`, deletes those that expire first. */
  put(kind: string, record: StoredRecord, most: number): Promise<void>;
  /** Stores the greater `made` with its content, and the later expiry, in one statement. Returns the stored record. */
  raise(kind: string, record: StoredRecord): Promise<StoredRecord>;
  get(kind: string, key: string): Promise<StoredRecord | undefined>;
  /** Records of one owner or all, oldest first. */
  list(kind: string, owner?: string): Promise<readonly StoredRecord[]>;
  remove(kind: string, key: string): Promise<boolean>;
  /** Removes the records of an owner. @param before Only those made earlier, in seconds since the epoch. */
  removeOf(kind: string, owner: string, before?: number): Promise<number>;
  purge(): Promise<number>; // deletes expired records; returns their number
  close(): void;
}
