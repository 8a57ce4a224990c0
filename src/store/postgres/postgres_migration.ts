import { stopwatch } from "../../model/clock.ts";
import { DatabaseState } from "./database_state.ts";
import { POSTGRES_SCHEMA, type PostgresConnection } from "./postgres_connection.ts";
import type { PostgresOptions } from "./postgres_database.ts";
import { toFailure } from "./postgres_failure.ts";
import { migrate } from "./postgres_schema.ts";
import { PostgresServers } from "./postgres_servers.ts";
import { connectPlain } from "./connect_plain.ts";

/**
 * Migrates the tables to the newest version; grants access to a user without rights to the schema. Returns the versions
 * before and after. @param options.login Owner of the tables. @throws {DatabaseFailure} Without a change.
 */
export async function migrateDatabase(
  { servers, login, connect = connectPlain, timeoutMs }: PostgresOptions,
  user: string,
): Promise<{ readonly from: number; readonly to: number }> {
  const checkSchema = () => Promise.resolve(); // the tables are about to be created
  const state = new DatabaseState({ elapsed: stopwatch, toleranceMs: timeoutMs });
  const all = new PostgresServers({ servers, login, connect, checkSchema, timeoutMs, state });
  const connection = await all.open(AbortSignal.timeout(timeoutMs));
  try {
    const versions = await migrate(connection);
    if (user !== login.user) await permit(connection, user);
    return versions;
  } catch (error) {
    throw toFailure(error);
  } finally {
    connection.destroy();
  }
}

/** Grants the minimum at each migration, since tables may be new. `pg_dump` reads the sequences. */
async function permit(connection: PostgresConnection, user: string): Promise<void> {
  const name = `"${user.replaceAll('"', '""')}"`;
  await connection.run(
    `GRANT USAGE ON SCHEMA ${POSTGRES_SCHEMA} TO ${name};
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${POSTGRES_SCHEMA} TO ${name};
     GRANT SELECT ON ALL SEQUENCES IN SCHEMA ${POSTGRES_SCHEMA} TO ${name};
     REVOKE INSERT, UPDATE, DELETE ON ${POSTGRES_SCHEMA}.schema_version FROM ${name}`,
  );
}
