/** Workers that die at the wrong moment, and configurations that cannot be used. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { LONG } from "../long/results.ts";
import { latestWorker, type SpiedWorker, startedWorker, workersSoFar } from "./worker_spy.ts";
import { ask } from "./ask.ts";
import { ALICE, ROLE_ONLY, runServiceHere, settled, type SystemUnderTest } from "./running_service.ts";

/** Number of cores that die right after their answers. */
const DEATHS = LONG ? 5 : 2;

const POST = { as: ALICE, body: { serverPath: "" } };

/** Returns a function that waits for a log line from now on. */
function logFromNow(system: SystemUnderTest): (pattern: RegExp) => Promise<string> {
  const before = system.log.length;
  return (pattern) => system.logged(pattern, before);
}

/** Repeats a request until the service serves it, and returns the answer. */
async function served(system: SystemUnderTest, path: string, question: Parameters<typeof ask>[2]) {
  let reply = await system.ask(path, question);
  await until(async () => {
    if (reply.status === 503) reply = await system.ask(path, question);
    return reply.status !== 503;
  }, { what: `${path} is served`, everyMs: 10 });
  return reply;
}

const sharedFrom = workersSoFar();
const system = await runServiceHere({
  properties: {
    "container.runtimeConfigurationUpdate": "false",
    "container.security.throttling.maxFailures": "5",
    "container.security.throttling.baseDelay": "300",
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());
await settled(system);
const main = await Deno.readTextFile(system.main);
let edge = await startedWorker("edge", sharedFrom);

/** Tests a service that all these tests share: each leaves it serving, perhaps with another core and edge. */
function testShared(name: string, run: () => Promise<void>): void {
  Deno.test(name, async () => {
    const from = workersSoFar();
    try {
      await run();
    } finally {
      edge = latestWorker("edge", from) ?? edge;
    }
  });
}

/** Returns the core and the edge that serve now. */
async function present() {
  const { generation } = (await served(system, "/health/ready", {})).json();
  return { core: await startedWorker(`core ${generation}`, sharedFrom), edge };
}

/** Returns the generation of a core. */
const numberOf = ({ name }: SpiedWorker) => Number(name.slice("core ".length));

/** Returns a main file with other limits than the present one, so that a new edge must replace the present one. */
async function textWithOtherLimits(): Promise<string> {
  const isLimited = (await Deno.readTextFile(system.main)).includes("disabledProtocols");
  return isLimited ? main : `${main}container.httpServer.disabledProtocols=TLSv1.2\n`;
}

testShared("a core that dies during a reload does not restore the old configuration", async () => {
  const from = workersSoFar();
  const { core } = await present();
  const told = logFromNow(system);
  await system.replace("conf/container.properties", `${main}authservice.server.HPC.description=new\n`);
  const reloaded = system.service.reload();
  const next = await startedWorker(/^core /, from);
  core.kill();
  await told(new RegExp(`core died, starting another generation=${numberOf(core)} `));
  await reloaded;
  await told(/worker replaced what=core/);
  const reply = await served(system, "/rest/auth/HPC", { as: ALICE });
  assert.equal(reply.json().description, "new");
  assert.equal((await served(system, "/health/ready", {})).json().generation, numberOf(next));
  await system.replace("conf/container.properties", main);
  await system.service.reload();
});

testShared("a new core that dies while it starts leaves the previous one in place", async () => {
  const from = workersSoFar();
  const { core } = await present();
  const told = logFromNow(system);
  const reloaded = system.service.reload();
  const next = await startedWorker(/^core /, from);
  next.kill();
  await reloaded;
  await told(/reload failed, the configuration before stays/);
  assert.equal((await system.ask("/health/ready")).json().generation, numberOf(core));
  await system.service.reload();
  assert.equal((await system.ask("/health/ready")).json().generation, numberOf(next) + 1);
});

testShared("a new core that cannot use its files is ended, and the previous one stays", async () => {
  const from = workersSoFar();
  const { core } = await present();
  await Deno.mkdir(`${system.folder}/shares`);
  await Deno.writeTextFile(
    `${system.folder}/shares/shares.sqlite`,
    "no database at all, but quite a long text",
  );
  const told = logFromNow(system);
  const sharing = `share.servers=HPC\npersistence.directory=${system.folder}/shares\n`;
  await system.replace("conf/container.properties", main + sharing);
  await system.service.reload();
  await told(/reload failed, the configuration before stays/);
  assert.equal((await startedWorker(/^core /, from)).ends, 1);
  assert.equal((await system.ask("/health/ready")).json().generation, numberOf(core));
  await system.replace("conf/container.properties", main);
});

testShared("a request in progress survives two replacements of the core and one of the edge", async () => {
  const from = workersSoFar();
  const body = JSON.stringify({ serverPath: "" });
  const caller = await Deno.connectTls({
    hostname: "localhost",
    port: system.port,
    caCerts: [system.authority.certificate],
  });
  const send = (text: string) => caller.write(new TextEncoder().encode(text));
  await send(
    `POST /rest/auth/HPC HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic ${btoa(ALICE.join(":"))}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 3)}`,
  );
  // By the time the edge answers a later client, it has read this much.
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  await system.service.reload();
  await system.service.reload();
  await (await startedWorker(/^core /, from)).ended; // nothing waits for it
  const next = workersSoFar();
  await system.replace("conf/container.properties", await textWithOtherLimits());
  const reloaded = system.service.reload();
  await startedWorker("edge", next);
  await send(body.slice(3));
  const reply = new Uint8Array(10_000);
  const length = await caller.read(reply);
  assert.match(new TextDecoder().decode(reply.subarray(0, length ?? 0)), /^HTTP\/1\.1 200 /);
  caller.close();
  await reloaded;
});

testShared("a reload to a port in use changes nothing, and later reloads work", async () => {
  const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const to = async (more: string) => {
    const told = logFromNow(system);
    await system.replace("conf/container.properties", main + more);
    await system.service.reload();
    return told;
  };
  const shown = async (at: number) => {
    const url = `https://localhost:${at}/rest/auth/HPC`;
    return (await ask(url, system.authority.certificate, { as: ALICE })).json().description;
  };
  const changes = `container.port=${port}\nauthservice.server.HPC.description=moved\n`;
  const failed = await to(changes);
  await failed(/reload failed.*port \d+ on 127\.0\.0\.1 is taken/);
  assert.equal(await shown(system.port), "Server HPC", "nothing of the new configuration is in use");
  const back = await to("");
  await back(/configuration reloaded/);
  assert.equal(await shown(system.port), "Server HPC");

  taken.close();
  await (await to(changes))(/configuration reloaded/);
  assert.equal(await shown(port), "moved");
  await assert.rejects(shown(system.port), /ECONNREFUSED/);
  await (await to(`container.port=${system.port}\n`))(/configuration reloaded/);
  assert.equal(await shown(system.port), "Server HPC");
});

testShared("an edge with other limits replaces the previous one on the same port", async () => {
  const { edge } = await present();
  await system.replace("conf/container.properties", await textWithOtherLimits());
  const told = logFromNow(system);
  await system.service.reload();
  const line = await told(/configuration reloaded|reload failed|cannot be used/);
  assert.match(line, /configuration reloaded/);
  await edge.ended;
  assert.equal((await served(system, "/rest/auth/HPC", { as: ALICE })).status, 200);
});

testShared("an old core ends when the edge that sent it requests dies", async () => {
  const { core: leaving, edge } = await present();
  system.daemon().fault = { kind: "hang-after-request" };
  const arrived = system.daemon().sessionRequests.length + 1;
  const underWay = system.ask("/rest/auth/HPC", POST).catch((error) => error);
  await until(() => system.daemon().sessionRequests.length >= arrived, { everyMs: 5 });
  await system.service.reload();
  const told = logFromNow(system);
  edge.kill();
  assert(await underWay instanceof Error, "its connection went with the edge");
  system.daemon().fault = undefined;
  await leaving.ended;
  await told(/worker replaced what=edge/);
  assert.equal((await served(system, "/rest/auth/HPC", POST)).status, 200);
});

testShared("crashes of the core allow no extra guess", async () => {
  let { core } = await present();
  /** @returns Number of guesses that the service checked before the first 429. */
  const guesses = async (user: string, killAfter: readonly number[]) => {
    for (let looked = 0;; looked++) {
      const { status } = await served(system, "/rest/auth", { as: [user, `guess ${looked}`] });
      if (status === 429) return looked;
      assert.equal(status, 401);
      if (!killAfter.includes(looked + 1)) continue;
      const told = logFromNow(system);
      core.kill(); // right after the answer
      await told(/core died, starting another/);
      core = await startedWorker(`core ${numberOf(core) + 1}`, sharedFrom);
    }
  };
  assert.equal(await guesses(ROLE_ONLY[0], [1, 3]), 6);
  assert.equal(await guesses("stranger", []), 6, "as many as where nothing dies");
  const told = logFromNow(system);
  core.kill();
  await told(/worker replaced what=core/);
  assert.equal(
    (await served(system, "/rest/auth", { as: ROLE_ONLY })).status,
    429,
    "nor is a wait forgotten",
  );
});

/** Service with a metrics page, whose workers keep running until the last test. */
const measuredFrom = workersSoFar();
const measured = await runServiceHere({
  servers: { HPC: [{ maxSessions: 1000 }] },
  properties: { "container.metrics.host": "127.0.0.1", "container.metrics.port": "0" },
});
Deno.test.afterAll(() => measured[Symbol.asyncDispose]());
await settled(measured);

Deno.test("an unhandled rejection is logged and counted, and ends no worker", async () => {
  const system = measured;
  const told = logFromNow(system);
  // Defects after an await: an invalid channel and invalid certificates.
  (await startedWorker("core 1", measuredFrom)).tell({ kind: "channel", port: null });
  await told(/error unhandled rejection error=".*TypeError/);
  const again = logFromNow(system);
  (await startedWorker("edge", measuredFrom)).tell({ kind: "tls", tls: null });
  await again(/error unhandled rejection error=".*TypeError/);

  const port = /port=(\d+)/.exec(await system.logged(/ metrics page /))?.[1];
  const counted = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return ["core", "edge", "supervisor"].map((worker) =>
      new RegExp(`^authserver_unhandled_rejections_total\\{worker="${worker}"\\} (\\d+)$`, "m").exec(text)
        ?.[1]
    ).join(" ");
  };
  await until(async () => await counted() === "1 1 0", { everyMs: 50 });
  assert.equal((await served(system, "/rest/auth/HPC", POST)).status, 200);
  assert.equal((await system.ask("/health/ready")).json().generation, 1);
});

Deno.test("the service measures the stalls of edge and core, sample by sample", async () => {
  const system = measured;
  const port = /port=(\d+)/.exec(await system.logged(/ metrics page /))?.[1];
  const looks = async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return ["core", "edge"].map((worker) =>
      Number(
        new RegExp(`^authserver_core_stall_seconds_count\\{worker="${worker}"\\} (\\d+)$`, "m").exec(text)
          ?.[1] ??
          0,
      )
    );
  };
  await until(async () => (await looks()).every((count) => count >= 20), { everyMs: 1000 });
});

Deno.test("an answered request has its audit line, even if the core dies right after the answer", async () => {
  const from = workersSoFar();
  const system = measured;
  const granted: string[] = [];
  for (let generation = 1; generation <= DEATHS; generation++) {
    const told = logFromNow(system);
    const core = await startedWorker(`core ${generation}`, generation === 1 ? measuredFrom : from);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => served(system, "/rest/auth/HPC", POST)),
    );
    core.kill();
    granted.push(
      ...replies.map(({ status, headers }) => status === 200 ? String(headers["x-request-id"]) : ""),
    );
    await told(/worker replaced what=core/);
  }
  const lines = () => Deno.readTextFile(`${system.folder}/logs/audit.log`);
  await until(async () => {
    const text = await lines();
    return granted.every((id) => id !== "" && text.includes(id));
  }, { what: "a line for each answer" });
});
