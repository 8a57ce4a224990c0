/** Service behind a load balancer that forwards TCP (proxy-protocol.txt), also while an instance ends. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent } from "node:https";
import { connect, createServer } from "node:net";
import { runCommand } from "../../src/command/run_command.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { note } from "../faults/fault_table.ts";
import { until } from "../fixtures/deadline.ts";
import { ask } from "./ask.ts";
import { ALICE, createSite, runAt, type SystemUnderTest } from "./running_service.ts";

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

async function command(...args: readonly string[]) {
  const io = recordedIo();
  const status = await runCommand(args, io);
  return { status, err: io.err };
}

/** Creates a site behind a balancer. @param seconds Time for which its service drains. */
const behindBalancer = (seconds: number) =>
  createSite({
    properties: {
      "container.httpServer.proxyProtocol.trustedPeers": `192.0.2.99 ${BALANCER}`,
      "container.drainSeconds": String(seconds),
    },
  });

Deno.test("daemons, logs and limits see the real address of a client behind a load balancer, and a drained service ends like any other", async () => {
  await using site = await behindBalancer(1);
  const system = await runAt(site);
  using near = await balancerFor("192.0.2.7", system);
  using far = await balancerFor("192.0.2.8", system);
  assert.equal((await near.ask("/rest/auth/HPC", SESSION)).status, 200);
  const order = system.daemon().sessionRequests.at(-1);
  assert.equal(order?.get("client-ip"), "192.0.2.7,::ffff:192.0.2.7");
  await system.logged(/audit session .*client=192\.0\.2\.7/);
  await system.logged(/request answered .*client=192\.0\.2\.7/);
  const ban = await command("ban", "add", "--address", "192.0.2.7", "--for", "1h", "--config", system.main);
  assert.equal(ban.status, 0, ban.err);
  assert.equal((await near.ask("/rest/auth/HPC", SESSION)).status, 429);
  assert.equal((await far.ask("/rest/auth/HPC", SESSION)).status, 200);
  assert.equal((await system.ask("/rest/auth/HPC", SESSION)).status, 200, "and others without a balancer");

  system.agent.destroy();
  system.service.stop();
  await system.logged(/draining, still serving/);
  await system.service.stopped;
  assert.match(await Deno.readTextFile(`${site.folder}/logs/authserver.log`), /shutting down\n.* stopped\n$/);
});

Deno.test("a draining service fails health checks, and still serves all other requests", async () => {
  const site = await behindBalancer(3600);
  const system = await runAt(site);
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
  const reload = await command("reload", "--config", system.main);
  assert.notEqual(reload.status, 0);
  assert.match(reload.err, /shutting down/);
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
