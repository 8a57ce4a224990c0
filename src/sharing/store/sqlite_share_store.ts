import type { Sink } from "../../logging/sink.ts";
import type { Clock } from "../../model/clock.ts";
import type { Recorder } from "../../notify/recorder.ts";
import { SqliteDatabase } from "../../store/sqlite_database.ts";
import { DatabaseShareStore } from "./database_share_store.ts";
import { SHARE_SCHEMA } from "./schema.ts";

/** Opens or creates the share store in an SQLite file. @throws {UnknownDatabase} If the file is not ours, or newer than this service. */
export function openShareStore(
  file: string,
  clock: Clock,
  { sink, recorder }: { readonly sink?: Sink; readonly recorder?: Recorder | undefined } = {},
): DatabaseShareStore {
  return new DatabaseShareStore(new SqliteDatabase(file, SHARE_SCHEMA, clock, sink), recorder);
}
