import type { DatabaseConfig, ServiceConfig } from "../../config/service_config.ts";
import type { PostgresDatabase, PostgresOptions } from "../../store/postgres/postgres_database.ts";

/** Returns the connection options of the shared database, as the service uses them. */
export async function optionsOf(config: ServiceConfig, database: DatabaseConfig): Promise<PostgresOptions> {
  // Imported on use: the serving process loads all commands.
  const { postgresOptions } = await import("../../service/assembly/open_database.ts");
  const { loadTlsMaterial } = await import("../../config/tls/load_tls_material.ts");
  const isAnchored = database.tls === undefined || database.tls.authorities !== undefined;
  const { material } = isAnchored ? { material: undefined } : await loadTlsMaterial(config, Date.now());
  return await postgresOptions(database, () => material?.anchors ?? [], Date.now);
}

/** Opens the shared database for a command. */
export async function openSharedDatabase(
  config: ServiceConfig,
  database: DatabaseConfig,
): Promise<PostgresDatabase> {
  const { PostgresDatabase } = await import("../../store/postgres/postgres_database.ts");
  return new PostgresDatabase(await optionsOf(config, database));
}
