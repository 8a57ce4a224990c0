import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { createAuthority } from "../pki/authority.ts";
import { type CommandTarget, exchange, openCommand } from "./command_client.ts";
import type { CommandFault } from "./command_fault.ts";
import { type DaemonOptions, type DaemonSimulator, startDaemon } from "./daemon.ts";

const ca = createAuthority({ subject: "CN=Demo CA,O=UNICORE,C=EU" });
const server = ca.issue({ subject: "CN=UFTPD,O=UNICORE,C=EU" });
const client = ca.issue({ subject: "CN=AUTH,O=UNICORE,C=EU" });
const tls = { ...server, trusted: [ca.certificate] };
const PING = "request-type=uftp-ping-request\nEND\n";

const users = {
  alice: { uid: 1001, home: "/srv/home/alice", groups: ["users", "hpc"] },
  toor: { uid: 0, home: "/root", groups: ["root"] },
};

function target(daemon: DaemonSimulator, credential = client): CommandTarget {
  return { port: daemon.commandPort, credential, trusted: ca.certificate };
}

function transfer(values: Record<string, string>): string {
  const lines = Object.entries({ "client-ip": "127.0.0.1", user: "alice", secret: "s", ...values });
  return `request-type=uftp-transfer-request\n${lines.map(([k, v]) => `${k}=${v}\n`).join("")}END\n`;
}

async function plain(options: DaemonOptions, requests: readonly string[]): Promise<string[]> {
  await using daemon = await startDaemon({ users, ...options });
  const replies: string[] = [];
  for (const request of requests) {
    replies.push((await exchange({ port: daemon.commandPort }, request)).reply);
  }
  return replies;
}

Deno.test("Ping replies with version, listen port, address and limit, and an empty line", async () => {
  await using daemon = await startDaemon({ tls, maxSessions: 8 });
  const { reply, end } = await exchange(target(daemon), PING);
  assert.equal(
    reply,
    `Version: 3.5.3\nListenPort: ${daemon.listenPort}\nListenAddress: localhost\nMaxSessionsPerClient: 8\n\n`,
  );
  assert.equal(end, "end");
  assert.equal(daemon.connections, 1);
  assert.equal(Buffer.from(daemon.requests[0]?.raw ?? []).toString(), PING);
});

Deno.test("Ping names the advertised host in place of the empty line", async () => {
  const [reply] = await plain({ advertiseHost: "198.51.100.7" }, [PING]);
  assert.match(String(reply), /MaxSessionsPerClient: 8\nAdvertiseAddress: 198\.51\.100\.7\n$/);
});

Deno.test("The reply names an unknown or missing request type", async () => {
  assert.deepEqual(await plain({}, ["request-type=x\nEND\n", "END\n"]), [
    "ERROR::Unsupported request type 'x'\n",
    "ERROR::Unsupported request type 'n/a'\n",
  ]);
});

const TRANSFER_REPLIES: readonly [string, DaemonOptions, readonly string[], RegExp][] = [
  ["is accepted with the listen port", {}, [transfer({})], /^OK::\d+\n$/],
  ["needs a user", {}, ["request-type=uftp-transfer-request\nsecret=x\nEND\n"], /^ERROR::'user'\n$/],
  ["needs a secret", {}, ["request-type=uftp-transfer-request\nuser=x\nEND\n"], /^ERROR::'secret'\n$/],
  [
    "refuses a duplicate secret",
    {},
    [transfer({}), transfer({ user: "bob" })],
    /^ERROR::Duplicate secret - this is not allowed\.\n$/,
  ],
  [
    "refuses more sessions than allowed for an account",
    { maxSessions: 1 },
    [transfer({}), transfer({ secret: "t" })],
    /^ERROR::Too many active sessions for 'alice' - server limit is 1\n$/,
  ],
  ["counts sessions by account", { maxSessions: 1 }, [
    transfer({}),
    transfer({ user: "bob", secret: "t" }),
  ], /^OK/],
  [
    "checks the limit before the secret",
    { maxSessions: 1 },
    [transfer({}), transfer({})],
    /Too many active/,
  ],
  ["accepts any user, including root", {}, [transfer({ user: "root" })], /^OK/],
  [
    "refuses keys if the daemon lacks cryptography",
    { cryptography: false },
    [transfer({ key: "AAAA" })],
    /^ERROR::Encrypted connections are not supported by this UFTPD server\.\n$/,
  ],
];
for (const [fact, options, requests, expected] of TRANSFER_REPLIES) {
  Deno.test(`A transfer request ${fact}`, async () => {
    assert.match(String((await plain(options, requests)).at(-1)), expected);
  });
}

Deno.test("User information replies match those of a real daemon", async () => {
  const alice = {
    ...users.alice,
    keyFiles: {
      ".ssh/authorized_keys":
        'ssh-ed25519 AAAA alice@laptop\r\n# no\n  # indented\n\nfrom="192.0.2.0/24" ssh-rsa B x  ',
    },
  };
  const ask = (line: string) => `request-type=uftp-get-user-info-request\n${line}END\n`;
  const requests = [
    "user=alice\n",
    "user= root \n",
    "user=mallory\n",
    "user=\n",
    "user=toor\n",
    "",
    "user=a\0\n",
  ];
  const replies = await plain({ users: { ...users, alice } }, requests.map(ask));
  assert.deepEqual(replies, [
    "Version: 3.5.3\nUser: alice\nHome: /srv/home/alice\n" +
    "Accepted key 0: ssh-ed25519 AAAA alice@laptop\nAccepted key 1: # indented\nAccepted key 2: \n" +
    'Accepted key 3: from="192.0.2.0/24" ssh-rsa B x\n' +
    "Status: keyfile /srv/home/alice/.ssh/authorized_keys : OK keyfile /srv/home/alice/.uftp/authorized_keys : " +
    "[Errno 2] No such file or directory: '/srv/home/alice/.uftp/authorized_keys'\n\n",
    "500 Not allowed\n",
    "500 No such user or no home directory found\n",
    "500 No such user or no home directory found\n",
    "530 Not logged in: Attempted to select 'root'\n",
    "",
    "",
  ]);
});

Deno.test("Invalid UTF-8 is dropped without a reply", async () => {
  await using daemon = await startDaemon();
  const { reply } = await exchange(
    { port: daemon.commandPort },
    Uint8Array.of(0xff, 0x0a, 0x45, 0x4e, 0x44, 0x0a),
  );
  assert.equal(reply, "");
  assert.equal(daemon.requests[0]?.values, undefined);
});

const ADMISSIONS: readonly [acl: string, admitted: boolean][] = [
  ["CN=AUTH,O=UNICORE,C=EU", true],
  ["c=eu,cn=auth", true],
  ["C=EU", true],
  ["# all\n\n,", true],
  ["CN=OTHER\nO=UNICORE", true],
  ["", false],
  ["CN=AUTH,O=OTHER", false],
  ["CN =AUTH", false],
  ["CN=AUTH,emailAddress=a@b", false],
  ["CN=AUTH=x", true],
  ['CN="AUTH"', false],
  ["#CN=AUTH", false],
];
for (const [acl, admitted] of ADMISSIONS) {
  Deno.test(`The ACL ${JSON.stringify(acl)} ${admitted ? "admits" : "refuses"} CN=AUTH,O=UNICORE,C=EU`, async () => {
    await using daemon = await startDaemon({ tls, acl });
    const { reply } = await exchange(target(daemon), PING);
    assert.equal(reply !== "", admitted);
  });
}

Deno.test("A client certificate that is expired or of an unknown authority gets no reply", async () => {
  await using daemon = await startDaemon({ tls });
  const foreign = createAuthority({ subject: "CN=Elsewhere" }).issue({ subject: "CN=AUTH" });
  const expired = ca.issue({ subject: "CN=AUTH", notAfter: new Date("2021-01-01T00:00:00Z") });
  for (const credential of [foreign, ca.impostor().issue({ subject: "CN=AUTH" }), expired]) {
    assert.equal((await exchange(target(daemon, credential), PING)).reply, "");
  }
  assert.equal(daemon.failedHandshakes, 3);
  assert.equal((await exchange(target(daemon), PING)).end, "end");
});

for (const tlsOn of [true, false]) {
  Deno.test(`A connection that ends without END wedges the daemon, ${tlsOn ? "with" : "without"} TLS`, async () => {
    const daemon = await startDaemon(tlsOn ? { tls } : {});
    const where = tlsOn ? target(daemon) : { port: daemon.commandPort };
    for (const action of ["end", "destroy"] as const) {
      const socket = await openCommand(where);
      socket.write("request-type=uftp-ping-request\n");
      socket[action]();
      await once(socket, "close");
    }
    assert.match((await exchange(where, PING)).reply, /^Version/);
    assert.equal(daemon.wedged, 2);
    assert.throws(() => daemon.assertNeverWedged());
    await daemon.close();
  });
}

Deno.test("An END without a line end is accepted once the client half-closes", async () => {
  await using daemon = await startDaemon();
  const socket = await openCommand({ port: daemon.commandPort });
  socket.end("request-type=uftp-ping-request\nEND");
  const [first] = await once(socket, "data");
  assert.match(String(first), /^Version/);
  socket.destroy();
});

Deno.test("Connections are served one after the other", async () => {
  await using daemon = await startDaemon({ tls });
  const silent = await openCommand(target(daemon));
  const other = exchange(target(daemon), PING);
  await until(() => daemon.connections >= 2, { everyMs: 1 });
  silent.write("END\n");
  assert.match((await other).reply, /^Version/);
  assert.deepEqual(daemon.requests.map(({ raw }) => Buffer.from(raw).toString()), ["END\n", PING]);
  silent.destroy();
});

for (const action of ["destroy", "end", "resetAndDestroy"] as const) {
  Deno.test(`A client that leaves before or during its handshake (${action}) affects no other client`, async () => {
    await using daemon = await startDaemon({ tls });
    const silent = await openCommand(target(daemon));
    const [gone, half] = [
      await openCommand({ port: daemon.commandPort }),
      await openCommand({ port: daemon.commandPort }),
    ];
    half.write(Uint8Array.of(0x16, 0x03, 0x01));
    await until(() => daemon.connections >= 3, { everyMs: 1 });
    gone[action]();
    silent.write("END\n");
    await until(() => daemon.failedHandshakes >= 1, { everyMs: 1 });
    half[action]();
    assert.match((await exchange(target(daemon), PING)).reply, /^Version/);
    assert.equal(daemon.failedHandshakes, 2);
    gone.destroy();
    half.destroy();
  });
}

Deno.test("A client that half-closes gets its reply, without TLS", async () => {
  await using daemon = await startDaemon();
  const socket = await openCommand({ port: daemon.commandPort });
  const reply = once(socket, "data");
  socket.end(PING);
  assert.match(String((await reply)[0]), /^Version/);
  socket.destroy();
});

Deno.test("A job expires in the first sweep 300 s after its request", async () => {
  let now = 1_700_000_000_000;
  await using daemon = await startDaemon({ clock: () => now });
  await exchange({ port: daemon.commandPort }, transfer({}));
  now += 300_000;
  assert.equal(daemon.jobs.slots("alice"), 1);
  now += 4_999;
  assert.equal(daemon.jobs.size, 1);
  now += 1;
  assert.equal(daemon.jobs.slots("alice"), 0);
  assert.equal(daemon.jobs.size, 0);
});

Deno.test("stop() refuses connections and forgets jobs, start() reuses the port", async () => {
  await using daemon = await startDaemon({ tls });
  const before = target(daemon);
  await exchange(before, transfer({}));
  await daemon.stop();
  await assert.rejects(exchange(before, PING), { code: "ECONNREFUSED" });
  await daemon.start();
  assert.match((await exchange(before, PING)).reply, /^Version/);
  assert.equal(daemon.jobs.size, 0);
});

const OK = /^OK::\d+\n$/;
const FAULTS: readonly [fault: CommandFault, reply: RegExp | "rejected", registered: number][] = [
  [{ kind: "close-at-once" }, "rejected", 0],
  [{ kind: "reset-at-once" }, "rejected", 0],
  [{ kind: "plain-text" }, "rejected", 0],
  [{ kind: "certificate", credential: ca.impostor().issue({ subject: "CN=UFTPD" }) }, "rejected", 0],
  [
    {
      kind: "certificate",
      credential: ca.issue({ subject: "CN=UFTPD", notAfter: new Date("2021-01-01T00:00:00Z") }),
    },
    "rejected",
    0,
  ],
  [{ kind: "not-in-acl" }, /^$/, 0],
  [{ kind: "close-without-reply" }, /^$/, 1],
  [{ kind: "partial-reply", bytes: 6 }, /^OK::\d\d$/, 1],
  [{ kind: "unterminated-reply" }, /^OK::\d+$/, 1],
  [{ kind: "reset-after-reply" }, /^(OK::\d+\n)?$/, 1],
  [{ kind: "reply", reply: "ERROR::No luck\n" }, /^ERROR::No luck\n$/, 0],
];
for (const [fault, expected, registered] of FAULTS) {
  Deno.test(`The fault "${fault.kind}" takes effect, and the next request is served`, async () => {
    await using daemon = await startDaemon({ tls });
    daemon.commandFaults.queue.push(fault);
    const meeting = exchange(target(daemon), transfer({}));
    if (expected === "rejected") await assert.rejects(meeting);
    else assert.match((await meeting).reply, expected);
    assert.equal(daemon.jobs.size, registered);
    assert.match((await exchange(target(daemon), transfer({ secret: "other" }))).reply, OK);
  });
}

for (
  const fault of [{ kind: "hang-after-request" }, { kind: "hang-after-partial-reply", bytes: 3 }] as const
) {
  Deno.test(`The fault "${fault.kind}" lasts until the client gives up`, async () => {
    await using daemon = await startDaemon({ tls });
    daemon.commandFaults.queue.push(fault);
    const socket = await openCommand(target(daemon));
    socket.write(transfer({}));
    const next = exchange(target(daemon), PING);
    if (fault.kind === "hang-after-partial-reply") {
      assert.equal(String((await once(socket, "data"))[0]), "OK:");
    } else await until(() => daemon.jobs.size !== 0, { everyMs: 1 });
    socket.destroy();
    assert.match((await next).reply, /^Version/);
  });
}

Deno.test('The fault "hang-before-handshake" lasts until the client gives up', async () => {
  await using daemon = await startDaemon({ tls });
  daemon.commandFaults.queue.push({ kind: "hang-before-handshake" });
  const socket = await openCommand({ port: daemon.commandPort });
  const next = exchange(target(daemon), PING);
  socket.destroy();
  assert.match((await next).reply, /^Version/);
});

Deno.test("closeNotify ends replies with close_notify", async () => {
  await using daemon = await startDaemon({ tls });
  daemon.closeNotify = true;
  const { reply, end } = await exchange(target(daemon), PING);
  assert.match(reply, /^Version/);
  assert.equal(end, "end");
});
