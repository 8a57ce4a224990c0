import type { Clock } from "../model/clock.ts";
import { refuse } from "../model/service_error.ts";
import type { KeptRecord, RecordStore } from "./record_store.ts";
import { isOfDatabase, type Row, type Schema, SqliteDatabase } from "./sqlite_database.ts";

const SCHEMA: Schema = {
  what: "record database",
  applicationId: 0x41755265, // "AuRe"
  steps: [
    `CREATE TABLE record (
       kind TEXT NOT NULL,
       key TEXT NOT NULL,
       owner TEXT NOT NULL,
       made INTEGER NOT NULL,
       ends INTEGER NOT NULL,
       content TEXT NOT NULL,
       PRIMARY KEY (kind, key)
     ) STRICT, WITHOUT ROWID;
     CREATE INDEX record_by_owner ON record (kind, owner, ends);
     CREATE INDEX record_by_end ON record (ends);`,
  ],
};

/** `:now` is in seconds. */
const SQL = {
  put: `INSERT INTO record (kind, key, owner, made, ends, content)
        VALUES (:kind, :key, :owner, :made, :ends, :content)
        ON CONFLICT (kind, key) DO UPDATE
        SET owner = excluded.owner, made = excluded.made, ends = excluded.ends, content = excluded.content`,
  trim: `DELETE FROM record WHERE kind = :kind AND key IN (
           SELECT key FROM record WHERE kind = :kind AND owner = :owner AND key <> :key
           ORDER BY ends DESC, made DESC, key LIMIT -1 OFFSET :others)`,
  get: `SELECT * FROM record WHERE kind = :kind AND key = :key AND ends > :now`,
  all: `SELECT * FROM record WHERE kind = :kind AND ends > :now ORDER BY made, key`,
  owned: `SELECT * FROM record WHERE kind = :kind AND owner = :owner AND ends > :now ORDER BY made, key`,
  remove: `DELETE FROM record WHERE kind = :kind AND key = :key AND ends > :now`,
  removeOf: `DELETE FROM record WHERE kind = :kind AND owner = :owner AND ends > :now`,
  purge: `DELETE FROM record WHERE ends <= :now`,
  version: `PRAGMA data_version`,
} as const;

/**
 * Opens the records in an SQLite file, which is made if it is not there.
 * @throws {UnknownDatabase} If the file is not ours, or newer than this service.
 */
export function openRecordStore(file: string, clock: Clock): RecordStore {
  return new SqliteRecordStore(new SqliteDatabase(file, SCHEMA), clock);
}

class SqliteRecordStore implements RecordStore {
  /** Counts our own changes, which SQLite's number leaves out. */
  #changes = 0;

  constructor(readonly database: SqliteDatabase, readonly clock: Clock) {}

  version(): number {
    return Number(this.database.row(SQL.version, {})?.["data_version"]) + this.#changes;
  }

  put(kind: string, { key, owner, made, ends, content }: KeptRecord, most: number): Promise<void> {
    return this.#change(() => {
      this.database.run(SQL.put, { kind, key, owner, made, ends, content: JSON.stringify(content) });
      this.database.run(SQL.trim, { kind, key, owner, others: most - 1 });
    });
  }

  get(kind: string, key: string): Promise<KeptRecord | undefined> {
    return this.#read(() => {
      const row = this.database.row(SQL.get, { kind, key, now: this.#now() });
      return row && toRecord(row);
    });
  }

  list(kind: string, owner?: string): Promise<readonly KeptRecord[]> {
    const now = this.#now();
    return this.#read(() =>
      (owner === undefined
        ? this.database.rows(SQL.all, { kind, now })
        : this.database.rows(SQL.owned, { kind, owner, now })).map(toRecord)
    );
  }

  remove(kind: string, key: string): Promise<boolean> {
    return this.#change(() => this.database.run(SQL.remove, { kind, key, now: this.#now() }) > 0);
  }

  removeOf(kind: string, owner: string): Promise<number> {
    return this.#change(() => this.database.run(SQL.removeOf, { kind, owner, now: this.#now() }));
  }

  purge(): Promise<number> {
    return this.#change(() => this.database.run(SQL.purge, { now: this.#now() }));
  }

  close(): void {
    this.database.close();
  }

  #now(): number {
    return Math.floor(this.clock() / 1000);
  }

  #change<T>(action: () => T): Promise<T> {
    return this.#read(() => {
      const result = this.database.change(action);
      this.#changes++;
      return result;
    });
  }

  #read<T>(action: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      try {
        resolve(action());
      } catch (error) {
        reject(isOfDatabase(error) ? refuse("ERR_RECORD_STORE", error.message, error) : error);
      }
    });
  }
}

function toRecord(row: Row): KeptRecord {
  return {
    key: String(row["key"]),
    owner: String(row["owner"]),
    made: Number(row["made"]),
    ends: Number(row["ends"]),
    content: JSON.parse(String(row["content"])),
  };
}
