/** Tests changes of workers in sequence, each from the state after the previous one, and the stop. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, request } from "node:https";
import { setImmediate } from "node:timers/promises";
import { inTime, until } from "../fixtures/deadline.ts";
import { freePort } from "../fixtures/free_port.ts";
import { ask, type Reply } from "../system/ask.ts";
import { LogFile } from "../../src/logging/log_file.ts";
import { metricsPage } from "../../src/workers/service_status.ts";
import { Supervisor } from "../../src/workers/supervisor.ts";
import { loadSnapshot, type Snapshot } from "../../src/service/assembly/load_snapshot.ts";
import { ALICE, createSite, type Site } from "../system/running_service.ts";
import { startedWorker, workersSoFar } from "../system/worker_spy.ts";

async function snapshotOf(site: Site, changed: (main: string) => string): Promise<Snapshot> {
  const main = await Deno.readTextFile(site.main);
  await site.replace("conf/other.properties", changed(main));
  const { snapshot, diagnostics } = await loadSnapshot(`${site.folder}/conf/other.properties`, {
    environment: () => undefined,
  });
  assert(snapshot !== undefined, JSON.stringify(diagnostics));
  return snapshot;
}

/** Waits more turns of the event loop than any immediate work needs. */
async function aWhile() {
  for (let i = 0; i < 50; i++) await setImmediate();
}

Deno.test("Supervisor.reload() waits for an earlier reload or renewal, and the last one takes effect", async () => {
  await using site = await createSite();
  const snapshot = await snapshotOf(site, (main) => main);
  const { material } = snapshot;
  assert(material !== undefined);
  const at = (host: string) => snapshotOf(site, (main) => main.replace(/(commandHost)=.*/, `$1=${host}`));
  const slow = await at("slow.invalid");
  const quick = await at("quick.invalid");
  const looked: string[] = [];
  const begun = Promise.withResolvers<void>();
  const free = Promise.withResolvers<void>();
  const lines: string[] = [];
  const supervisor = await Supervisor.start(snapshot, {
    logFile: new LogFile(undefined, (text) => void lines.push(text)),
    resolve: async (host) => {
      if (host.endsWith(".invalid")) looked.push(host);
      if (host === "slow.invalid") {
        begun.resolve();
        await free.promise;
      }
      return ["127.0.0.1"];
    },
  });
  try {
    const first = supervisor.reload(slow);
    await begun.promise;
    const second = supervisor.reload(quick);
    const renewed = supervisor.renewTls(material);
    await aWhile();
    assert.deepEqual(looked, ["slow.invalid"], "the second begins when the first is over");
    assert(!lines.some((line) => /certificates renewed/.test(line)), "so does a renewal");
    free.resolve();
    await Promise.all([first, second, renewed]);
    assert.deepEqual(looked, ["slow.invalid", "quick.invalid"]);
    assert.deepEqual(
      lines.join("").match(/configuration reloaded generation=\d|certificates renewed/g),
      ["configuration reloaded generation=2", "configuration reloaded generation=3", "certificates renewed"],
    );
  } finally {
    await supervisor.stop();
  }
});

Deno.test("Supervisor replaces a core only when the edge uses the new one, and an edge only if its ports are free", async (t) => {
  await using site = await createSite();
  const snapshot = await snapshotOf(site, (main) => main);
  const [from, lines] = [workersSoFar(), new Array<string>()];
  const supervisor = await Supervisor.start(snapshot, {
    logFile: new LogFile(undefined, (text) => void lines.push(text)),
  });
  const edge = await startedWorker("edge", from);
  try {
    await t.step("reload() ends only then", async () => {
      const held = edge.hold();
      let isOver = false;
      const reload = supervisor.reload(snapshot).then(() => isOver = true);
      await until(() => held.kinds.includes("core"), { what: "the edge is to use the new core" });
      await aWhile();
      assert.equal(isOver, false);
      held.release();
      await inTime(reload, "the end of the reload");
    });

    await t.step("a core that died is reported as replaced only then", async () => {
      const isReplaced = () => lines.some((line) => line.includes("worker replaced what=core"));
      const held = edge.hold();
      (await startedWorker("core 2", from)).kill();
      await until(() => held.kinds.includes("core"), { what: "the edge is to use the new core" });
      await aWhile();
      assert.equal(isReplaced(), false);
      held.release();
      await until(isReplaced, { what: "the core is replaced" });
    });

    await t.step("reload() to an occupied port fails before any connection is refused", async () => {
      using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const metrics = `container.metrics.host=127.0.0.1\ncontainer.metrics.port=${taken.addr.port}\n`;
      const other = await snapshotOf(site, (main) => main + metrics);
      const finish = await begunRequest(site, supervisor.port);
      await assert.rejects(supervisor.reload(other), /is taken by another process/);
      const { status } = await ask(
        `https://localhost:${supervisor.port}/health/live`,
        site.authority.certificate,
      );
      assert.deepEqual([status, await finish()], [200, 200]);
    });
  } finally {
    await supervisor.stop();
  }
});

Deno.test("Supervisor.reload() forgets an edge that has ended, so that stop() does not end it again", async () => {
  await using site = await createSite();
  const snapshot = await snapshotOf(site, (main) => main);
  const other = await snapshotOf(site, (main) => `${main}container.httpServer.disabledProtocols=TLSv1.2\n`);
  const [from, lines] = [workersSoFar(), new Array<string>()];
  const supervisor = await Supervisor.start(snapshot, {
    logFile: new LogFile(undefined, (text) => void lines.push(text)),
  });
  const before = await startedWorker("edge", from);
  const next = workersSoFar();
  try {
    await supervisor.reload(other);
    await before.ended;
    await aWhile();
  } finally {
    await supervisor.stop();
  }
  assert.equal(before.ends, 1);
  assert((await startedWorker("edge", next)).ends > 0);
});

/** Repeats a request until it is answered: a worker being replaced accepts no connections for a moment. */
async function answered(port: number, site: Site, path: string): Promise<Reply> {
  const once = async () => {
    // A separate agent asks to keep the connection.
    const agent = new Agent({ keepAlive: true });
    return await ask(`https://localhost:${port}${path}`, site.authority.certificate, { agent })
      .catch(() => undefined).finally(() => agent.destroy());
  };
  let reply: Reply | undefined;
  await until(async () => reply = await once(), { what: `${path} is answered` });
  if (reply === undefined) throw new Error(`no answer of ${path}`);
  return reply;
}

Deno.test("Supervisor.leave() also applies to replacements of workers", async () => {
  await using site = await createSite();
  const from = workersSoFar();
  const supervisor = await Supervisor.start(await snapshotOf(site, (main) => main), {
    logFile: new LogFile(undefined, () => {}),
  });
  const { port } = supervisor;
  const accountStatus = async (path: string) => {
    const { headers, text } = await answered(port, site, path);
    return [headers.connection, JSON.parse(text).code];
  };
  try {
    assert.deepEqual(await accountStatus("/health/live"), ["keep-alive", undefined]);
    await supervisor.leave(0);
    const drains = async () => String(await accountStatus("/health/ready")) === "close,ERR_DRAINING";
    await until(drains, { what: "all workers drain" });
    for (const name of ["edge", "core 1"]) {
      const next = workersSoFar();
      (await startedWorker(name, from)).kill();
      await startedWorker(name === "edge" ? "edge" : "core 2", next);
      await until(drains, { what: `the new ${name} drains` });
    }
  } finally {
    await supervisor.stop();
  }
});

Deno.test("Supervisor.stop() ends an edge that is about to replace another", async () => {
  await using site = await createSite();
  const other = await snapshotOf(site, (main) => `${main}container.httpServer.disabledProtocols=TLSv1.2\n`);
  const supervisor = await Supervisor.start(await snapshotOf(site, (main) => main), {
    logFile: new LogFile(undefined, () => {}),
  });
  const next = workersSoFar();
  const reloading = supervisor.reload(other);
  const refused = assert.rejects(reloading, /shutting down/);
  const edge = await startedWorker("edge", next);
  await supervisor.stop();
  await refused;
  await edge.ended;
});

/** Begins a session request without its body. @returns Function that sends it and returns the status. */
async function begunRequest(site: Site, port: number): Promise<() => Promise<number | undefined>> {
  const body = JSON.stringify({ serverPath: "" });
  const sent = request(`https://localhost:${port}/rest/auth/HPC`, {
    method: "POST",
    auth: ALICE.join(":"),
    ca: site.authority.certificate,
    agent: false,
    headers: { "Content-Type": "application/json", "Content-Length": body.length, Expect: "100-continue" },
  });
  const answered = once(sent, "response").catch(() => []);
  sent.flushHeaders();
  await inTime(once(sent, "continue"), "100 Continue");
  return async () => {
    sent.end(body);
    const [answer] = await inTime(answered, "the answer");
    answer?.resume();
    return answer?.statusCode;
  };
}

Deno.test("Supervisor.stop() also waits for requests of an edge whose successor has begun", async () => {
  await using site = await createSite();
  const other = await snapshotOf(site, (main) => `${main}container.httpServer.maxConnections=900\n`);
  const supervisor = await Supervisor.start(await snapshotOf(site, (main) => main), {
    logFile: new LogFile(undefined, () => {}),
  });
  const finish = await begunRequest(site, supervisor.port);
  await supervisor.reload(other);
  const stopped = supervisor.stop();
  await aWhile();
  assert.equal(await finish(), 200);
  await stopped;
});

Deno.test("Supervisor.reload() lets the transfers of a replaced edge continue for a day, not only as a stop does", async () => {
  await using site = await createSite();
  const from = workersSoFar();
  const supervisor = await Supervisor.start(await snapshotOf(site, (main) => main), {
    logFile: new LogFile(undefined, () => {}),
  });
  try {
    const held = (await startedWorker("edge", from)).hold();
    const port = freePort();
    await supervisor.reload(await snapshotOf(site, (main) => `${main}container.port=${port}\n`));
    const drain = held.messages.find(({ kind }) => kind === "drain");
    assert.equal(drain?.withinMs, 24 * 3600_000);
    held.release();
  } finally {
    await supervisor.stop();
  }
});

Deno.test("metricsPage() shows whether there is a core", async () => {
  await using site = await createSite();
  const supervisor = await Supervisor.start(await snapshotOf(site, (main) => main), {
    logFile: new LogFile(undefined, () => {}),
  });
  const page = () => metricsPage(supervisor);
  assert.match(await page(), /^authserver_core_up 1$/m);
  await supervisor.stop();
  assert.match(await page(), /^authserver_core_up 0$/m);
});

Deno.test("Supervisor.stop() waits until the journal has received all audit lines", async () => {
  await using site = await createSite();
  const snapshot = await snapshotOf(site, (main) => `${main}container.audit.journal=true\n`);
  const path = `${site.folder}/journal`;
  const listener = Deno.listen({ transport: "unix", path });
  const taken = (async () => {
    for await (const connection of listener) return await new Response(connection.readable).text();
  })();
  const free = Promise.withResolvers<void>();
  const { connect } = Deno;
  // The journal is slow to accept connections.
  const slow = async () => {
    await free.promise;
    return await connect({ transport: "unix", path });
  };
  Reflect.set(
    Deno,
    "connect",
    (options: { readonly path?: string }) =>
      options.path === "/run/systemd/journal/stdout" ? slow() : Reflect.apply(connect, Deno, [options]),
  );
  try {
    const stopping = Promise.withResolvers<void>();
    const supervisor = await Supervisor.start(snapshot, {
      logFile: new LogFile(undefined, (text) => / stopped$/m.test(text) && stopping.resolve()),
    });
    let over = false;
    const stopped = supervisor.stop().then(() => over = true);
    await stopping.promise;
    await aWhile();
    assert.equal(over, false);
    free.resolve();
    await stopped;
    assert.match(await taken ?? "", /"event":"start".*\n.*"event":"stop"/);
  } finally {
    Reflect.set(Deno, "connect", connect);
  }
});
