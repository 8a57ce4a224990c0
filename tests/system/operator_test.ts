/** Running service as the operator sees and controls it, with the real commands and the real socket. */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { type AuditLine, auditLines } from "../fixtures/audit_lines.ts";
import { runCommand } from "../../src/command/run_command.ts";
import { FAMILIES } from "../../src/metrics/families.ts";
import { recordedIo } from "../command/recorded_io.ts";
import { freePort } from "../fixtures/free_port.ts";
import { ask } from "./ask.ts";
import {
  ALICE,
  ALICE_DN,
  runService,
  settled,
  STRANGER,
  type SystemUnderTest,
  withProperties,
} from "./running_service.ts";

/** Runs a command against the service. */
async function command(system: Pick<SystemUnderTest, "main">, ...args: readonly string[]) {
  const io = recordedIo();
  const status = await runCommand([...args, "--config", system.main], io);
  return { status, out: io.out, err: io.err, json: () => JSON.parse(io.out) };
}

/** Reloads the configuration, and waits until that is done. */
async function reload(system: SystemUnderTest): Promise<void> {
  await system.service.reload();
}

const audited = (system: SystemUnderTest, count: number, wanted?: (line: AuditLine) => boolean) =>
  auditLines(`${system.folder}/logs/audit.log`, { count, ...(wanted && { wanted }) });

const openSession = (system: SystemUnderTest, as: readonly [string, string] = ALICE) =>
  system.ask("/rest/auth/HPC", { as, body: { serverPath: "/" } });

/** User behind `sudo`. */
Deno.env.set("SUDO_USER", "olga");

const events = async (path: string, count: number) =>
  (await auditLines(path, { count })).map(({ event }) => event);

/** Service for most tests; the last of them ends it. */
const system = await runService({
  servers: { HPC: [{ maxSessions: 1000 }] },
  properties: {
    "container.runtimeConfigurationUpdate": "false",
    "container.security.throttling.maxFailures": "2",
    "container.security.throttling.baseDelay": "60",
    "container.metrics.port": "0",
  },
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());
await settled(system);
const main = (await Deno.readTextFile(system.main)).replace(/^container\.metrics.*$/m, "");
/** Adds settings to those of the start without a metrics page, and reloads the configuration. */
const set = async (settings: Readonly<Record<string, string>>) => {
  await system.replace("conf/container.properties", withProperties(main, settings));
  await reload(system);
};

Deno.test("an operator inspects and changes a running service", async (test) => {
  await test.step("status reports the whole state, as text and as JSON", async () => {
    assert.equal((await openSession(system)).status, 200);
    assert.equal((await openSession(system, ["alice", "wrong"])).status, 401);
    await reload(system); // the old core reports its counts at its end
    const { status, json } = await command(system, "status", "--json");
    const answer = json();
    assert.equal(status, 0);
    assert.equal(answer.pid, system.service.pid);
    assert.equal(answer.configuration, system.main);
    assert.equal(answer.port, system.port);
    assert.equal(answer.generation, 2);
    assert.equal(answer.lastReload.ok, true);
    assert.equal(answer.servers[0].name, "HPC");
    assert.equal(answer.certificate.dn, "CN=AUTH,O=Demo,C=EU");
    assert.deepEqual(answer.bans, { passwords: 0, tokens: 0, operator: 0 });
    assert.equal(answer.certificate.endsSoon, false);
    assert.ok(answer.certificate.daysLeft > 0 && answer.memoryBytes > 0);

    const page = await command(system, "status");
    assert.equal(page.status, 0);
    assert.match(page.out, /^last reload\s+20\d\d-\S+ \S+Z, applied$/m);
    assert.match(page.out, /^memory\s+\d+ MiB, /m); // not MB: the bytes are divided by powers of 1024
    assert.match(page.out, /^Servers:\n {2}HPC {2}up {2}127\.0\.0\.1:\d+/m);
  });
  await test.step("the metrics page reports requests, components and problems", async () => {
    const port = /port=(\d+)/.exec(await system.logged(/metrics page port=/))?.[1];
    const scrape = async (path = "/metrics", method = "GET") => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
      return {
        status: response.status,
        type: response.headers.get("Content-Type"),
        text: await response.text(),
      };
    };
    let page = await scrape();
    // Each worker reports its own counts, once a second; a core also at its end.
    const reported = () =>
      page.text.includes("authserver_sessions_total{") && page.text.includes('lag_seconds{worker="edge"}');
    await until(async () => {
      page = await scrape();
      return reported();
    });
    assert.equal(page.status, 200);
    assert.match(page.type ?? "", /^text\/plain; version=0\.0\.4/);
    for (
      const line of [
        /^authserver_sessions_total\{server="HPC",decision="granted"\} 1$/m,
        /^authserver_sessions_total\{server="HPC",decision="refused"\} 1$/m,
        /^authserver_requests_total\{route="\/rest\/auth\/:server",method="POST",code="401"\} 1$/m,
        /^authserver_request_duration_seconds_bucket\{route="\/rest\/auth\/:server",method="POST",le="\+Inf"\} 2$/m,
        /^authserver_authentications_total\{authenticator="PASSWORD",result="refused"\} 1$/m,
        /^authserver_daemon_up\{server="HPC",daemon="1"\} 1$/m,
        /^authserver_daemon_latency_seconds\{server="HPC",daemon="1"\} \d+\.?\d*$/m,
        /^authserver_core_up 1$/m,
        /^authserver_core_generation 2$/m,
        /^authserver_config_last_reload_success 1$/m,
        /^authserver_config_reloads_total\{result="ok"\} 1$/m,
        /^authserver_event_loop_lag_seconds\{worker="core"\} /m,
        /^authserver_event_loop_lag_seconds\{worker="edge"\} /m,
        /^authserver_certificate_start_timestamp_seconds \d{10}$/m,
        /^authserver_certificate_expiry_timestamp_seconds \d{10}$/m,
        /^authserver_build_info\{version="[^"]+",deno="[^"]+"\} 1$/m,
      ]
    ) assert.match(page.text, line);
    for (const line of page.text.split("\n")) {
      const name = /^# TYPE (\S+)/.exec(line)?.[1];
      if (name !== undefined) assert.ok(name in FAMILIES, name);
    }
    assert.equal((await scrape("/")).status, 404);
    assert.equal((await scrape("/rest/auth")).status, 404);
    assert.equal((await scrape("/metrics", "POST")).status, 405);

    // The page follows the configuration, and ends with its setting.
    await set({});
    await assert.rejects(scrape());
  });
  await test.step("status sums the sessions of all cores", async () => {
    const counted = async () => (await command(system, "status", "--json")).json().sessions;
    // Cores report counts once a second, and at their end.
    await until(async () => (await counted()).granted > 0, { everyMs: 20 });
    assert.deepEqual(await counted(), { granted: 1, refused: 1 });
  });
  await test.step("status reports problems, also while the configuration is broken", async () => {
    await set({ "container.port": "x" });
    const { status, out } = await command(system, "status");
    assert.equal(status, 1);
    assert.match(out, /^last reload .*FAILED: .*container\.properties:\d+: container\.port = x/m);
    assert.match(out, /^Problems:\n {2}the configuration on disk is not in use$/m);
    await audited(system, 1, ({ event, decision }) => event === "reload" && decision === "refused");
  });
  await test.step("status reports that a daemon is down, and why", async () => {
    system.daemon().fault = { kind: "close-at-once" };
    await openSession(system);
    const { status, out } = await command(system, "status");
    assert.equal(status, 1);
    assert.match(out, /HPC {2}DOWN {2}127\.0\.0\.1:\d+ {2}\S+/);
    assert.match(out, /no session is possible on HPC/);
    system.daemon().fault = undefined;
  });
  await test.step("bans by the operator take effect at once and survive reloads, until they are lifted", async () => {
    const added = await command(system, "ban", "add", "--user", "alice", "--for", "2h");
    assert.equal(added.status, 0);
    assert.match(added.out, /^User alice banned until 20/);
    assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 429);
    await set({});
    assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 429);
    const listed = await command(system, "ban", "list");
    assert.match(listed.out, /^alice +- +operator +0 +20/m);

    const removed = await command(system, "ban", "remove", "--user", "alice");
    assert.match(removed.out, /^User alice: 1 ban or count removed$/m);
    const nobody = await command(system, "ban", "remove", "--user", "alice");
    assert.deepEqual([nobody.status, nobody.out], [1, ""]);
    assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
    assert.equal((await command(system, "ban", "list")).out, "Nobody is banned\n");
    const events = await audited(system, 2, ({ event }) => event === "ban" || event === "lift");
    assert.deepEqual(events.map(({ event, user, operator }) => [event, user, operator]), [
      ["ban", "alice", "olga"],
      ["lift", "alice", "olga"],
    ]);
    await system.logged(/warn {2}banned by the operator user=alice seconds=7200 operator=olga/);
    await system.logged(/warn {2}bans lifted by the operator user=alice lifted=1 operator=olga/);
  });
  await test.step("failed logins still count after the core is replaced", async () => {
    const guess = async () => (await system.ask("/rest/auth", { as: [STRANGER[0], "wrong"] })).status;
    assert.deepEqual([await guess(), await guess()], [401, 401]);
    await reload(system);
    assert.equal(await guess(), 401); // the third guess, which is not free
    await reload(system);
    assert.equal(await guess(), 429);
    const { out } = await command(system, "ban", "list");
    assert.match(out, /^stranger +127\.0\.0\.1 +passwords +3 /m);
  });
  await test.step("a reload that cannot move the control socket changes nothing, and the log says why", async () => {
    await set({ "container.control.socket": `${system.main}/c.sock` });
    await system.logged(/error configuration diagnostic=".*container\.control\.socket: .* is not a folder"/);
    const io = recordedIo();
    const socket = `${system.folder}/logs/control.sock`;
    assert.equal(await runCommand(["ban", "list", "--socket", socket], io), 0, io.err);
  });
  await test.step("a reload moves, disables and re-enables the control socket", async () => {
    const [first, second] = [`${system.folder}/logs/control.sock`, `${system.folder}/run/c.sock`];
    await set({ "container.control.socket": second });
    assert.equal((await command(system, "ban", "list")).status, 0);
    assert.equal((await Deno.stat(second)).isSocket, true);
    await assert.rejects(Deno.stat(first), Deno.errors.NotFound);

    await set({ "container.control.socket": "-" });
    assert.match((await command(system, "ban", "list")).err, /switches the control socket off/);
    await assert.rejects(Deno.stat(second), Deno.errors.NotFound);

    await set({ "container.control.socket": first });
    assert.equal((await command(system, "ban", "list")).status, 0);
  });
  await test.step("a reload creates a deleted control socket anew", async () => {
    await Deno.remove(`${system.folder}/logs/control.sock`);
    assert.match((await command(system, "ban", "list")).err, /no service listens at/);
    await set({ "container.logging.level": "info" });
    assert.equal((await command(system, "ban", "list")).status, 0);
  });
  await test.step("a reload that moves the metrics page to a port in use changes nothing, and the log says so", async () => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = taken.addr;
    await set({ "container.metrics.port": String(port) });
    await system.logged(new RegExp(`reload failed, .*port ${port} on 127\\.0\\.0\\.1 is taken`));
    assert.equal((await system.ask("/health/ready")).status, 200);
  });
  await test.step("a reload returns once the metrics page has its new port", async () => {
    const status = async (port: number) => {
      const response = await fetch(`http://127.0.0.1:${port}/metrics`);
      await response.body?.cancel();
      return response.status;
    };
    const before = system.log.length;
    const [one, other] = [freePort(), freePort()];
    await set({ "container.metrics.port": String(one) });
    assert.equal(await status(one), 200);
    await set({ "container.metrics.port": String(other) });
    assert.equal(await status(other), 200);
    await assert.rejects(status(one));
    assert.doesNotMatch(system.log.slice(before).join("\n"), /control socket/, "which stayed where it was");
  });
  await test.step("a reload exchanges the ports of service and metrics page", async () => {
    const served = async (port: number) => {
      const url = `https://localhost:${port}/health/live`;
      return (await ask(url, system.authority.certificate)).status;
    };
    const [port, page] = [freePort(), freePort()];
    for (const [service, metrics] of [[port, page], [page, port], [port, page]] as const) {
      await set({ "container.port": String(service), "container.metrics.port": String(metrics) });
      assert.equal(await served(service), 200);
      const response = await fetch(`http://127.0.0.1:${metrics}/metrics`);
      assert.match(await response.text(), /authserver_/);
    }
    await set({ "container.port": String(system.port) });
    assert.equal(await served(system.port), 200);
  });
  await test.step("a reload that gives both the same port keeps the connections, also if one host is a name", async () => {
    const before = system.log.length;
    await set({ "container.port": String(system.port), "container.metrics.port": String(system.port) });
    await system.logged(/container\.metrics\.port: is container\.port, too/);
    assert.doesNotMatch(system.log.slice(before).join("\n"), /edge died/);
    assert.equal((await system.ask("/health/ready")).status, 200);
  });
  await test.step("a reload moves log and audit stream to other files, and changes the level of every worker's log", async () => {
    const old = `${system.folder}/logs/authserver.log`;
    await set({
      "container.logging.file": `${system.folder}/elsewhere/service.log`,
      "container.logging.level": "debug",
    });
    const before = await Deno.readTextFile(old);
    const id = (await openSession(system)).headers["x-request-id"];
    using stranger = await Deno.connect({ hostname: "localhost", port: system.port });
    await stranger.write(new TextEncoder().encode("no TLS"));
    await system.logged(/ debug TLS handshake failed/); // a line of the edge
    assert.equal(await Deno.readTextFile(old), before);
    const log = await Deno.readTextFile(`${system.folder}/elsewhere/service.log`);
    assert.match(log, /settings changed keys="?container\.logging\.file container\.logging\.level/);
    // The audit stream is beside the log file, since no setting says otherwise.
    assert.deepEqual(await events(`${system.folder}/elsewhere/audit.log`, 2), ["reload", "session"]);
    const known = await audited(system, 1);
    assert.equal(known.filter(({ request }) => request === id).length, 0);

    await set({
      "container.logging.file": `${system.folder}/elsewhere/service.log`,
      "container.audit.file": `${system.folder}/decisions`,
      "container.logging.level": "error",
    });
    const lines = system.log.length;
    await openSession(system);
    // The core sends lines in batches.
    assert.deepEqual(await events(`${system.folder}/decisions`, 2), ["reload", "session"]);
    assert.deepEqual(system.log.slice(lines).filter((line) => !line.includes(" error ")), []);
  });
  await test.step("unwritten audit lines go to the file that a reload configures", async () => {
    const path = `${system.folder}/decisions`;
    await Deno.remove(path);
    await Deno.mkdir(path); // blocks the file, within a second
    await until(async () => {
      await openSession(system);
      return system.log.some((line) => line.includes("audit lines not written"));
    }, { what: "audit lines are not written", everyMs: 20 });
    await set({ "container.audit.file": `${system.folder}/late` });
    assert.deepEqual(new Set(await events(`${system.folder}/late`, 2)), new Set(["session", "reload"]));
  });
});

Deno.test("log and audit stream show the user of a failed login if known, else a digest", async () => {
  await set({});
  const names: string[] = [];
  const ids: unknown[] = [];
  for (const user of ["alice", "my-pa55word"]) {
    const request = { as: [user, "wrong-one"] as const, body: { serverPath: "" } };
    const { requestId } = (await system.ask("/rest/auth/HPC", request)).json();
    ids.push(requestId);
    const line = await system.logged(new RegExp(`request answered request=${requestId}`));
    names.push(/ user=(\S+)/.exec(line)?.[1] ?? line);
  }
  assert.equal(names[0], "alice");
  assert.match(names[1] ?? "", /^unknown-[0-9a-f]{8}$/);
  await system.logged(new RegExp(`audit session .*user=${names[1]} `));
  const told = await audited(system, 2, ({ event, request }) => event === "session" && ids.includes(request));
  assert.deepEqual(
    told.map(({ user, reason }) => [user, reason]),
    names.map((name) => [name, "ERR_UNAUTHENTICATED"]),
  );
  assert(!system.log.join().includes("my-pa55word"));
});

Deno.test("only the service's user and group can read log and audit stream", async () => {
  await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  await audited(system, 1);
  for (const name of ["authserver.log", "audit.log"]) {
    assert.equal(((await Deno.stat(`${system.folder}/logs/${name}`)).mode ?? 0) & 0o777, 0o640, name);
  }
});

Deno.test("user show prints the answers of daemons, without keys", async () => {
  const known = await command(system, "user", "show", "alice");
  assert.equal(known.status, 0, known.err);
  assert.match(known.out, /^HPC: {2}\//m);
  assert.doesNotMatch(known.out, /AAAA/);
  const unknown = await command(system, "user", "show", "nobodyhere");
  assert.equal(unknown.status, 1);
  assert.match(unknown.out, /HPC: {2}no such account/);
});

Deno.test("container.logging.format=json writes one object per line, also for messages of the workers", async () => {
  const file = `${system.folder}/json/authserver.log`;
  await set({ "container.logging.format": "json", "container.logging.file": file });
  await system.ask("/rest/auth", { as: ALICE });
  const answered = async () =>
    (await Deno.readTextFile(file)).trimEnd().split("\n").map((line) => JSON.parse(line))
      .find(({ message, route }) => message === "request answered" && route === "/rest/auth");
  await until(async () => await answered() !== undefined, { everyMs: 10 });
  const found = await answered();
  assert.deepEqual([found.level, found.status, found.client], ["info", 200, "127.0.0.1"]);
});

Deno.test("each decision has one audit line, across reloads and log rotation; only its owner can use the control socket, which is removed at the end", async () => {
  await set({});
  const path = `${system.folder}/logs/control.sock`;
  const { mode, isSocket } = await Deno.stat(path);
  assert.deepEqual([isSocket, (mode ?? 0) & 0o777], [true, 0o600]);
  const replies = [await openSession(system), await openSession(system, ["alice", "wrong"])];
  const [during] = await Promise.all([openSession(system), reload(system)]);
  const ids = [...replies, during].map(({ headers }) => headers["x-request-id"]);
  await Deno.rename(`${system.folder}/logs/audit.log`, `${system.folder}/logs/audit.log.1`);
  system.service.stop();
  await system.service.stopped;
  const rotated = await Deno.readTextFile(`${system.folder}/logs/audit.log.1`);
  const rest = await Deno.readTextFile(`${system.folder}/logs/audit.log`).catch(() => "");
  const lines = `${rotated}${rest}`.trimEnd().split("\n").map((line) => JSON.parse(line));
  const sessions = lines.filter(({ event, request }) => event === "session" && ids.includes(request));
  assert.deepEqual(sessions.map(({ decision }) => decision).toSorted(), ["granted", "granted", "refused"]);
  const granted = sessions.find(({ decision }) => decision === "granted");
  assert.deepEqual(
    { ...granted, time: "", request: "", daemon: "" },
    {
      time: "",
      event: "session",
      decision: "granted",
      request: "",
      action: "POST /rest/auth/:server",
      client: "127.0.0.1",
      dn: ALICE_DN,
      method: "PASSWORD",
      server: "HPC",
      instance: 1,
      daemon: "",
      uid: "alice",
      gid: "hpc",
    },
  );
  assert.deepEqual(lines.map(({ event }) => event).filter((event) => event === "start" || event === "stop"), [
    "start",
    "stop",
  ]);
  await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  const { status, err } = await command(system, "status");
  assert.equal(status, 3);
  assert.match(err, /no service listens at .*control\.sock/);
  assert.equal((await command(system, "ban", "list")).status, 1);
});

Deno.test("the service does not start if the port of the metrics page is in use, and says so", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = taken.addr.port;
  await assert.rejects(
    runService({ properties: { "container.metrics.port": String(port) } }),
    (error: Error) => {
      assert.match(error.message, new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken`));
      return true;
    },
  );
});
