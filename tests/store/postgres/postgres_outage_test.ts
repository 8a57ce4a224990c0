import assert from "node:assert/strict";
import { row, rows } from "../../../src/store/database.ts";
import { PostgresDatabase } from "../../../src/store/postgres/postgres_database.ts";
import { DatabaseAway } from "../../../src/store/postgres/postgres_failure.ts";
import { POSTGRES, TestPostgres } from "../../fixtures/postgres.ts";

const KEEP = "INSERT INTO record VALUES ('k', :key, 'o', 1, 2, '{}')";

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!await condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

Deno.test("PostgresDatabase waits for a server that starts again, but not for one that is away", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start({ durable: true });
  const options = server.options(await server.database());
  const [patient, hasty] = [options, { ...options, timeoutMs: 200 }].map((each) =>
    new PostgresDatabase(each)
  );
  assert(patient !== undefined && hasty !== undefined);
  await patient.change(() => rows(KEEP, { key: "before" }));
  await until(() => patient.isReachable && hasty.isReachable);
  const before = patient.version("record");
  await server.stop();
  await until(() => !patient.isReachable);
  const waiting = patient.change(() => rows(KEEP, { key: "meanwhile" }));
  await assert.rejects(hasty.read(() => rows("SELECT 1", {})), DatabaseAway);
  // Nobody answers for longer than it may take: then nobody waits for that.
  await until(async () => {
    const error = await hasty.read(() => rows("SELECT 1", {})).catch((error) => error);
    return /nobody answers for some time/.test(String(error));
  });
  await server.run();
  await waiting;
  assert.deepEqual(await patient.read(() => row("SELECT count(*) AS n FROM record", {})), { n: 2 });
  await until(() => patient.version("record") !== before && hasty.isReachable);
  await hasty.change(() => rows(KEEP, { key: "after" }));
  patient.close();
  hasty.close();
});

Deno.test("PostgresDatabase leaves a server that answers no more, and finds it when it does", {
  ignore: POSTGRES === undefined,
}, async () => {
  await using server = await TestPostgres.start();
  const database = new PostgresDatabase({ ...server.options(await server.database()), timeoutMs: 400 });
  await database.change(() => rows(KEEP, { key: "before" }));
  await until(() => database.isReachable);
  await server.freeze();
  await assert.rejects(database.change(() => rows(KEEP, { key: "frozen" })), DatabaseAway);
  await until(() => !database.isReachable);
  await server.thaw();
  await until(() => database.isReachable);
  await database.change(() => rows(KEEP, { key: "after" }));
  const kept = await database.read(() => rows("SELECT key FROM record ORDER BY key", {}));
  assert.deepEqual(kept.map(({ key }) => key), ["after", "before"]);
  database.close();
});
