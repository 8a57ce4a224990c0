import type { DatabaseConfig, ServiceConfig } from "../../config/service_config.ts";
import { dirname } from "node:path";
import { withKinds } from "../../config/kind.ts";
import { ifExists } from "../../model/regular_file.ts";
import { HttpError } from "../../model/http_error.ts";
import { Recorder } from "../../notify/recorder.ts";
import { KINDS } from "../../service/kinds.ts";
import { type Imported, ShareAdministration } from "../../sharing/administration.ts";
import { SHARE_DATABASE } from "../../sharing/store/schema.ts";
import { openShareStore, ShareStore } from "../../sharing/store/share_store.ts";
import { loadTlsMaterial } from "../../config/tls/load_tls_material.ts";
import { postgresOptions } from "../../service/assembly/open_database.ts";
import { isSqliteError } from "../../store/sqlite_database.ts";
import { CommandFailed, type Given } from "../command.ts";
import { usableConfiguration } from "../config_option.ts";
import { counted } from "../../model/text.ts";
import { formatDiagnostic } from "../../model/diagnostic.ts";
import { PostgresDatabase, type PostgresOptions } from "../../store/postgres/postgres_database.ts";

/** Works on the shares of the servers with sharing, also of a running service. @param options.create Creates a missing database. @throws {CommandFailed} */
export async function withShareDatabase<T>(
  given: Pick<Given<"config", never>, "text">,
  work: (shares: { administration: ShareAdministration; servers: readonly string[] }) => Promise<T>,
  { create = false }: { readonly create?: boolean } = {},
): Promise<T> {
  const { file: main, config } = await usableConfiguration(given);
  const { servers, directory = "", database } = config.sharing;
  if ((directory === "" && database === undefined) || servers.length === 0) {
    throw new CommandFailed(`${main} has no sharing: expected share.servers and persistence.directory`);
  }
  const file = `${directory}/${SHARE_DATABASE}`;
  try {
    if (database === undefined) await checkOwner(file, directory, create);
    // The running service delivers the notifications that this records.
    const recorder = new Recorder(await withKinds(config.notifications, KINDS.destinations));
    const store = database === undefined
      ? openShareStore(file, Date.now, undefined, recorder)
      : new ShareStore(await openSharedDatabase(config, database), recorder);
    try {
      return await work({ administration: new ShareAdministration(store, Date.now), servers });
    } finally {
      store.close();
    }
  } catch (error) {
    throw explained(error, file);
  }
}

/** Checks the account: the service could not use files that SQLite creates for another one. */
async function checkOwner(file: string, directory: string, create: boolean): Promise<void> {
  const present = await ifExists(Deno.stat(file));
  if (present === undefined && !create) {
    throw new CommandFailed(`There is no share database yet, the service makes it: ${file}`);
  }
  const owned = present ?? await ifExists(Deno.stat(directory)) ??
    await ifExists(Deno.stat(dirname(directory)));
  if (owned === undefined) throw new CommandFailed(`There is no folder ${dirname(directory)}`);
  if (owned.uid !== null && owned.uid !== Deno.uid()) {
    const { uid } = owned;
    throw new CommandFailed(
      `Run this as the account that the service runs as, with user id ${uid}: sudo -u '#${uid}' authserver …`,
    );
  }
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 }); // as the service creates it
}

function explained(error: unknown, file: string): unknown {
  if (error instanceof HttpError) {
    // The operator may know why a store fails; the public text of other errors suffices.
    const text = error.code === "ERR_SHARE_STORE" ? error.message : error.publicMessage;
    return new CommandFailed(text, { cause: error });
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return new CommandFailed(error.message, { cause: error });
  }
  return isSqliteError(error) ? new CommandFailed(`${file}: ${error.message}`, { cause: error }) : error;
}

/** Returns the report of a share import. */
export function importedReport({ added, present, ended, refused, diagnostics }: Imported) {
  const why = diagnostics.map(formatDiagnostic);
  const left = [
    ...present.length > 0 ? [`${present.length} there already`] : [],
    ...ended > 0 ? [`${ended} expired`] : [],
    ...refused > 0 ? [`${refused} not imported:`] : [],
  ];
  const summary = [`${counted(added, "share", "shares")} imported`, ...left].join(", ");
  const text = [summary, ...why.map((line) => `  ${line}`)].map((line) => `${line}\n`).join("");
  return { value: { added, present, ended, refused, diagnostics: why }, text };
}

/** Returns the connection options of the shared database, as the service uses them. */
export async function optionsOf(config: ServiceConfig, database: DatabaseConfig): Promise<PostgresOptions> {
  const isAnchored = database.tls === undefined || database.tls.authorities !== undefined;
  const { material } = isAnchored ? { material: undefined } : await loadTlsMaterial(config, Date.now());
  return await postgresOptions(database, () => material?.anchors ?? [], Date.now);
}

/** Opens the shared database for a command. */
export async function openSharedDatabase(
  config: ServiceConfig,
  database: DatabaseConfig,
): Promise<PostgresDatabase> {
  return new PostgresDatabase(await optionsOf(config, database));
}
