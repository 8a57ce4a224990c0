import type { Clock } from "../model/clock.ts";
import { DatabaseRecordStore } from "./database_record_store.ts";
import type { RecordStore } from "./record_store.ts";
import { type Schema, SqliteDatabase } from "./sqlite_database.ts";

/** Name of the database in `persistence.directory`. */
export const RECORD_DATABASE = "records.sqlite";

/** The table of records. */
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
};

/**
 * Opens the records in an SQLite file, which is made if it is not there.
 * @throws {UnknownDatabase} If the file is not ours, or newer than this service.
 */
export function openRecordStore(file: string, clock: Clock): RecordStore {
  return new DatabaseRecordStore(new SqliteDatabase(file, RECORD_SCHEMA, clock));
}
