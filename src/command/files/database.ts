import type { DatabaseConfig } from "../../config/service_config.ts";
import { ifExists } from "../../model/regular_file.ts";
import { type Copied, type CopiedTable, copyRows, insertRows } from "../../store/copy_rows.ts";
import { type Database, DatabaseFailure, rows } from "../../store/database.ts";
import { migrateDatabase } from "../../store/postgres/postgres_migration.ts";
import { isSqliteError, type Schema, SqliteDatabase } from "../../store/sqlite_database.ts";
import { RECORD_DATABASE, RECORD_SCHEMA } from "../../store/sqlite_record_store.ts";
import { SHARE_DATABASE, SHARE_SCHEMA } from "../../sharing/store/schema.ts";
import {
  CommandFailed,
  type CommandIo,
  defineCommand,
  defineCommands,
  type Given,
  readSecret,
  STDIN,
  WrongUsage,
} from "../command.ts";
import { usableConfiguration } from "../config_option.ts";
import { openSharedDatabase, optionsOf } from "./share_database.ts";

const migrate = defineCommand({
  name: "database migrate",
  summary:
    "Create or migrate the PostgreSQL tables for this version; services of the previous version keep running",
  details: [
    "Creates the tables of a new database in the schema authserver. The migration is one transaction and runs once, however often you start it. The configured database user may use the tables but not alter them.",
  ],
  operands: {},
  options: {
    user: { value: "NAME", help: "Database user that owns the tables. If not given, the configured user" },
    stdin: STDIN,
  },
}, async (given, io) => {
  const { config, database } = await chosen(given);
  const options = await optionsOf(config, database);
  const login = await loginOf(given, io, options.login);
  const { from, to } = await migrateDatabase({ ...options, login }, database.user);
  const text = from === to
    ? `The tables already have version ${to}\n`
    : `Migrated the tables from version ${from} to ${to}\n`;
  return { value: { from, to }, text };
});

const importAll = defineCommand({
  name: "database import",
  summary: "Copy shares, tokens, certificates and bans from files into PostgreSQL",
  details: [
    "Stop the service that uses the folder first; later changes are not copied. Existing rows stay unchanged, so you can repeat an interrupted import. The command does not change the files.",
  ],
  operands: {},
  options: {
    directory: { value: "FOLDER", help: "Folder to copy from. If not given, persistence.directory" },
  },
}, async (given, io) => {
  const { file, config, database } = await chosen(given);
  const directory = given.text("directory") ?? config.sharing.directory;
  if (directory === undefined) {
    throw new CommandFailed(`${file} has no persistence.directory, expected --directory FOLDER`);
  }
  if (await ifExists(Deno.stat(directory)) === undefined) {
    throw new CommandFailed(`There is no folder ${directory}`);
  }
  using to = await openSharedDatabase(config, database);
  await to.read(() => rows("SELECT 1", {})); // fails early if the target does not answer
  io.stderr(`Copying ${directory}, which may take minutes\n`);
  const value = await copyAll(directory, to);
  const [shares, records, bans] = [value.shares, value.records, value.bans].map(countsText);
  return { value, text: `Shares: ${shares}\nTokens and others: ${records}\nBans: ${bans}\n` };
});

/** Command `authserver database …`: manages the shared database. */
export const database = defineCommands({
  name: "database",
  summary: "Create or migrate the PostgreSQL tables, or copy the files of a single service into them",
  commands: [migrate, importAll],
});

/** @throws {CommandFailed} Without PostgreSQL in the configuration. */
async function chosen(given: Pick<Given<"config", never>, "text">) {
  const { file, config } = await usableConfiguration(given);
  const { database } = config.sharing;
  if (database === undefined) {
    throw new CommandFailed(`${file} chooses no PostgreSQL: expected persistence.class=PGSQLPersist`);
  }
  return { file, config, database };
}

async function loginOf(
  given: Given<"user" | "stdin", never>,
  io: CommandIo,
  configured: Pick<DatabaseConfig, "database" | "user" | "password">,
) {
  const user = given.text("user");
  if (user === undefined) {
    if (given.flag("stdin")) throw new WrongUsage("Expected --user NAME with --stdin");
    return configured;
  }
  return { ...configured, user, password: await readSecret(given, io, `Password of ${user}: `) };
}

/** Plans for checking foreign keys, if made for a nearly empty table, scan all of it once it has grown. */
const FORGET_PLANS = "DISCARD PLANS";

/** Notifications without their numbers, since the target database assigns new ones. */
const WAITING =
  `SELECT message, destination, stream, content, made, due, attempts, held_until FROM notification
  ORDER BY number`;

async function copyAll(directory: string, to: Database) {
  const shareTable = { name: "share", key: ["server", "id"], details: "share_use" } as const;
  const records = { name: "record", key: ["kind", "key"] } as const;
  const copy = (from: Database, table: CopiedTable) => copyRows(from, to, table, FORGET_PLANS);
  const few = async (from: Database, table: string, key: string, selection = `SELECT * FROM ${table}`) => {
    const found = await from.read(() => rows(selection, {}));
    const { length: added } = await to.change(() => insertRows(table, found, key));
    return { added, present: found.length - added };
  };
  const shares = async (from: Database) => {
    const result = await copy(from, shareTable);
    await few(from, "share_upload", "key"); // at most a day old
    await few(from, "notification", "message", WAITING);
    await few(from, "notified_state", "subject");
    return result;
  };
  await to.change(() => rows("DELETE FROM operator_ban WHERE ends <= :clock", {})); // the source may have newer bans
  const bans = (from: Database) =>
    few(from, "operator_ban", "who_user", "SELECT * FROM operator_ban WHERE ends > :clock");
  return {
    shares: await copied(directory, SHARE_DATABASE, SHARE_SCHEMA, shares),
    records: await copied(directory, RECORD_DATABASE, RECORD_SCHEMA, (from) => copy(from, records)),
    bans: await copied(directory, RECORD_DATABASE, RECORD_SCHEMA, bans),
  };
}

async function copied(
  directory: string,
  name: string,
  schema: Schema,
  copy: (from: Database) => Promise<Copied>,
): Promise<Copied> {
  const file = `${directory}/${name}`;
  if (await ifExists(Deno.stat(file)) === undefined) return { added: 0, present: 0 };
  const from = new SqliteDatabase(file, schema, Date.now);
  try {
    return await copy(from);
  } catch (error) {
    if (!(error instanceof DatabaseFailure && isSqliteError(error.cause))) throw error;
    throw new CommandFailed(`${file}: ${error.message}`, { cause: error });
  } finally {
    from.close();
  }
}

function countsText({ added, present }: Copied): string {
  return `${added} copied, ${present} existed already`;
}
