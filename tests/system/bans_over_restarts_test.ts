/** Bans of a single instance across restarts and crashes. */
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { note } from "../faults/fault_table.ts";
import { until } from "../fixtures/deadline.ts";
import { ask } from "./ask.ts";
import { ALICE, createSite, ROLE_ONLY, type Site, STRANGER } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

async function start({ main, authority: { certificate } }: Site) {
  const service = runAuthserver(["serve", "--config", main]);
  const [, port] = await service.prints(/service started .*port=(\d+)/);
  await service.prints(/Server started/);
  const statusOf = async (as: readonly [string, string]) =>
    (await ask(`https://localhost:${port}/rest/auth`, certificate, { as })).status;
  const ban = async (...args: readonly string[]) => {
    const io = recordedIo();
    const code = await runCommand(["ban", ...args, "--json", "--config", main], io);
    return { code, answer: JSON.parse(io.out), err: io.err };
  };
  return { service, statusOf, ban };
}

Deno.test("a ban survives a restart if a reload has configured the database since, unless lifted", async () => {
  await using site = await createSite();
  const first = await start(site);
  for (const user of ["alice", "stranger"]) {
    assert.equal((await first.ban("add", "--user", user, "--for", "1h")).code, 0);
  }
  await site.replace(
    "conf/container.properties",
    `${await Deno.readTextFile(site.main)}persistence.directory=${site.folder}/data\n`,
  );
  assert.equal(await runCommand(["reload", "--config", site.main], recordedIo()), 0);
  const file = `${site.folder}/data/records.sqlite`;
  await until(() => bansIn(file) === 2, { what: "both bans are stored" });
  assert.equal((await first.ban("remove", "--user", "stranger")).answer.lifted, 1);
  assert.equal(await runCommand(["reload", "--config", site.main], recordedIo()), 0);
  first.service.kill("SIGKILL");
  await first.service.ended;

  const second = await start(site);
  assert.deepEqual([await second.statusOf(ALICE), await second.statusOf(STRANGER)], [429, 200]);
  second.service.kill("SIGTERM");
  assert.equal(await second.service.ended, 0);
});

/** Counts the bans in a database. */
function bansIn(file: string): number {
  using database = new DatabaseSync(file, { readOnly: true });
  return Number(database.prepare("SELECT count(*) AS bans FROM operator_ban").get()?.["bans"]);
}

Deno.test("a ban ends with a service without database, and with one, survives kill -9 unless lifted or expired", async () => {
  await using site = await createSite();
  const without = await start(site);
  const { code, answer } = await without.ban("add", "--user", "alice", "--for", "1h");
  assert.deepEqual([code, answer.stored], [0, undefined], "the command does not claim otherwise");
  assert.equal(await without.statusOf(ALICE), 429);
  without.service.kill("SIGTERM");
  await without.service.ended;
  await site.replace(
    "conf/container.properties",
    `${await Deno.readTextFile(site.main)}persistence.directory=${site.folder}/data\n`,
  );

  const first = await start(site);
  assert.equal(await first.statusOf(ALICE), 200);
  const added = await first.ban("add", "--user", "alice", "--for", "1h");
  assert.deepEqual([added.code, added.answer.stored], [0, true], added.err);
  assert.equal((await first.ban("add", "--user", "stranger", "--for", "1h")).code, 0);
  assert.equal((await first.ban("remove", "--user", "stranger")).answer.lifted, 1);
  assert.equal((await first.ban("add", "--user", "roleonly", "--for", "1s")).code, 0);
  first.service.kill("SIGKILL");
  assert.equal(await first.service.ended, 137);

  const second = await start(site);
  const { answer: { bans } } = await second.ban("list");
  const alice = bans.find(({ user }: { readonly user?: string }) => user === "alice");
  assert.ok(Math.abs(Date.parse(alice.until) - Date.parse(added.answer.until)) < 2000, "with the same end");
  assert.equal(await second.statusOf(ALICE), 429);
  assert.equal(await second.statusOf(STRANGER), 200);
  await until(async () => await second.statusOf(ROLE_ONLY) === 200);
  assert.equal((await second.ban("remove", "--user", "alice")).answer.lifted, 1);
  second.service.kill("SIGKILL");
  await second.service.ended;

  const third = await start(site);
  assert.equal(await third.statusOf(ALICE), 200, "nor does a lift get lost");
  assert.deepEqual((await third.ban("list")).answer.bans, []);
  third.service.kill("SIGTERM");
  assert.equal(await third.service.ended, 0);
  note({
    section: "Process",
    fault: "`kill -9` after an operator's bans",
    caller: "bans hold after the next start",
    log: "nothing",
    after: "bans keep their ends; lifted and expired bans stay so",
  });
});
