import assert from "node:assert/strict";
import { isHttpError } from "../../../src/model/http_error.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { PathLocks } from "../../../src/resource/share/path_locks.ts";
import { DatabaseUnavailable } from "../../../src/store/database.ts";
import MARK_TABLES from "../../../src/store/postgres/tables/shared_mark.sql" with { type: "text" };
import { Leases } from "../../../src/store/leases.ts";
import { IN_MEMORY, SqliteDatabase } from "../../../src/store/sqlite_database.ts";
import { VirtualTime } from "../../fixtures/virtual_time.ts";

const { signal } = new AbortController();
const rest = async () => {
  for (let i = 0; i < 40; i++) await Promise.resolve();
};

/** Opens locks of several instances with one database. */
function create() {
  const time = new VirtualTime();
  const steps = [MARK_TABLES.replaceAll("UNLOGGED ", "")];
  const database = new SqliteDatabase(IN_MEMORY, { what: "marks", applicationId: 1, steps }, time.clock);
  const leases = new Leases(database, { log: SILENT });
  const instance = () => new PathLocks(leases, time.schedule);
  return { time, leases, database, instance, [Symbol.dispose]: () => database.close() };
}

Deno.test("PathLocks gives a path to one request of all instances at a time", async () => {
  using setting = create();
  const { time, instance } = setting;
  const [one, two] = [instance(), instance()];
  const lost = () => assert.fail("lost");
  const end = await one.take("HPC", "/f", signal, lost);
  (await two.take("HPC", "/g", signal, lost))();
  let taken: (() => void) | undefined;
  const other = two.take("HPC", "/f", signal, lost).then((release) => taken = release);
  await time.advance(1000, rest);
  assert.equal(taken, undefined);
  end();
  end();
  await time.advance(100, rest);
  (await other)();
  await rest();
  (await one.take("HPC", "/f", signal, lost))();
  await rest();
  assert.equal(time.pending, 0, "no timer is left");
});

Deno.test("PathLocks notifies a holder before another takes over a lock that was held too long", async () => {
  using setting = create();
  const { time, instance } = setting;
  const order: string[] = [];
  await instance().take("HPC", "/f", signal, (reason) => {
    assert.ok(isHttpError(reason, "ERR_UPLOAD_INCOMPLETE"));
    order.push("lost");
  });
  const next = instance().take("HPC", "/f", signal, () => {}).then((end) => {
    order.push("taken over");
    return end;
  });
  await time.advance(31_000, rest);
  (await next)();
  assert.deepEqual(order, ["lost", "taken over"]);
});

Deno.test("PathLocks waits no longer than its caller, and locks nothing while the database is down", async () => {
  using setting = create();
  const { time, leases, instance } = setting;
  const end = await instance().take("HPC", "/f", signal, () => {});
  const leaving = new AbortController();
  const [locks] = [instance()];
  const left = assert.rejects(locks.take("HPC", "/f", leaving.signal, () => {}), /gone/);
  leaving.abort(new Error("gone"));
  await time.advance(100, rest);
  await left;
  leases.acquire = () => Promise.reject(new DatabaseUnavailable("away"));
  await assert.rejects(
    locks.take("HPC", "/g", signal, () => {}),
    (error) => isHttpError(error, "ERR_SHARE_STORE"),
  );
  (await locks.takeHere("HPC", "/g", signal))();
  end();
  assert.equal(time.pending, 0, "no timer is left");
});
