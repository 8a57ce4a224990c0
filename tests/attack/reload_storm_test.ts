/** Signals and changed files by the hundred: reloads do not stop the service. */
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { until } from "../fixtures/deadline.ts";
import { LONG, note } from "../long/results.ts";
import { ALICE, MAP, passwordLine, PASSWORDS, runService, settled } from "../system/running_service.ts";

const STORM = LONG ? 2000 : 40;

Deno.test(`${STORM} reloads and file changes at once fail no request, and the last change takes effect`, async () => {
  await using system = await runService({ servers: { HPC: [{ maxSessions: 10_000 }] } });
  await settled(system);
  const main = await Deno.readTextFile(system.main);
  const described = (text: string) => `${main}authservice.server.HPC.description=${text}\n`;
  const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: system.authority.certificate });
  let done = false;
  let answered = 0;
  const clients = Array.from({ length: 8 }, async (_, i) => {
    while (!done) {
      const body = i % 4 === 0 ? { body: { serverPath: "" } } : {};
      const reply = await system.ask("/rest/auth/HPC", { as: ALICE, agent, ...body });
      assert.equal(reply.status, 200, reply.text);
      answered++;
    }
  });
  const storm = async () => {
    for (let i = 0; i < STORM; i++) {
      const broken = i % 3 === 1;
      await system.replace(
        "conf/container.properties",
        broken ? `${main}container.port=x${i}\n` : described(`${i}`),
      );
      await system.replace("conf/mapfile.json", broken ? "{" : JSON.stringify(MAP, undefined, i % 4));
      await system.replace("conf/users.txt", PASSWORDS + passwordLine([`user${i}`, "x"], `CN=User ${i}`));
      system.service.hangUp();
      await new Promise((resolve) => setTimeout(resolve, i % 5));
    }
  };
  await Promise.race([storm(), ...clients]);
  await system.replace("conf/mapfile.json", JSON.stringify(MAP));
  await system.replace("conf/container.properties", described("the last"));
  system.service.hangUp();
  const server = async () => (await system.ask("/rest/auth/HPC", { as: ALICE })).json();
  await until(async () => (await server()).description === "the last", { everyMs: 20 });
  const last = ["last", "of-them-77"] as const;
  let seen = system.log.length;
  await system.replace("conf/users.txt", PASSWORDS + passwordLine(last, "CN=Last"));
  for (;;) {
    // Either the running core reads the file, or a core that replaces it.
    await system.logged(/file read again.*users|configuration reloaded/, seen);
    seen = system.log.length;
    if ((await system.ask("/rest/auth", { as: last })).status === 200) break;
  }
  done = true;
  await Promise.all(clients);
  agent.destroy();
  const cores = system.log.filter((line) => /configuration reloaded/.test(line)).length;
  assert(cores < STORM / 3, `${cores} reloads: what comes while one is under way counts as one`);
  assert(answered > STORM, `${answered} answers`);
  note("trials", {
    trial: "concurrent reloads and file changes, a third of them invalid",
    done: `${STORM} reloads and ${3 * STORM} changes while 8 clients ask`,
    outcome: `${answered} requests, none failed; reloaded ${cores} times; the last change is in use`,
  });
});
