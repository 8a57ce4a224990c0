import { attempt } from "../../model/attempt.ts";
import { certificatesOfPem } from "../../config/tls/certificates.ts";
import type { DatabaseConfig } from "../../config/service_config.ts";
import type { Clock } from "../../model/clock.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { messageOf } from "../../model/text.ts";
import { type Database, DatabaseFailure, row } from "../../store/database.ts";
import type { PostgresDatabase, PostgresOptions } from "../../store/postgres/postgres_database.ts";
import type { PostgresTrust } from "../../store/postgres/connect_with_tls.ts";
import type { Opening } from "./service_options.ts";
import type { Sink } from "../../logging/sink.ts";
import { DatabaseRecordStore } from "../../store/database_record_store.ts";
import type { RecordStore } from "../../store/record_store.ts";
import { IN_MEMORY } from "../../store/sqlite_database.ts";
import { openRecordStore, RECORD_DATABASE } from "../../store/sqlite_record_store.ts";

/** Opens the configured shared database, which may be down for now. @throws {SchemaMismatch} If its tables do not fit. */
export async function openDatabase(
  { config: { sharing: { database: config } }, own, log, clock, autoClose }: Opening,
): Promise<PostgresDatabase | undefined> {
  if (config === undefined) return undefined;
  const { PostgresDatabase } = await import("../../store/postgres/postgres_database.ts");
  const { SchemaMismatch } = await import("../../store/postgres/postgres_schema.ts");
  const database = new PostgresDatabase({
    ...await postgresOptions(config, () => own.material().anchors, clock),
    changed: (condition) =>
      condition.kind === "up"
        ? log.info("database is there")
        : log.error(`database is ${condition.kind}`, { why: condition.reason }),
    defective: (statement, error) => log.error("the database refuses a statement", { statement, error }),
  });
  autoClose(database);
  try {
    await database.read(() => row("SELECT 1 AS there", {}));
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || error instanceof SchemaMismatch) throw error;
    log.error("database cannot be used, shares and tokens have to wait", { error });
    return database;
  }
  await database.checkSessions().catch((error) =>
    log.error("database sessions are not as needed", { error })
  );
  return database;
}

/** Returns the connection options of the database. @param anchors PEM; trusted if the database has no authorities of its own. */
export async function postgresOptions(
  { servers, database, user, password, connections, timeoutMs, tls }: DatabaseConfig,
  anchors: () => readonly string[],
  clock: Clock,
): Promise<PostgresOptions> {
  const options = { servers, login: { database, user, password }, connections, timeoutMs };
  if (tls === undefined) return options;
  const { connectWithTls } = await import("../../store/postgres/connect_with_tls.ts");
  const { authorities, certificate, key } = tls;
  // Read for each connection, so that files can be renewed.
  const trust = async (): Promise<PostgresTrust> => ({
    anchors: authorities === undefined ? anchors() : certificatesOfPem(await read(authorities)).map(String),
    clientCertificate: certificate === undefined || key === undefined
      ? undefined
      : { certificate: await read(certificate), key: await read(key) },
  });
  return { ...options, connect: connectWithTls(trust, clock) };
}

async function read(file: string): Promise<string> {
  try {
    return new TextDecoder().decode(await readRegularFile(file));
  } catch (error) {
    throw new DatabaseFailure(`cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
}

const PURGE_INTERVAL = 10 * 60 * 1000; // milliseconds between deletions of expired records

/** Stores beside the shares, created on first use. */
export class Records {
  #store: RecordStore | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;

  /**
   * @param place `persistence.directory`, or the shared database; absent: nothing is stored.
   * @param readOnly Prevents creating a database: the service could not open one that belongs to another account.
   */
  constructor(
    readonly place: string | Database | undefined,
    readonly clock: Clock,
    readonly sink: Sink,
    readonly readOnly: boolean,
  ) {}

  /** @throws {UnknownDatabase} And file system errors. */
  readonly open = (): RecordStore | undefined => {
    const { place } = this;
    if (place === undefined) return undefined;
    const exists = () => Deno.statSync(`${place}/${RECORD_DATABASE}`).isFile;
    const mayCreate = !this.readOnly || typeof place !== "string";
    return this.#opened(mayCreate || attempt(exists, Deno.errors.NotFound, () => false) ? place : undefined);
  };

  /** Falls back to records in memory. @throws As {@link open}. */
  readonly openAnyway = (): RecordStore => this.open() ?? this.#opened();

  /** @param place Absent: in memory. */
  #opened(place?: string | Database): RecordStore {
    if (this.#store === undefined) {
      const file = place === undefined ? IN_MEMORY : `${place}/${RECORD_DATABASE}`;
      const store = typeof place === "object"
        ? new DatabaseRecordStore(place)
        : openRecordStore(file, this.clock, this.sink);
      this.#store = store;
      this.#timer = setInterval(() => void store.purge().catch(() => {}), PURGE_INTERVAL); // the next one tries again
    }
    return this.#store;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#store?.close();
  }
}
