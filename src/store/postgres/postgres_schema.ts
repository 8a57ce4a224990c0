import { DatabaseFailure, type Row } from "../database.ts";
import { POSTGRES_SCHEMA, type PostgresConnection } from "./postgres_connection.ts";
import { PostgresError } from "./postgres_failure.ts";
import { SHARED_SESSIONS } from "./postgres_watch.ts";
import banNotification from "./tables/ban_notification.sql" with { type: "text" };
import changeNotification from "./tables/change_notification.sql" with { type: "text" };
import instance from "./tables/instance.sql" with { type: "text" };
import knownLoginWritten from "./tables/known_login_written.sql" with { type: "text" };
import notification from "./tables/notification.sql" with { type: "text" };
import reservation from "./tables/reservation.sql" with { type: "text" };
import shareAndRecord from "./tables/share_and_record.sql" with { type: "text" };
import shareAccessAndRevocation from "./tables/share_access_and_revocation.sql" with { type: "text" };
import shareUpload from "./tables/share_upload.sql" with { type: "text" };
import sharedMark from "./tables/shared_mark.sql" with { type: "text" };
import throttling from "./tables/throttling.sql" with { type: "text" };

interface Step {
  readonly sql: string;
  /**
   * Oldest schema version whose services still work after this step, at most one back: older services would ignore new
   * rules, such as bans. Removals come one version after the last use.
   */
  readonly worksWith: number;
}

/** Migrations; the version of a database is the number of steps taken. */
const STEPS: readonly Step[] = [{
  worksWith: 1,
  sql: shareAndRecord,
}, {
  worksWith: 1,
  sql: throttling + instance + banNotification,
}, {
  worksWith: 1,
  sql: reservation,
}, {
  worksWith: 3,
  sql: knownLoginWritten + shareUpload + changeNotification,
}, {
  worksWith: 4,
  sql: shareAccessAndRevocation + sharedMark,
}, {
  worksWith: 5,
  sql: `ALTER TABLE share ADD COLUMN mail text; ${notification}`,
}, {
  worksWith: 6,
  sql: "ALTER TABLE share ADD COLUMN target_name text;",
}, {
  worksWith: 7,
  sql: "ALTER TABLE share ADD COLUMN owner_name text;",
}];

/** Schema version that this service cannot use. */
export class SchemaMismatch extends DatabaseFailure {}

/** @throws {SchemaMismatch} If tables do not fit. @throws {DatabaseFailure} If the session is not ours alone. */
export async function checkSchema(connection: PostgresConnection): Promise<void> {
  const { version, worksWith, path } = await schemaOf(connection);
  if (version > 0 && !path.startsWith(POSTGRES_SCHEMA)) throw new DatabaseFailure(SHARED_SESSIONS);
  const known = STEPS.length;
  if (version < known) {
    throw new SchemaMismatch(
      version === 0
        ? "the database has no tables yet: run `authserver database migrate`"
        : `the tables of the database have version ${version}, this service needs ${known}: run \`authserver database migrate\``,
    );
  }
  if (worksWith > known) {
    throw new SchemaMismatch(
      `the tables of the database have version ${version}, this service knows them up to ${known}: it is too old for them`,
    );
  }
}

/** Takes the missing steps in one exclusive transaction. Returns the versions before and after. */
export async function migrate(connection: PostgresConnection): Promise<{ from: number; to: number }> {
  // A step may take long, but must not wait long for a lock, since later statements would wait behind it.
  await connection.run("BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '10s'");
  await connection.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", ["authserver tables"]);
  await connection.run(
    `CREATE SCHEMA IF NOT EXISTS ${POSTGRES_SCHEMA};
     CREATE TABLE IF NOT EXISTS ${POSTGRES_SCHEMA}.schema_version (version integer NOT NULL, works_with integer NOT NULL)`,
  );
  const { version, worksWith } = await schemaOf(connection);
  if (worksWith > STEPS.length) throw new SchemaMismatch(`the tables have version ${version} already`);
  const steps = STEPS.slice(version);
  for (const { sql } of steps) await connection.run(sql);
  const last = steps.at(-1);
  if (last !== undefined) {
    await connection.run(
      `DELETE FROM schema_version;
       INSERT INTO schema_version VALUES (${STEPS.length}, ${last.worksWith})`,
    );
  }
  await connection.run("COMMIT");
  return { from: version, to: Math.max(version, STEPS.length) };
}

/** Returns the number of steps taken, and `worksWith` of the last, 0 without tables; and the search path. */
async function schemaOf(connection: PostgresConnection) {
  let row: Row | undefined;
  try {
    [row] = await connection.run(
      `SELECT version, works_with, current_setting('search_path') AS path
       FROM ${POSTGRES_SCHEMA}.schema_version`,
    );
  } catch (error) {
    if (!(error instanceof PostgresError && /^(?:42P01|3F000)$/.test(error.code))) throw error;
  }
  const { version = 0, works_with: worksWith = 0, path = "" } = row ?? {};
  return { version: Number(version), worksWith: Number(worksWith), path: String(path) };
}
