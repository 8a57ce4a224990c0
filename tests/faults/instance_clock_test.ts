/** Three instances: the clock of one machine is right, of one hours ahead, of one hours behind. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { POSTGRES } from "../fixtures/postgres.ts";
import { FAKETIME, offBy } from "../fixtures/wrong_clock.ts";
import { ALICE } from "../system/running_service.ts";
import { type Instance, SeveralInstances } from "../system/several_instances.ts";
import { Visitor } from "../system/visitor.ts";
import { note } from "./fault_table.ts";

const HOUR = 3600;

async function command(at: Instance, ...args: readonly string[]): Promise<string> {
  const io = recordedIo();
  assert.equal(await runCommand([...args, "--config", at.main], io), 0, io.err);
  return io.out;
}

Deno.test({
  name: "an instance whose clock is hours wrong behaves like the others",
  ignore: POSTGRES === undefined || FAKETIME === undefined,
}, async (t) => {
  await using several = await SeveralInstances.start({
    instances: 0,
    properties: {
      "persistence.statementTimeout": "60000", // enough for a slow machine
    },
  });
  const { instances, server, database, site: { authority } } = several;
  instances.push(
    ...await Promise.all([
      several.startInstance(0),
      several.startInstance(1, {}, offBy("+5h")),
      several.startInstance(2, {}, offBy("-5h")),
    ]),
  );
  const [right, ahead, behind] = instances;
  assert.ok(right && ahead && behind);
  const known = async (instance: Instance) => (await instance.ask("/health/ready")).json()["instances"];
  for (const instance of instances) {
    await until(async () => JSON.stringify(await known(instance)) === '{"total":3,"serving":3}', {
      everyMs: 250, // they look at each other every five seconds
      longestPauseMs: 500,
    });
  }
  const everywhere = async (path: string, status: number, question = {}) => {
    for (const instance of instances) {
      const reply = await instance.ask(path, question);
      assert.equal(reply.status, status, reply.text);
    }
  };

  await t.step("both log that their clock is wrong, and no instance considers another silent", async () => {
    await ahead.process.prints(/this machine's clock is ahead of the database's.* seconds=1[78]\d{3}\b/);
    await behind.process.prints(/this machine's clock is behind the database's.* seconds=1[78]\d{3}\b/);
    assert.doesNotMatch(right.process.printed, /this machine's clock/);
    const { instances } = JSON.parse(await command(right, "status", "--json"));
    assert.deepEqual(instances.map(({ state }: { state: string }) => state), [
      "serving",
      "serving",
      "serving",
    ]);
  });

  await t.step("shares begin and end by the database's clock, from whichever instance", async () => {
    for (const maker of instances) {
      const id = await several.share("d/ten.txt", { lifetime: HOUR }, maker);
      const [made] = await server.sql(
        database,
        `SELECT expires - extract(epoch FROM now()) AS left FROM authserver.share WHERE id = '${id}'`,
      );
      const left = Number(made?.["left"]);
      assert.ok(left > HOUR / 2 && left <= HOUR, `${left} s left`);
      await everywhere(`/rest/access/HPC/${id}`, 200);
      await server.sql(
        database,
        `UPDATE authserver.share SET expires = extract(epoch FROM now()) - 10 WHERE id = '${id}'`,
      );
      await everywhere(`/rest/access/HPC/${id}`, 404);
    }
  });

  await t.step("a one-time share is used once", async () => {
    for (const first of instances) {
      const id = await several.share("d/ten.txt", { onetime: true, lifetime: HOUR }, behind);
      assert.equal((await first.ask(`/rest/access/HPC/${id}`)).status, 200);
      await everywhere(`/rest/access/HPC/${id}`, 404);
    }
  });

  await t.step("all instances accept tokens, and refuse them once they are revoked", async () => {
    for (const maker of instances) {
      const asked = { as: ALICE, headers: { Accept: "text/plain" } };
      const token = (await maker.ask("/rest/auth/token", asked)).text;
      const headers = { Authorization: `Bearer ${token}`, Accept: "application/json" };
      await everywhere("/rest/auth/HPC", 200, { headers });
      const { status } = await behind.ask("/rest/auth/tokens", { as: ALICE, method: "DELETE" });
      assert.ok(status < 300, String(status));
      for (const instance of instances) {
        await until(async () => (await instance.ask("/rest/auth/HPC", { headers })).status === 401);
      }
    }
  });

  await t.step("a browser that signed in at one instance is signed in at all", async () => {
    for (const { port } of instances) {
      const visitor = new Visitor({ port, authority });
      assert.equal((await visitor.signIn(ALICE)).status, 303);
      for (const { port } of instances) {
        const elsewhere = new Visitor({ port, authority });
        for (const [name, value] of visitor.cookies) elsewhere.cookies.set(name, value);
        assert.match((await elsewhere.get("/")).text, /Signed in as/);
      }
    }
  });

  /** Repeats a ban command until it succeeds: the service may be busy, and a second ban changes nothing. */
  const ban = async (at: Instance, ...args: readonly string[]) => {
    await until(async () => await runCommand(["ban", ...args, "--config", at.main], recordedIo()) === 0);
  };

  await t.step("a ban lasts as long as requested, on all instances", async () => {
    for (const banned of instances) {
      await ban(banned, "add", "--user", ALICE[0], "--for", "1h");
      for (const instance of instances) {
        await until(async () => (await instance.ask("/rest/auth/HPC", { as: ALICE })).status === 429);
      }
      const [kept] = await server.sql(
        database,
        "SELECT ends / 1000 - extract(epoch FROM now()) AS left FROM authserver.operator_ban",
      );
      const left = Number(kept?.["left"]);
      assert.ok(left > HOUR / 2 && left <= HOUR + 1, `${left} s left`);
      await ban(behind, "remove", "--user", ALICE[0]);
      for (const instance of instances) {
        await until(async () => (await instance.ask("/rest/auth/HPC", { as: ALICE })).status === 200);
      }
    }
  });

  await t.step(
    "a core that starts while the database is down issues no tokens until it knows the revoked ones",
    async () => {
      const asked = { as: ALICE, headers: { Accept: "text/plain" } };
      await server.stop();
      await Promise.all(instances.map(async (instance) => {
        const printed = instance.process.printed.length;
        const main = await Deno.readTextFile(instance.main);
        await Deno.writeTextFile(
          instance.main,
          main.replace("statementTimeout=60000", "statementTimeout=1000"),
        );
        instance.process.kill("SIGHUP");
        await instance.process.prints(/settings changed/, printed);
      }));
      for (const instance of instances) {
        assert.equal((await instance.ask(`/rest/auth/token?lifetime=${HOUR}`, asked)).status, 503);
      }
      await server.run();
      for (const instance of instances) {
        let text = "";
        await until(async () => {
          const answer = await instance.ask(`/rest/auth/token?lifetime=${HOUR}`, asked);
          text = answer.text;
          return answer.status === 200;
        });
        const claims = Uint8Array.fromBase64(text.split(".")[1] ?? "", { alphabet: "base64url" });
        const { exp } = JSON.parse(new TextDecoder().decode(claims));
        const left = exp - Date.now() / 1000;
        assert.ok(left > HOUR / 2 && left <= HOUR + 1, `${left} s left`);
      }
    },
  );

  note({
    section: "The database of several instances",
    fault: "the clock of one instance is 5 hours ahead, that of another 5 hours behind",
    caller: "nothing: shares, tokens, sign-ins and bans use the database's clock; " +
      "certificates and providers' tokens use the machine's clock",
    log: "`this machine's clock is ahead of the database's`, with the difference",
    after: "set the clock",
  });
});
