import type { Sink } from "../logging/sink.ts";
import type { Clock } from "../model/clock.ts";
import { DatabaseRecordStore } from "./database_record_store.ts";
import throttling from "./postgres/tables/throttling.sql" with { type: "text" };
import type { RecordStore } from "./record_store.ts";
import { type Schema, SqliteDatabase } from "./sqlite_database.ts";

/** Name of the database in `persistence.directory`. */
export const RECORD_DATABASE = "records.sqlite";

/** Schema of the records. */
export const RECORD_SCHEMA: Schema = {
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
  extra: throttling.replaceAll(/CREATE (?:UNLOGGED )?(TABLE|INDEX)/g, "CREATE $1 IF NOT EXISTS"),
};

/** Opens or creates the records in an SQLite file. @throws {UnknownDatabase} If the file is foreign or newer. */
export function openRecordStore(file: string, clock: Clock, sink?: Sink): RecordStore {
  return new DatabaseRecordStore(new SqliteDatabase(file, RECORD_SCHEMA, clock, sink));
}
