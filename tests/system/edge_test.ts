/** Edge and core together, over real sockets: `100 Continue`, limits of connections, and metrics. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { openTls, readAll } from "../edge/tls_client.ts";
import { inTime } from "../fixtures/deadline.ts";
import { ALICE, runServiceHere, settled, type SystemUnderTest } from "./running_service.ts";
import { SharingSystem } from "./sharing/sharing_system.ts";
import { startedWorker, workersSoFar } from "./worker_spy.ts";

const basic = ([name, password]: readonly [string, string]) => `Basic ${btoa(`${name}:${password}`)}`;

/** Returns the head of a request whose body waits for `100 Continue`. */
const waitingHead = (line: string, as: readonly [string, string] | undefined) =>
  `${line} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 17\r\n` +
  `Expect: 100-continue\r\n${as === undefined ? "" : `Authorization: ${basic(as)}\r\n`}\r\n`;

/** Service with few connections, for the first tests. */
const sharing = await SharingSystem.open({
  properties: {
    "container.httpServer.maxConnections": "32",
    "container.security.gateway.enable": "true",
    "container.security.gateway.trustedPeers": "127.0.0.9",
  },
});
Deno.test.afterAll(() => sharing[Symbol.asyncDispose]());

Deno.test("callers with a wrong password, or without rights, are refused before the service asks for the body", async () => {
  const { port } = sharing.system;
  const open = await sharing.share("d", { access: "READ" });
  const closed = await sharing.share("d/sub", { user: "CN=Bob,O=Demo,C=EU", access: "WRITE" });
  const wrong = ["alice", "guess"] as const;
  const refused: readonly (readonly [string, readonly [string, string] | undefined, number])[] = [
    ["POST /rest/auth/HPC", wrong, 401],
    ["POST /rest/share/HPC", wrong, 401],
    [`PUT /rest/access/HPC/${closed}/x`, wrong, 401],
    [`PUT /rest/access/HPC/${closed}/x`, undefined, 401],
    [`PUT /rest/access/HPC/${open}/x`, undefined, 403],
  ];
  await Promise.all(refused.map(async ([line, as, status]) => {
    const socket = await openTls(port);
    socket.write(waitingHead(line, as));
    // Reads to the end, which shows a 100 before or after the answer.
    const reply = await readAll(socket);
    assert.match(reply, new RegExp(`^HTTP/1\\.1 ${status} `), `${line} ${as}`);
    assert.equal(reply.match(/HTTP\/1\.1 /g)?.length, 1, reply);
    assert.match(reply, /\r\nConnection: close\r\n/i);
  }));
  const socket = await openTls(port);
  socket.write(waitingHead("POST /rest/auth/HPC", ALICE));
  const [first] = await inTime(once(socket, "data"), "100 Continue");
  assert.match(String(first), /^HTTP\/1\.1 100 Continue\r\n/, "asked for where the password is right");
  socket.write('{"serverPath":""}');
  const [second] = await inTime(once(socket, "data"), "the answer");
  assert.match(String(second), /^HTTP\/1\.1 200 OK\r\n/);
  socket.destroy();
});

/** Opens a connection from an address of this host; `undefined` if the service refuses it. */
async function connection(port: number, from: string): Promise<TLSSocket | undefined> {
  const socket = connectTls({
    socket: connect({ port, host: "127.0.0.1", localAddress: from }),
    rejectUnauthorized: false,
  });
  socket.on("error", () => {}); // a refused connection may end in a reset
  const outcome = new Promise<boolean>((resolve) => {
    socket.once("secureConnect", () => resolve(true));
    socket.once("close", () => resolve(false));
  });
  const taken = await inTime(outcome, "the outcome of a handshake");
  return taken ? socket : undefined;
}

async function connections(port: number, from: string, wanted: number): Promise<TLSSocket[]> {
  const all: TLSSocket[] = [];
  for (let i = 0; i < wanted; i++) {
    const socket = await connection(port, from);
    if (socket !== undefined) all.push(socket);
  }
  return all;
}

async function end(sockets: readonly TLSSocket[]): Promise<void> {
  for (const socket of sockets) socket.destroy();
  for (const socket of sockets) if (!socket.closed) await once(socket, "close");
}

Deno.test("one address gets at most half of the connections, a gateway all, and others still get one", async () => {
  const { system } = sharing;
  await settled(system);
  system.agent.destroy(); // its connections would count
  const { port } = system;
  // Now and then the service itself connects, to check whether the port accepts connections.
  const near = (count: number, expected: number) =>
    assert(Math.abs(count - expected) <= 1, `${count}, not ${expected}`);
  const first = await connections(port, "127.0.0.2", 40);
  near(first.length, 16);
  const second = await connections(port, "127.0.0.3", 40);
  near(second.length, 8);
  const other = await connections(port, "127.0.0.4", 1);
  assert.equal(other.length, 1, "somebody else still gets in");
  await system.logged(/connection refused, there are too many .*client=127\.0\.0\.2/);
  await end([...first, ...second, ...other]);
  let gateway: TLSSocket[] = [];
  // The service may not have noticed the end of all connections yet.
  for (let i = 0; i < 50 && gateway.length < 30; i++) {
    await end(gateway);
    gateway = await connections(port, "127.0.0.9", 40);
  }
  assert(gateway.length >= 30 && gateway.length <= 32, `${gateway.length} for the gateway`);
  await end(gateway);
});

/** Sends raw text, and reads the answer to its end. */
async function answerTo(port: number, text: string): Promise<string> {
  const socket = await openTls(port);
  socket.write(text);
  return await readAll(socket);
}

Deno.test("the metrics page counts answers that the edge creates itself", async () => {
  const from = workersSoFar();
  await using system = await runServiceHere({ properties: { "container.metrics.port": "0" } });
  const metrics = /port=(\d+)/.exec(await system.logged(/metrics page port=/))?.[1];
  await settled(system);
  const { port } = system;
  const head = (line: string, more = "") => `${line} HTTP/1.1\r\nHost: localhost\r\n${more}`;
  const unfinished = answerTo(port, head("GET /rest/auth")); // the head has no end: 408 after a while
  const large = `Authorization: ${
    basic(ALICE)
  }\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n\r\n`;
  const asked: readonly (readonly [string, number])[] = [
    [`${head("GET  /")}\r\n`, 400],
    [head("POST /rest/auth/HPC", large), 413],
    [head(`GET /${"a".repeat(9_000)}`, "\r\n"), 414],
    [head("GET /", `X-Long: ${"a".repeat(17_000)}\r\n\r\n`), 431],
    [head("BREW /", "\r\n"), 501],
  ];
  for (const [text, status] of asked) {
    assert.match(await answerTo(port, text), new RegExp(`^HTTP/1\\.1 ${status} `));
  }
  assert.match(await unfinished, /^HTTP\/1\.1 408 /);
  (await startedWorker("core 1", from)).kill();
  assert.equal(await firstHttpError(system), 503);
  const statuses = [...asked.map(([, status]) => status), 408, 503];
  const page = async () => await (await fetch(`http://127.0.0.1:${metrics}/metrics`)).text();
  const counted = (text: string, status: number) =>
    Number(
      new RegExp(`^authserver_requests_total\\{.*code="${status}"\\} (\\d+)$`, "m").exec(text)?.[1] ?? 0,
    );
  // The edge reports counts once a second.
  let text = await page();
  for (let i = 0; i < 200 && statuses.some((status) => counted(text, status) === 0); i++) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    text = await page();
  }
  for (const status of statuses) assert(counted(text, status) >= 1, `${status} is not counted:\n${text}`);
});

/** Returns the first status that is not 200. */
async function firstHttpError(system: SystemUnderTest): Promise<number> {
  for (;;) {
    const { status } = await system.ask("/rest/auth", { as: ALICE });
    if (status !== 200) return status;
  }
}
