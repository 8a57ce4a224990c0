/** Workers that die, and cores that a reload replaces under load (design note 6). */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { Agent } from "node:https";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { LONG } from "../long/results.ts";
import { killWorker } from "./kill_worker.ts";
import { ALICE, runService, runServiceHere, settled } from "./running_service.ts";

/** Workers by name, in the order of their start. */
const workers: { readonly name: string; readonly worker: Worker }[] = [];
globalThis.Worker = class extends Worker {
  constructor(specifier: string | URL, options?: WorkerOptions) {
    super(specifier, options);
    workers.push({ name: options?.name ?? "", worker: this });
  }
};

/** Makes a worker die. */
function kill(name: string): void {
  const worker = workers.find((worker) => worker.name === name); // of the service that was started first
  assert(worker !== undefined, `no room ${name}`);
  killWorker(worker.worker);
}

/** Descriptions that reloads bring. */
const RELOADS = ["first", "second", ...(LONG ? ["third", "fourth"] : [])];

const POST = { as: ALICE, body: { serverPath: "" } };

const mortal = await runServiceHere();
await settled(mortal);
Deno.test.afterAll(() => mortal[Symbol.asyncDispose]());

Deno.test("when the core dies requests get 503 with Retry-After, and a new core serves", async () => {
  mortal.daemon().delay = 200;
  const arrived = mortal.daemon().sessionRequests.length + 1;
  const underWay = mortal.ask("/rest/auth/HPC", POST);
  await until(() => mortal.daemon().sessionRequests.length >= arrived, { everyMs: 5 });
  kill("core 1");
  const lost = await underWay;
  assert.equal(lost.status, 503);
  assert.equal(lost.headers["retry-after"], "1");
  assert.equal(lost.json().code, "ERR_SERVICE_STARTING");
  const meanwhile = await mortal.ask("/rest/auth", { as: ALICE });
  assert.equal(meanwhile.status, 503);
  assert.equal(meanwhile.headers["retry-after"], "1");

  await mortal.logged(/error core died, starting another generation=1/);
  await mortal.logged(/worker replaced what=core/);
  mortal.daemon().delay = 0;
  const served = await mortal.ask("/rest/auth/HPC", POST);
  assert.equal(served.status, 200, served.text);
  const ready = await mortal.ask("/health/ready");
  assert.equal(ready.json().generation, 2);
});

Deno.test("when the edge dies, the core aborts its requests, and another edge listens on the same port", async () => {
  const caCerts = [mortal.authority.certificate];
  const caller = await Deno.connectTls({ hostname: "localhost", port: mortal.port, caCerts });
  await caller.write(new TextEncoder().encode(
    `POST /rest/auth/HPC HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${btoa(ALICE.join(":"))}\r\n` +
      "Content-Type: application/json\r\nContent-Length: 20\r\nExpect: 100-continue\r\n\r\n",
  ));
  await caller.read(new Uint8Array(100)); // the core asks for the body
  kill("edge");
  await mortal.logged(/error edge died, starting another/);
  await mortal.logged(/request answered .*method=POST .*status=400 .*The request ended early/);
  caller.close();
  await mortal.logged(/worker replaced what=edge/);
  assert.equal((await mortal.ask("/rest/auth/HPC", POST)).status, 200);
});

Deno.test("bans by an operator survive a crash of the core", async () => {
  const command = async (...args: readonly string[]) => {
    const io = recordedIo();
    await runCommand([...args, "--config", mortal.main], io);
    return io.out;
  };
  await command("ban", "add", "--user", "alice");
  const before = mortal.log.length;
  kill(`core ${(await mortal.ask("/health/ready")).json().generation}`);
  await mortal.logged(/worker replaced what=core/, before);
  const statusOfAlice = async () => (await mortal.ask("/rest/auth", { as: ALICE })).status;
  await until(async () => await statusOfAlice() !== 503, {
    what: "the new core knows the bans",
    everyMs: 10,
  });
  assert.equal(await statusOfAlice(), 429);
  const { bans } = JSON.parse(await command("status", "--json"));
  assert.deepEqual(bans, { passwords: 0, tokens: 0, operator: 1 });
});

/** Service whose end is tested, too. */
const system = await runService();
await settled(system);

Deno.test("reloading under 32 busy connections fails no request and cuts no connection", async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 32, ca: system.authority.certificate });
  const main = await Deno.readTextFile(system.main);
  let done = false;
  let requests = 0;
  const seen = new Set<unknown>();
  const awaited = new Map<string, () => void>();
  const clients = Array.from({ length: 32 }, async () => {
    while (!done) {
      const reply = await system.ask("/rest/auth/HPC", { as: ALICE, agent });
      assert.equal(reply.status, 200, reply.text);
      const { description } = reply.json();
      seen.add(description);
      awaited.get(String(description))?.();
      requests++;
    }
  });
  for (const description of RELOADS) {
    const shown = new Promise<void>((resolve) => awaited.set(description, resolve));
    await reloadWith(`${main}authservice.server.HPC.description=${description}\n`);
    await Promise.race([shown, ...clients]);
  }
  done = true;
  await Promise.all(clients);
  agent.destroy();
  assert.deepEqual([...seen], ["Server HPC", ...RELOADS]);
  assert(requests > 100, `${requests} requests`);
});

/** Changes the main file, and sends the signal for a reload. */
async function reloadWith(text: string): Promise<void> {
  await system.replace("conf/container.properties", text);
  system.service.hangUp();
}

Deno.test("a bad configuration is reported with file and line, and the previous one stays in use", async () => {
  const main = await Deno.readTextFile(system.main);
  const line = main.split("\n").length + 1;
  const before = system.log.length;
  await reloadWith(`${main}authservice.server.HPC.commandPrt=1\ncontainer.port=many\n`);
  await system.logged(/error the new configuration cannot be used, the one before stays/, before);
  const place = `container\\.properties:${line}: container\\.port = many`;
  await system.logged(new RegExp(`error configuration diagnostic=".*${place}`), before);
  await system.logged(/configuration diagnostic=".*commandPrt.*did you mean/, before);
  assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
  await reloadWith(main);
  await system.logged(/configuration reloaded/, before);
  assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
});

Deno.test("a configuration that changes on disk is reloaded without a signal", async () => {
  const main = await Deno.readTextFile(system.main);
  await system.replace("conf/container.properties", `${main}authservice.server.HPC.description=changed\n`);
  for (let lines = 0, shown: unknown; shown !== "changed";) {
    const line = await system.logged(/configuration reloaded/, lines);
    lines = system.log.indexOf(line) + 1;
    shown = (await system.ask("/rest/auth/HPC")).json().description;
  }
});

Deno.test("the log has a request answered just before the end, and its last line reports the end", async () => {
  assert.equal((await system.ask("/rest/auth/HPC", POST)).status, 200);
  await system[Symbol.asyncDispose]();
  assert(system.log.some((line) => /audit session.*decision=granted/.test(line)), system.log.join("\n"));
  assert.match(system.log.at(-1) ?? "", / stopped$/);
});
