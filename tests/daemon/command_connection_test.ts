import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { LONG } from "../long/results.ts";
import {
  type CommandSocket,
  exchange,
  type ExchangeLimits,
  MAX_REPLY_BYTES,
  type Predecessor,
} from "../../src/daemon/command_connection.ts";
import { encodePing } from "../../src/daemon/encode_command.ts";
import {
  describeFailure,
  type Exchange,
  type Failure,
  failure,
  type Fault,
} from "../../src/daemon/exchange.ts";
import type { CommandFault } from "../daemon_simulator/command_fault.ts";
import { type DaemonSimulator, startDaemon } from "../daemon_simulator/daemon.ts";
import { type Authority, createAuthority, type Credential } from "../pki/authority.ts";
import { authority, commandSocket, daemons, material, ours, startTlsDaemon } from "./setting.ts";

/** Number of interrupted connections to each daemon. */
const ROUNDS = LONG ? 200 : 40;

const LIMITS: ExchangeLimits = { connect: 20_000, handshake: 20_000, reply: 20_000 }; // never reached

function ping(
  socket: CommandSocket,
  { limits = {}, signal = new AbortController().signal, request = encodePing(), previous }: {
    limits?: Partial<ExchangeLimits>;
    signal?: AbortSignal;
    request?: string;
    previous?: Predecessor;
  } = {},
): Promise<Exchange> {
  return exchange(socket, request, {
    limits: () => ({ ...LIMITS, ...limits }),
    signal,
    clock: Date.now,
    previous,
  });
}

function assertFailed(result: Exchange, fault: Fault, phase: "before" | "after", fact?: string) {
  assert(result.kind === "failed", `${fact}: answered`);
  assert.deepEqual([result.fault, result.phase], [fault, phase], `${fact}: ${describeFailure(result)}`);
}

/** Returns the last request before its own ping: the daemon serves one connection after the other. */
async function lastRequest(daemon: DaemonSimulator, socket: CommandSocket): Promise<string> {
  assertAnswered(await ping(socket), "asking once more");
  return new TextDecoder().decode(daemon.requests.at(-2)?.raw);
}

const VERSION = "Version: 3.5.3\nListenPort: ";

function assertAnswered(result: Exchange, fact?: string) {
  assert(result.kind === "answered", `${fact}: ${result.kind === "failed" ? describeFailure(result) : ""}`);
  assert.equal(result.reply.slice(0, VERSION.length), VERSION, fact);
}

Deno.test("exchange() returns the reply, over TLS and plain TCP, with and without close_notify", async () => {
  await using secure = await startTlsDaemon();
  await using plain = await startDaemon();
  for (const closeNotify of [false, true]) {
    secure.closeNotify = plain.closeNotify = closeNotify;
    assertAnswered(await ping(commandSocket(secure)));
    assertAnswered(await ping({ host: plain.host, port: plain.commandPort }));
  }
  assert.equal(secure.connections, 2);
});

Deno.test("exchange() accepts daemon certificates with chains of any length, without a subject, with every key type", async () => {
  const middle = authority.subordinate({ subject: "CN=Middle,O=Demo,C=EU" });
  const chained = middle.issue({ subject: "CN=UFTPD" });
  const lower = middle.subordinate({ subject: "CN=Lower" });
  const lowest = lower.subordinate({ subject: "CN=Lowest" });
  const deep = lowest.issue({ subject: "CN=UFTPD" });
  const chain = [deep, lowest, lower, middle].map(({ certificate }) => certificate).join("");
  const shown = [
    { certificate: chained.certificate + middle.certificate, key: chained.key },
    { certificate: chain, key: deep.key },
    { certificate: chain + authority.certificate, key: deep.key },
    authority.issue({ subject: "", names: ["uftpd.example"] }),
    { certificate: daemons.certificate + authority.certificate, key: daemons.key },
    authority.issue({ subject: "CN=UFTPD", keyType: "rsa-2048" }),
  ];
  for (const credential of shown) {
    await using daemon = await startTlsDaemon({ tls: { ...credential, trusted: [authority.certificate] } });
    assertAnswered(await ping(commandSocket(daemon)));
  }
});

Deno.test("exchange() accepts a version 1 daemon certificate only with allowUnverifiable", async () => {
  const old = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU", version: 1 });
  await using daemon = await startTlsDaemon({ tls: { ...old, trusted: [authority.certificate] } });
  for (const expectedDn of [undefined, "CN=UFTPD,O=Demo,C=EU"]) {
    const socket = (allowUnverifiable: boolean): CommandSocket => ({
      host: daemon.host,
      port: daemon.commandPort,
      tls: { material: () => material, allowUnverifiable, ...(expectedDn !== undefined && { expectedDn }) },
    });
    assertAnswered(await ping(socket(true)));
    const refused = await ping(socket(false));
    assertFailed(refused, "untrusted", "before");
    assert(refused.kind === "failed");
    assert.match(
      refused.detail ?? "",
      /proves nothing.*openssl x509 -req.*allowUnverifiableCertificate=true/,
    );
    assert.equal(await lastRequest(daemon, socket(true)), "END\n");
  }
});

Deno.test("exchange() refuses daemons with wrong certificates, without wedging them", async () => {
  const expired = { notBefore: new Date("2020-01-01"), notAfter: new Date("2020-12-31") };
  const subject = "CN=UFTPD,O=Demo,C=EU";
  const issue = (from: Authority, version: 1 | 3, dates = {}) => from.issue({ subject, version, ...dates });
  const stranger = createAuthority({ subject: "CN=Other" });
  const facts: [string, Credential, string][] = [
    ["expired, version 3", issue(authority, 3, expired), ""],
    ["expired, version 1", issue(authority, 1, expired), "END\n"],
    ["signed by another key of the same name, version 3", issue(authority.impostor(), 3), ""],
    ["signed by another key of the same name, version 1", issue(authority.impostor(), 1), "END\n"],
    ["signed by an unknown authority, version 3", issue(stranger, 3), ""],
    ["signed by an unknown authority, version 1", issue(stranger, 1), ""],
  ];
  for (const [fact, credential, sent] of facts) {
    await using daemon = await startTlsDaemon();
    daemon.fault = { kind: "certificate", credential };
    assertFailed(await ping(commandSocket(daemon)), "untrusted", "before", fact);
    daemon.fault = undefined;
    // A daemon that the platform accepts gets only `END`; to a daemon that it refuses, nothing can be sent.
    assert.equal(await lastRequest(daemon, commandSocket(daemon)), sent, fact);
  }
});

Deno.test("exchange() accepts a daemon certificate marked as an authority if it is itself trusted", async () => {
  const marked = authority.issue({ subject: "CN=UFTPD,O=Demo,C=EU", ca: true });
  await using daemon = await startTlsDaemon({ tls: { ...marked, trusted: [authority.certificate] } });
  const refused = await ping(commandSocket(daemon));
  assertFailed(refused, "untrusted", "before");
  assert(refused.kind === "failed" && /CA:TRUE/.test(refused.detail ?? ""), JSON.stringify(refused));
  const anchors = [authority.certificate, marked.certificate];
  assertAnswered(
    await ping({
      host: daemon.host,
      port: daemon.commandPort,
      tls: { material: () => ({ ...material, anchors }) },
    }),
  );
});

Deno.test("exchange() pins the daemon's name", async () => {
  await using daemon = await startTlsDaemon();
  const pinned = (expectedDn: string): CommandSocket => ({
    host: daemon.host,
    port: daemon.commandPort,
    tls: { material: () => material, expectedDn },
  });
  assertAnswered(await ping(pinned("cn=UFTPD, o=Demo, c=EU")));
  assertFailed(await ping(pinned("CN=UFTPD2,O=Demo,C=EU")), "untrusted", "before");
  assert.equal(await lastRequest(daemon, commandSocket(daemon)), "END\n");
});

/** Returns short limits only for events that never occur, so that a busy machine changes no outcome. */
const maxWait = (expected: Fault) => ({
  handshake: expected === "handshake-timeout" ? 300 : 60_000,
  reply: expected === "reply-timeout" ? 300 : 60_000,
});

Deno.test("exchange() reports the fault, and whether it had written the request", async () => {
  const facts: [CommandFault, Fault, "before" | "after"][] = [
    [{ kind: "hang-before-handshake" }, "handshake-timeout", "before"],
    [{ kind: "close-at-once" }, "handshake-closed", "before"],
    [{ kind: "reset-at-once" }, "handshake-closed", "before"],
    [{ kind: "plain-text" }, "not-tls", "before"],
    [{ kind: "not-in-acl" }, "empty-reply", "after"],
    [{ kind: "close-without-reply" }, "empty-reply", "after"],
    [{ kind: "hang-after-request" }, "reply-timeout", "after"],
    [{ kind: "partial-reply", bytes: 5 }, "invalid-reply", "after"],
    [{ kind: "hang-after-partial-reply", bytes: 5 }, "reply-timeout", "after"],
    [{ kind: "unterminated-reply" }, "invalid-reply", "after"],
    [{ kind: "reply", reply: Uint8Array.of(0xff, 0xfe, 0x0a) }, "invalid-reply", "after"],
    [{ kind: "reply", reply: "x".repeat(MAX_REPLY_BYTES + 1) }, "invalid-reply", "after"],
  ];
  await using daemon = await startTlsDaemon();
  for (const [fault, expected, phase] of facts) {
    daemon.fault = fault;
    assertFailed(
      await ping(commandSocket(daemon), { limits: maxWait(expected) }),
      expected,
      phase,
      fault.kind,
    );
  }
  // A complete reply is valid if it arrived, even if a reset ends the connection.
  daemon.fault = { kind: "reset-after-reply" };
  const result = await ping(commandSocket(daemon));
  assert(result.kind === "answered" || result.fault === "empty-reply", JSON.stringify(result));
  daemon.fault = { kind: "reply", reply: "x".repeat(MAX_REPLY_BYTES - 1) + "\n" };
  assert.equal((await ping(commandSocket(daemon))).kind, "answered");
  daemon.fault = undefined;
  assertAnswered(await ping(commandSocket(daemon)), "after all that");
});

Deno.test("exchange() reports the same over plain TCP", async () => {
  const facts: [CommandFault, Fault][] = [
    [{ kind: "hang-before-handshake" }, "reply-timeout"],
    [{ kind: "close-at-once" }, "empty-reply"],
    [{ kind: "hang-after-request" }, "reply-timeout"],
    [{ kind: "close-without-reply" }, "empty-reply"],
    [{ kind: "partial-reply", bytes: 5 }, "invalid-reply"],
  ];
  await using daemon = await startDaemon();
  for (const [fault, expected] of facts) {
    daemon.fault = fault;
    const limits = maxWait(expected);
    const result = await ping({ host: daemon.host, port: daemon.commandPort }, { limits });
    assertFailed(result, expected, "after", fault.kind);
  }
});

Deno.test("exchange() reports why it could not reach the daemon", async () => {
  const daemon = await startTlsDaemon();
  const socket = commandSocket(daemon);
  await daemon.close();
  assertFailed(await ping(socket), "refused", "before");
  assertFailed(await ping({ ...socket, host: "no-such-host.invalid" }), "unresolved", "before");
  const broken = () => {
    throw new RangeError("no material");
  };
  const result = await ping({ ...socket, tls: { material: broken } });
  assertFailed(result, "unreachable", "before");
  assert.equal(result.kind === "failed" && result.detail, "no material");
});

Deno.test("exchange() reports that the daemon refuses our certificate, if its alert says so", async () => {
  const alerts: [number, Fault][] = [
    [42, "own-certificate-refused"], // bad_certificate
    [43, "own-certificate-refused"], // unsupported_certificate
    [45, "own-certificate-refused"], // certificate_expired
    [48, "own-certificate-refused"], // unknown_ca
    [116, "own-certificate-refused"], // certificate_required
    [40, "handshake-failed"], // handshake_failure
    [70, "handshake-failed"], // protocol_version
  ];
  for (const [alert, fault] of alerts) {
    const server = createServer((peer) => {
      peer.on("error", () => {}).resume();
      peer.end(Uint8Array.of(21, 3, 3, 0, 2, 2, alert));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    assert(address !== null && typeof address !== "string");
    const result = await ping({ host: "127.0.0.1", port: address.port, tls: { material: () => material } });
    assertFailed(result, fault, "before", `alert ${alert}`);
    const closed = once(server, "close");
    server.close();
    await closed;
  }
});

Deno.test("exchange() gets no reply if the daemon does not know our name", async () => {
  await using daemon = await startTlsDaemon();
  const stranger = { ...authority.issue({ subject: "CN=OTHER" }), anchors: [authority.certificate] };
  assertFailed(await ping(commandSocket(daemon, stranger)), "empty-reply", "after");
});

Deno.test("exchange() uses renewed certificates for the next connection", async () => {
  await using daemon = await startTlsDaemon();
  let current = { ...authority.issue({ subject: "CN=OLD" }), anchors: [authority.certificate] };
  const socket: CommandSocket = { ...commandSocket(daemon), tls: { material: () => current } };
  assertFailed(await ping(socket), "empty-reply", "after");
  current = { ...ours, anchors: [authority.certificate] };
  assertAnswered(await ping(socket));
});

Deno.test("exchange() sends only END if its caller left before the request was written", async () => {
  await using secure = await startTlsDaemon();
  await using plain = await startDaemon();
  for (
    const [daemon, socket] of [
      [secure, commandSocket(secure)],
      [plain, { host: plain.host, port: plain.commandPort }],
    ] as const
  ) {
    assertFailed(await ping(socket, { signal: AbortSignal.abort() }), "aborted", "before");
    assert.equal(await lastRequest(daemon, socket), "END\n");
  }
});

/** Returns an exchange ahead of another, and the function that ends it. */
function anotherExchange(maxWait = 5000): { previous: Predecessor; end: (reason?: Failure) => void } {
  const { promise: over, resolve: end } = Promise.withResolvers<Failure | undefined>();
  return { previous: { over, maxWait }, end };
}

Deno.test("exchange() behind another one: starts its time limits with its turn", async () => {
  await using daemon = await startTlsDaemon();
  const socket = commandSocket(daemon);
  daemon.delay = 150;
  const first = ping(socket);
  const { previous, end } = anotherExchange();
  const second = ping(socket, { previous, limits: { connect: 100, handshake: 100 } });
  assertAnswered(await first);
  end();
  assertAnswered(await second);

  daemon.fault = { kind: "hang-before-handshake" };
  const { previous: another, end: endOther } = anotherExchange();
  const third = ping(socket, { previous: another, limits: { handshake: 50 } });
  endOther();
  assertFailed(await third, "handshake-timeout", "before");
});

Deno.test("exchange() behind another one: sends its request once the daemon is ready for it", async () => {
  await using daemon = await startTlsDaemon();
  assertAnswered(await ping(commandSocket(daemon), { previous: anotherExchange().previous }));
});

Deno.test("exchange() behind another one: gives up when that one fails or takes too long, and sends only END", async () => {
  await using daemon = await startTlsDaemon();
  const socket = commandSocket(daemon);
  daemon.delay = 100;
  const first = ping(socket);
  const { previous, end } = anotherExchange();
  const second = ping(socket, { previous });
  const third = ping(socket, { previous: anotherExchange(20).previous });
  end(failure("reply-timeout", "before", "as the one before"));
  assertFailed(await second, "reply-timeout", "before");
  assertFailed(await third, "busy", "before");
  assertAnswered(await first);
  daemon.delay = 0;
  await lastRequest(daemon, socket);
  const sent = daemon.requests.map(({ raw }) => new TextDecoder().decode(raw));
  assert.deepEqual(sent.filter((text) => text !== encodePing() && text !== "END\n"), []);
  assert.equal(sent.filter((text) => text === encodePing()).length, 2);
});

Deno.test("exchange() never wedges a daemon, whenever it times out", async () => {
  await using secure = await startTlsDaemon();
  await using plain = await startDaemon();
  const long = `${"x".repeat(4000)}=${"y".repeat(4000)}\n`.repeat(8) + encodePing();
  for (const daemon of [secure, plain]) {
    const socket = daemon === secure ? commandSocket(secure) : { host: plain.host, port: plain.commandPort };
    for (let i = 0; i < ROUNDS; i++) {
      // The daemon delays the first reply a little, so that the second connection waits in its handshake.
      daemon.delay = i % 8;
      const limits = { connect: 1 + i % 5, handshake: 1 + i % 13, reply: 1 + i % 7 };
      await Promise.all([
        ping(socket, { request: long }),
        ping(socket, { limits, request: i % 2 === 0 ? long : encodePing() }),
        ping(socket, { request: long, previous: anotherExchange(i % 11).previous }),
      ]);
    }
    assertAnswered(await ping(socket), "after all that");
  }
});

Deno.test({
  name: "exchange() leaves no timer behind, however it ends",
  sanitizeOps: true,
  async fn() {
    await using daemon = await startTlsDaemon();
    const limits = { connect: 3600_000, handshake: 3600_000, reply: 3600_000 };
    assertAnswered(await ping(commandSocket(daemon), { limits }));
    const left = AbortSignal.abort();
    assertFailed(await ping(commandSocket(daemon), { limits, signal: left }), "aborted", "before");
    for (const kind of ["close-at-once", "close-without-reply", "unterminated-reply"] as const) {
      daemon.fault = { kind };
      assert.equal((await ping(commandSocket(daemon), { limits })).kind, "failed");
    }
    daemon.fault = undefined;
    assertAnswered(await ping(commandSocket(daemon), { limits }));
  },
});
