/** Several instances as one service, with a real PostgreSQL. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { ALICE } from "./running_service.ts";
import { type Instance, SeveralInstances } from "./several_instances.ts";

/** Instances check each other every five seconds: more requests would only take processor time. */
const SELDOM = { everyMs: 250, longestPauseMs: 500 };

async function status({ main }: Instance) {
  const io = recordedIo();
  await runCommand(["status", "--json", "--config", main], io);
  return JSON.parse(io.out);
}

Deno.test({ name: "several instances act as one service", ignore: POSTGRES === undefined }, async (t) => {
  await using several = await SeveralInstances.start();
  const { instances } = several;
  const [one, two, three] = instances;
  assert.ok(one && two && three);

  await t.step("status, health and page of each instance show the others", async () => {
    const known = async (instance: Instance) => (await instance.ask("/health/ready")).json()["instances"];
    for (const instance of instances) {
      await until(async () => JSON.stringify(await known(instance)) === '{"total":3,"serving":3}', SELDOM);
    }
    const told = await status(two);
    assert.equal(told.instances.length, 3);
    assert.equal(told.configurationsDiffer, false);
    assert.deepEqual(told.database, { state: "up", awaySeconds: 0, defects: 0, knowsRevoked: true });
    assert.equal(told.instances.filter(({ own }: { own: boolean }) => own).length, 1);
    const page = await one.ask("/", { as: ALICE, headers: { Accept: "text/html" } });
    assert.match(page.text, /3 instances are running\./);
  });

  await t.step("all instances serve a share that one created, until another removes it", async () => {
    const id = await several.share();
    const path = `/rest/access/HPC/${id}`;
    for (const instance of instances) assert.equal((await instance.ask(path)).text, "0123456789");
    assert.equal((await two.ask(`/rest/share/HPC/${id}`, { as: ALICE, method: "DELETE" })).status, 200);
    for (const instance of instances) assert.equal((await instance.ask(path)).status, 404);
  });

  await t.step("a token revoked at one instance is refused by all", async () => {
    const asText = { Accept: "text/plain" };
    const token = (await one.ask("/rest/auth/token", { as: ALICE, headers: asText })).text;
    const headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
    for (const instance of instances) {
      assert.equal((await instance.ask("/rest/auth/HPC", { headers })).status, 200);
    }
    const revoked = await two.ask("/rest/auth/tokens", { as: ALICE, method: "DELETE" });
    assert.ok(revoked.status < 300, revoked.text);
    for (const instance of instances) {
      await until(async () => (await instance.ask("/rest/auth/HPC", { headers })).status === 401);
    }
  });

  await t.step("a ban takes effect at all instances, until one of them lifts it", async () => {
    const run = async (...args: string[]) => {
      const io = recordedIo();
      assert.equal(await runCommand(args, io), 0, io.err);
    };
    await run("ban", "add", "--user", "alice", "--config", one.main);
    for (const instance of instances) {
      await until(async () => (await instance.ask("/rest/auth/HPC", { as: ALICE })).status === 429);
    }
    await run("ban", "remove", "--user", "alice", "--config", three.main);
    for (const instance of instances) {
      await until(async () => (await instance.ask("/rest/auth/HPC", { as: ALICE })).status === 200);
    }
  });

  await t.step(
    "guesses at all instances count together",
    async () => {
      let tries = 0;
      for (let i = 0; i < 24; i++) {
        const reply = await instances[i % 3]?.ask("/rest/auth", { as: ["mallory", `guess ${i}`] });
        if (reply?.status === 401) tries++;
        else assert.equal(reply?.status, 429);
      }
      // Alone, each would allow six. Another test checks the exact number, where nothing is slow.
      assert.ok(tries >= 6 && tries < 3 * 6, `${tries} tries`);
    },
  );

  await t.step("status shows a killed instance as silent, and no longer lists a stopped one", async () => {
    three.process.kill("SIGTERM");
    await three.process.ended;
    await until(async () => (await status(one)).instances.length === 2, SELDOM);
    two.process.kill("SIGKILL");
    await two.process.ended;
    await until(
      async () => (await status(one)).instances.some(({ state }: { state: string }) => state === "silent"),
      SELDOM,
    );
    const { json } = await one.ask("/health/ready");
    assert.deepEqual(json()["instances"], { total: 2, serving: 1 });
  });

  await t.step("an instance with another configuration is reported", async () => {
    const other = await several.startInstance(5, { "share.maxPerUser": "7" });
    instances.push(other);
    await until(async () => (await status(one)).configurationsDiffer, SELDOM);
    assert.equal((await other.ask("/health/ready")).json()["configurationsDiffer"], true);
    await one.process.prints(/instances have different configurations/);
  });
});
