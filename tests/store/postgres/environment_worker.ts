/** Worker without access to the environment that asks a database for its application name there. */
import { row } from "../../../src/store/database.ts";
import { PostgresDatabase, type PostgresOptions } from "../../../src/store/postgres/postgres_database.ts";

declare const self: {
  onmessage: (event: MessageEvent<Pick<PostgresOptions, "servers" | "login">>) => void;
  postMessage(message: unknown): void;
};

self.onmessage = async ({ data }) => {
  const database = new PostgresDatabase({ ...data, connections: 2, timeoutMs: 20_000 });
  try {
    self.postMessage(
      await database.read(() => row("SELECT current_setting('application_name') AS application", {})),
    );
  } catch (error) {
    self.postMessage(String(error));
  }
  database.close();
};
