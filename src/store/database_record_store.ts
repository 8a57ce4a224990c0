import { httpError } from "../model/http_error.ts";
import {
  BATCH,
  type Database,
  DatabaseFailure,
  deleteInBatches,
  type Row,
  row,
  rows,
  type SqlSteps,
} from "./database.ts";
import type { RecordStore, StoredRecord } from "./record_store.ts";

const TABLE = "record";

const SQL = {
  put: `INSERT INTO record (kind, key, owner, made, ends, content)
        VALUES (:kind, :key, :owner, :made, :ends, :content)
        ON CONFLICT (kind, key) DO UPDATE
        SET owner = excluded.owner, made = excluded.made, ends = excluded.ends, content = excluded.content`,
  raise: `INSERT INTO record (kind, key, owner, made, ends, content)
          VALUES (:kind, :key, :owner, :made, :ends, :content)
          ON CONFLICT (kind, key) DO UPDATE SET
            content = CASE WHEN excluded.made > record.made THEN excluded.content ELSE record.content END,
            made = CASE WHEN excluded.made > record.made THEN excluded.made ELSE record.made END,
            ends = CASE WHEN excluded.ends > record.ends THEN excluded.ends ELSE record.ends END
          RETURNING *`,
  trim: `DELETE FROM record WHERE kind = :kind AND owner = :owner AND key IN (
           SELECT key FROM record WHERE kind = :kind AND owner = :owner AND key <> :key
           ORDER BY ends DESC, made DESC, key LIMIT 1000000000 OFFSET :others)`,
  get: `SELECT * FROM record WHERE kind = :kind AND key = :key AND ends > :now`,
  all: `SELECT * FROM record WHERE kind = :kind AND ends > :now ORDER BY made, key`,
  owned: `SELECT * FROM record WHERE kind = :kind AND owner = :owner AND ends > :now ORDER BY made, key`,
  remove: `DELETE FROM record WHERE kind = :kind AND key = :key AND ends > :now RETURNING key`,
  removeOf:
    `DELETE FROM record WHERE kind = :kind AND owner = :owner AND made < :before AND ends > :now RETURNING key`,
  purge: `DELETE FROM record WHERE ends <= :now AND (kind, key) IN (
            SELECT kind, key FROM record WHERE ends <= :now ORDER BY ends LIMIT ${BATCH}) RETURNING key`,
} as const;

/** Records in a database table. */
export class DatabaseRecordStore implements RecordStore {
  #changes = 0; // own changes, which the database's version does not include

  constructor(readonly database: Database) {}

  version(): number {
    return this.database.version(TABLE) + this.#changes;
  }

  put(kind: string, { key, owner, made, ends, content }: StoredRecord, most: number): Promise<void> {
    return this.#change(function* () {
      yield* rows(SQL.put, { kind, key, owner, made, ends, content: JSON.stringify(content) });
      yield* rows(SQL.trim, { kind, key, owner, others: most - 1 });
    }, `records of ${owner}`);
  }

  raise(kind: string, record: StoredRecord): Promise<StoredRecord> {
    return this.#change(function* () {
      const kept = yield* row(SQL.raise, { kind, ...record, content: JSON.stringify(record.content) });
      return kept === undefined ? record : recordOf(kept);
    }, `records of ${record.owner}`);
  }

  get(kind: string, key: string): Promise<StoredRecord | undefined> {
    return this.#read(function* () {
      const found = yield* row(SQL.get, { kind, key });
      return found && recordOf(found);
    });
  }

  list(kind: string, owner?: string): Promise<readonly StoredRecord[]> {
    return this.#read(function* () {
      const found = owner === undefined
        ? yield* rows(SQL.all, { kind })
        : yield* rows(SQL.owned, { kind, owner });
      return found.map(recordOf);
    });
  }

  remove(kind: string, key: string): Promise<boolean> {
    return this.#change(function* () {
      return (yield* rows(SQL.remove, { kind, key })).length > 0;
    });
  }

  removeOf(kind: string, owner: string, before = Number.MAX_SAFE_INTEGER): Promise<number> {
    return this.#change(function* () {
      return (yield* rows(SQL.removeOf, { kind, owner, before })).length;
    });
  }

  purge(): Promise<number> {
    return this.#counted(deleteInBatches(this.database, SQL.purge));
  }

  close(): void {
    this.database.close();
  }

  #change<T>(work: () => SqlSteps<T>, lock?: string): Promise<T> {
    return this.#counted(this.database.change(work, { lock }));
  }

  /** Counts a change, also if its outcome is unknown. */
  #counted<T>(change: Promise<T>): Promise<T> {
    return change.catch(rethrow).finally(() => this.#changes++);
  }

  #read<T>(work: () => SqlSteps<T>): Promise<T> {
    return this.database.read(work).catch(rethrow);
  }
}

function rethrow(error: unknown): never {
  throw error instanceof DatabaseFailure ? httpError("ERR_RECORD_STORE", error.message, error) : error;
}

/** Returns the record in a row. */
export function recordOf(row: Row): StoredRecord {
  return {
    key: String(row["key"]),
    owner: String(row["owner"]),
    made: Number(row["made"]),
    ends: Number(row["ends"]),
    content: JSON.parse(String(row["content"])),
  };
}
