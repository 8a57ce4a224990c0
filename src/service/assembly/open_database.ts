import { certificatesOfPem } from "../../config/tls/certificates.ts";
import type { DatabaseConfig, ServiceConfig } from "../../config/service_config.ts";
import type { Logger } from "../../logging/logger.ts";
import type { Clock } from "../../model/clock.ts";
import { readRegularFile } from "../../model/regular_file.ts";
import { DatabaseFailure, row } from "../../store/database.ts";
import type { PostgresDatabase } from "../../store/postgres/postgres_database.ts";
import type { PostgresTrust } from "../../store/postgres/reach_tls.ts";
import type { OwnCertificate } from "./own_certificate.ts";

/** What a database is opened with. */
interface DatabaseParts {
  /** Whom it trusts counts where the configuration names no authorities. */
  readonly own: Pick<OwnCertificate, "material">;
  readonly log: Logger;
  readonly clock: Clock;
  /** Takes what is to be closed in the end. */
  readonly keep: <T extends { close(): void }>(part: T) => T;
}

/**
 * Opens the database that several instances share, if there is to be one. It need not be there: what needs it fails until it is.
 * @throws {UnfitTables} If its tables are not those that this service needs.
 */
export async function openDatabase(
  { sharing: { database: config } }: ServiceConfig,
  { own, log, clock, keep }: DatabaseParts,
): Promise<PostgresDatabase | undefined> {
  if (config === undefined) return undefined;
  // Loaded only now: most services have no such database.
  const { PostgresDatabase } = await import("../../store/postgres/postgres_database.ts");
  const { UnfitTables } = await import("../../store/postgres/postgres_schema.ts");
  const { servers, database: name, user, password, connections, timeoutMs } = config;
  const database = keep(
    new PostgresDatabase({
      servers,
      login: { database: name, user, password },
      reach: await reachOf(config, own, clock),
      connections,
      timeoutMs,
      changed: (isThere, why) =>
        isThere ? log.info("database is there") : log.error("database is away", { why }),
    }),
  );
  try {
    await database.read(() => row("SELECT 1 AS there", {}));
  } catch (error) {
    if (!(error instanceof DatabaseFailure) || error instanceof UnfitTables) throw error;
    log.error("database cannot be used, shares and tokens have to wait", { error });
  }
  return database;
}

/** Connections with TLS, if there is to be any: who is trusted is read for each anew. */
async function reachOf({ tls }: DatabaseConfig, own: Pick<OwnCertificate, "material">, clock: Clock) {
  if (tls === undefined) return undefined;
  const { reachByTls } = await import("../../store/postgres/reach_tls.ts");
  const { authorities, certificate, key } = tls;
  const trust = async (): Promise<PostgresTrust> => ({
    anchors: authorities === undefined
      ? own.material().anchors
      : certificatesOfPem(await read(authorities)).map(String),
    clientCertificate: certificate === undefined || key === undefined
      ? undefined
      : { certificate: await read(certificate), key: await read(key) },
  });
  return reachByTls(trust, clock);
}

async function read(file: string): Promise<string> {
  try {
    return new TextDecoder().decode(await readRegularFile(file));
  } catch (error) {
    throw new DatabaseFailure(`cannot read ${file}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
}
