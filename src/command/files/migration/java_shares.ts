import { join, resolve } from "node:path";
import { formatDiagnostic, isError, OperatorError } from "../../../model/diagnostic.ts";
import { readText } from "../../../model/edit_file.ts";
import { exists } from "../../../model/regular_file.ts";
import type { Imported } from "../../../sharing/administration.ts";
import { readShareRecords } from "../../../sharing/import/share_dump.ts";
import type { DatabaseConfig, ServiceConfig } from "../../../config/service_config.ts";
import { type Database, DatabaseFailure, rows } from "../../../store/database.ts";
import { migrateDatabase } from "../../../store/postgres/postgres_migration.ts";
import type { Properties } from "../../../config/properties.ts";
import { CommandFailed, MAIN_FILE } from "../../command.ts";
import { usableConfiguration } from "../../config_option.ts";
import { openSharedDatabase, optionsOf, withShareDatabase } from "../share_database.ts";
import type { JavaInstallation } from "./java_installation.ts";

export interface ImportedShares {
  readonly from: string; // table with its location
  readonly imported?: Imported;
  readonly left: readonly string[]; // reasons and commands for the operator, as lines
}

interface ShareTable {
  readonly name: string;
  readonly kind: "H2" | "MySQL" | "PostgreSQL";
  readonly setting: (name: string) => string | undefined; // returns a setting of the storage
}

/**
 * Imports the shares of a stopped Java service into the installation in the working directory. For a database that is
 * unreadable from here, imports a dump in that directory, or names the command that writes it.
 * @param again Command that continues afterwards. @returns Undefined without shares.
 */
export async function importJavaShares(
  installation: JavaInstallation,
  again: string,
): Promise<ImportedShares | undefined> {
  const table = tableOf(installation.properties);
  if (table === undefined) {
    const errors = installation.diagnostics.filter(isError).map(formatDiagnostic);
    if (errors.length === 0) return undefined;
    return { from: "an unknown table", left: [...errors, "correct this, then run:", again] };
  }
  const database = table.setting("database") ?? table.name;
  const from = `${table.name} in ${table.kind}`;
  const pid = await pidFile(installation);
  if (pid !== undefined) {
    const stop = `not imported: the old service seems to run. Stop it, which removes ${pid}, then run:`;
    return { from, left: [stop, again] };
  }
  try {
    if (table.kind === "PostgreSQL") {
      return { from, imported: await importFromPostgres(table.name), left: [] };
    }
    const path = resolve(installation.root, table.setting("directory") ?? ".", database);
    const changed = await changedAt(`${path}.mv.db`);
    let old = "";
    for (const dump of [`${table.name}.csv`, `${table.name}.sql`]) {
      const rows = await readText(dump);
      if (rows === undefined) continue;
      if ((changed ?? 0) <= (await changedAt(dump) ?? 0) + CLOSING_MS) {
        return { from, imported: await importDump(rows, dump), left: [] };
      }
      old = `, as ${dump} is older than ${path}.mv.db`;
    }
    const command = table.kind === "H2" ? dumpOfH2(installation, table, path) : dumpOfMysql(table, database);
    const state = table.kind === "MySQL" || await exists(`${path}.mv.db`)
      ? `not imported yet${old}; these commands`
      : `there is no ${path}.mv.db; if there are shares, correct the path in these commands, which`;
    return { from, left: [`${state} export and import them:`, command, again] };
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return { from, left: ["not imported:", ...error.message.split("\n"), "correct this, then run:", again] };
  }
}

/** Milliseconds in which H2 may write to its database after a dump, when it closes it. */
const CLOSING_MS = 60_000;

async function changedAt(file: string): Promise<number | undefined> {
  const found = await Deno.stat(file).catch(() => undefined); // the database may be another account's
  return found?.mtime?.getTime();
}

/** Returns the share table; the Java service creates its only table for the first server. */
function tableOf({ entries }: Properties): ShareTable | undefined {
  const value = (key: string) => entries.get(key)?.value.trim();
  const [first] = value("share.servers")?.split(/[\s,|]+/).filter((name) => name !== "") ?? [];
  if (first === undefined || !/^[\p{L}\p{N}_]+$/u.test(first)) return undefined;
  const name = `SHARES_${first}`;
  const setting = (key: string) => value(`persistence.${key}.${name}`) ?? value(`persistence.${key}`);
  const kind = setting("class") ?? "";
  if (kind.endsWith("InMemory")) return undefined;
  return {
    name,
    kind: kind.endsWith("PGSQLPersist") ? "PostgreSQL" : kind.endsWith("MySQLPersist") ? "MySQL" : "H2",
    setting,
  };
}

/** Returns the PID file of the Java service, which exists while it runs. */
async function pidFile(installation: JavaInstallation): Promise<string | undefined> {
  const startup = await readText(join(installation.conf, "startup.properties")) ?? "";
  const named = /^[ \t]*PID=["']?([^"'\s]+)/m.exec(startup)?.[1];
  const path = named === undefined ? undefined : resolve(installation.root, named);
  return path !== undefined && await exists(path) ? path : undefined;
}

/** Returns the command that dumps an H2 database with the installation's driver. The Java service opens H2 as `sa` only. */
function dumpOfH2({ libraries }: JavaInstallation, { name, setting }: ShareTable, path: string): string {
  const options = setting("h2.options");
  const url = `jdbc:h2:file:${path};IFEXISTS=TRUE${options === undefined ? "" : `;${options}`}`;
  const dump = join(Deno.cwd(), `${name}.csv`).replaceAll("'", "''");
  const sql = `CALL CSVWRITE('${dump}', 'SELECT * FROM ${name}', 'charset=UTF-8')`;
  const shell = `java -cp ${quoted(`${libraries}/*`)} org.h2.tools.Shell`;
  return `${shell} -url ${quoted(url)} -user sa -sql ${quoted(sql)}`;
}

function dumpOfMysql({ name, setting }: ShareTable, database: string): string {
  const at = `-h ${quoted(setting("host") ?? "localhost")} -P ${quoted(setting("port") ?? "3306")}`;
  return `mysqldump ${at} -u ${quoted(setting("user") ?? "sa")} -p --default-character-set=utf8mb4 ` +
    `--result-file=${quoted(join(Deno.cwd(), `${name}.sql`))} ${quoted(database)} ${name}`;
}

/** Quotes a word for a shell if needed. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word.replace(/["$`\\]/g, "\\$&")}"`;
}

const COPY = { text: () => join("conf", MAIN_FILE) };

async function importDump(text: string, file: string): Promise<Imported> {
  return await withShareDatabase(
    COPY,
    ({ administration, servers }) => administration.import(text, { file, servers, partial: true }),
    { create: true },
  );
}

/** Imports the table from the database that this service will use; creates our tables if needed. */
async function importFromPostgres(table: string): Promise<Imported> {
  const { config } = await usableConfiguration(COPY);
  const { database: chosen } = config.sharing;
  if (chosen === undefined) throw new CommandFailed(`${COPY.text()} chooses no PostgreSQL`);
  using database = await openSharedDatabase(config, chosen);
  await makeTables(database, config, chosen);
  // PostgreSQL folds unquoted names, such as those of the Java service, to lower case.
  const records = await recordsOf(database, table.toLowerCase());
  return await withShareDatabase(
    COPY,
    ({ administration, servers }) =>
      administration.take(readShareRecords(records, { file: table, servers, now: Date.now() })),
  );
}

async function makeTables(database: Database, config: ServiceConfig, chosen: DatabaseConfig): Promise<void> {
  try {
    await database.read(() => rows("SELECT 1", {}));
  } catch (first) {
    if (!(first instanceof DatabaseFailure)) throw first;
    try {
      await migrateDatabase(await optionsOf(config, chosen), chosen.user);
    } catch (error) {
      if (!(error instanceof DatabaseFailure)) throw error;
      throw new CommandFailed(
        `${error.message}\nauthserver database migrate --user OWNER # if ${chosen.user} may make no tables`,
        { cause: error },
      );
    }
  }
}

/** Reads a Java table in batches. @throws {CommandFailed} If it does not exist. */
async function recordsOf(database: Database, table: string): Promise<{ id: string; data: string }[]> {
  const [found] = await database.read(() =>
    rows(
      `SELECT quote_ident(schemaname) AS schema FROM pg_tables WHERE tablename = :table
         AND schemaname IN (current_user, 'public') ORDER BY schemaname = 'public' LIMIT 1`,
      { table },
    )
  );
  if (found === undefined) throw new CommandFailed(`There is no table ${table}`);
  const records: { id: string; data: string }[] = [];
  for (let after = "";;) {
    const part = await database.read(() =>
      rows(`SELECT id, data FROM ${found.schema}.${table} WHERE id > :after ORDER BY id LIMIT 1000`, {
        after,
      })
    );
    records.push(...part.map(({ id, data }) => ({ id: String(id), data: String(data) })));
    if (part.length < 1000) return records;
    after = String(part.at(-1)?.id);
  }
}
