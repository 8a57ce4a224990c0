import assert from "node:assert/strict";
import { AuditStream } from "../../src/logging/audit_stream.ts";
import { createLogger } from "../../src/logging/logger.ts";
import { Sink } from "../../src/logging/sink.ts";
import { loadSnapshot, type Snapshot } from "../../src/service/assembly/load_snapshot.ts";
import { syslogServer } from "../../src/workers/syslog_server.ts";
import { until } from "../fixtures/deadline.ts";
import { type LogServer, startLogServer } from "../fixtures/log_server.ts";
import { createAuthority } from "../pki/authority.ts";
import { createSite } from "../system/running_service.ts";

const authority = createAuthority({ subject: "CN=Log CA" });
await using site = await createSite({ authority });
const { snapshot } = await loadSnapshot(site.main, { environment: () => undefined });
assert.ok(snapshot);
const SNAPSHOT: Snapshot = snapshot;

const LINE = JSON.stringify({ time: "2026-01-05T09:15:00.123Z", event: "session", dn: "CN=Zoë" });

/** Returns an audit sink that sends lines to a log server. */
function subject({ port }: Pick<LogServer, "port">, { hostName = "auth1", writeMs = 10_000 } = {}) {
  const log: string[] = [];
  const logger = createLogger((line) => void log.push(line.slice(25)));
  const receiver = syslogServer({
    address: `tls://localhost:${port}`,
    hostName,
    log: logger,
    snapshot: () => SNAPSHOT,
    writeMs,
  });
  const sink = new Sink("audit", logger);
  return { audit: new AuditStream(receiver, sink), log, sink };
}

Deno.test("syslogServer() sends each line as an octet-counted message, in order, including the last before the end", async () => {
  await using server = await startLogServer(authority);
  const { audit } = subject(server);
  const lines = Array.from({ length: 500 }, (_, i) => LINE.replace("session", `session ${i}`));
  audit.write(lines.slice(0, 1));
  audit.write(lines.slice(1));
  assert.deepEqual(await audit.close(), []);
  await server.has("session 499");
  assert.deepEqual(server.messages.map((parts) => parts.at(-1)), lines);
  const expected = ["110", "2026-01-05T09:15:00.123Z", "auth1", "authserver", `${Deno.pid}`, "audit"];
  assert.deepEqual(server.messages[0]?.slice(0, -1), expected);
});

Deno.test("syslogServer() writes a host name that RFC 5424 permits, and omits an unknown time", async () => {
  await using server = await startLogServer(authority);
  for (
    const [hostName, expected] of [["hö st\n1", "hst1"], ["ü", "-"], [
      "a".repeat(300),
      "a".repeat(255),
    ]] as const
  ) {
    const { audit } = subject(server, { hostName });
    audit.write(["no JSON"]);
    await audit.close();
    await until(() => server.messages.some((parts) => parts[2] === expected));
  }
  assert.equal(server.messages[0]?.[1], "-");
});

Deno.test("syslogServer() buffers lines while there is no server, and sends them in order", async () => {
  const before = await startLogServer(authority);
  const { port } = before;
  const { audit, log, sink } = subject(before);
  audit.write(["a"]);
  await before.has("a");
  await before[Symbol.asyncDispose]();
  await until(() => {
    audit.write(["b"]); // until the sink notices the end of the connection
    return sink.failing;
  }, { everyMs: 20 });
  audit.write(["c"]);
  await using server = await startLogServer(authority, { port });
  await until(() => {
    audit.retry(); // as the supervisor does from time to time
    return server.messages.some((parts) => parts.at(-1) === "c");
  });
  assert.deepEqual(await audit.close(), []);
  const texts = server.messages.map((parts) => parts.at(-1));
  assert.deepEqual([texts[0], texts.at(-1)], ["b", "c"]);
  assert.match(log.join(""), /^error audit lines not written to=tls:\/\/localhost:\d+ error=/);
  assert.match(log.join(""), /warn +audit lines written again lost=0/);
});

const OTHERS = createAuthority({ subject: "CN=Other CA" });

for (
  const [what, start, reason] of [
    ["another authority issued", () => startLogServer(OTHERS), /no trusted authority signed/],
    [
      "is for another host",
      () => startLogServer(authority, { names: ["other.example"] }),
      /for another host/,
    ],
  ] as const
) {
  Deno.test(`syslogServer() sends nothing to a server whose certificate ${what}`, async () => {
    await using server = await start();
    const { audit, log } = subject(server);
    audit.write([LINE]);
    await until(() => log.length > 0);
    assert.match(log.join(""), reason);
    assert.deepEqual(await audit.close(), [LINE]);
    assert.deepEqual(server.messages, []);
  });
}

Deno.test("syslogServer() abandons a server that does not read lines in time", async () => {
  const { certificate: cert, key } = authority.issue({ subject: "CN=log server", names: ["localhost"] });
  const listener = Deno.listenTls({ hostname: "localhost", port: 0, cert, key });
  const shaken = (async () => {
    const connection = await listener.accept();
    await connection.handshake();
    return connection;
  })();
  const { audit, log } = subject(listener.addr, { writeMs: 200 });
  const lines = Array.from({ length: 9000 }, (_, i) => `${i} ${"x".repeat(2000)}`);
  audit.write(lines);
  const connection = await shaken;
  await until(() => log.length > 0);
  assert.match(log.join(""), /audit lines not written.*the log server took no line within 200 ms/);
  listener.close();
  const left = await audit.close();
  assert.ok(left.length > 1000 && left.at(-1) === lines.at(-1), `${left.length}`);
  connection.close();
});
