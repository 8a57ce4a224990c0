/** Service behind a load balancer that forwards TCP (proxy-protocol.txt), also while an instance ends. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent } from "node:https";
import { connect, createServer } from "node:net";
import { note } from "../faults/fault_table.ts";
import { until } from "../fixtures/deadline.ts";
import { ask } from "./ask.ts";
import { ALICE, createSite, runAt, runService, type Site, type SystemUnderTest } from "./running_service.ts";
import { runAuthserver } from "./service_process.ts";

const BALANCER = "127.0.0.9";
const SESSION = { as: ALICE, body: { serverPath: "" } } as const;

/** Starts a balancer that reports this address as the client of each connection. */
async function balancerFor(client: string, { port, authority }: SystemUnderTest) {
  const server = createServer((inside) => {
    const outside = connect({ host: "127.0.0.1", port, localAddress: BALANCER });
    outside.write(`PROXY TCP4 ${client} 192.0.2.1 40000 9000\r\n`);
    inside.pipe(outside).pipe(inside);
    for (const [one, other] of [[inside, outside], [outside, inside]] as const) {
      one.on("error", () => other.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert(typeof address === "object" && address !== null);
  return {
    ask: (path: string, question = {}) =>
      ask(`https://localhost:${address.port}${path}`, authority.certificate, question),
    [Symbol.dispose]: () => void server.close(),
  };
}

Deno.test("daemons, logs and limits see the real address of a client behind a load balancer", async () => {
  await using system = await runService({
    properties: {
      "container.httpServer.proxyProtocol.trustedPeers": `192.0.2.99 ${BALANCER}`,
    },
  });
  using near = await balancerFor("192.0.2.7", system);
  using far = await balancerFor("192.0.2.8", system);
  assert.equal((await near.ask("/rest/auth/HPC", SESSION)).status, 200);
  const order = system.daemon().sessionRequests.at(-1);
  assert.equal(order?.get("client-ip"), "192.0.2.7,::ffff:192.0.2.7");
  await system.logged(/audit session .*client=192\.0\.2\.7/);
  await system.logged(/request answered .*client=192\.0\.2\.7/);
  const ban = runAuthserver(["ban", "add", "--address", "192.0.2.7", "--for", "1h", "--config", system.main]);
  assert.equal(await ban.ended, 0);
  assert.equal((await near.ask("/rest/auth/HPC", SESSION)).status, 429);
  assert.equal((await far.ask("/rest/auth/HPC", SESSION)).status, 200);
  assert.equal((await system.ask("/rest/auth/HPC", SESSION)).status, 200, "and others without a balancer");
});

async function draining(site: Site, seconds: number) {
  await site.replace(
    "conf/container.properties",
    `${await Deno.readTextFile(site.main)}container.drainSeconds=${seconds}\n`,
  );
  return await runAt(site);
}

Deno.test("a draining service fails health checks, and still serves all other requests", async () => {
  const site = await createSite();
  const system = await draining(site, 3600);
  assert.equal((await system.ask("/health/ready")).status, 200);
  Deno.kill(system.service.pid, "SIGTERM");
  await system.logged(/draining, still serving seconds=3600/);
  await until(async () => (await system.ask("/health/ready")).status !== 200, { what: "the core drains" });
  const ready = await system.ask("/health/ready");
  const { ready: isReady, code, errorMessage, servers } = ready.json();
  assert.deepEqual([ready.status, isReady, code, servers], [503, false, "ERR_DRAINING", {
    total: 1,
    usable: 1,
  }]);
  assert.match(String(errorMessage), /draining/);
  assert.equal((await system.ask("/health/live")).status, 200);
  const agent = new Agent({ keepAlive: true }); // requests a persistent connection
  const session = await system.ask("/rest/auth/HPC", { ...SESSION, agent });
  assert.deepEqual([session.status, session.headers.connection], [200, "close"]);
  agent.destroy();
  const reload = runAuthserver(["reload", "--config", system.main]);
  assert.notEqual(await reload.ended, 0);
  assert.match(reload.printed, /shutting down/);
  note({
    section: "Process",
    fault: "an instance behind a load balancer is told to stop, with `container.drainSeconds`",
    caller:
      "everybody is served meanwhile; health checks get 503 with `ERR_DRAINING`, and open connections end with their answer",
    log: "`draining, still serving`",
    after:
      "a reload is refused; when the time has passed, requests under way are finished and the service ends",
  });
  Deno.kill(system.service.pid, "SIGKILL");
  await assert.rejects(system.service.stopped);
  await site[Symbol.asyncDispose]();
});

Deno.test("a drained service ends like any other service", async () => {
  await using site = await createSite();
  const system = await draining(site, 1);
  system.service.stop();
  await system.logged(/draining, still serving/);
  await system.service.stopped;
  assert.match(await Deno.readTextFile(`${site.folder}/logs/authserver.log`), /shutting down\n.* stopped\n$/);
});
