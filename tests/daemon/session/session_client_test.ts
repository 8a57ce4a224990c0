import assert from "node:assert/strict";
import { DaemonPool } from "../../../src/daemon/daemon_pool.ts";
import { SILENT } from "../../../src/logging/logger.ts";
import { Secret } from "../../../src/model/secret.ts";
import { SessionClient, type SessionDaemons } from "../../../src/daemon/session/session_client.ts";
import { mediatedScope } from "../../../src/files/session_scope.ts";
import { type DaemonSimulator, startDaemon } from "../../daemon_simulator/daemon.ts";
import { until } from "../../fixtures/deadline.ts";
import { SHORT_TIMES, Site } from "../../sharing/site.ts";

const NEVER = new AbortController().signal;

/** Returns a logical server with these addresses as its first instances and the site's daemon as the last. */
function grouped(
  site: Site,
  addresses: readonly string[],
): SessionDaemons & { asked: (number | undefined)[] } {
  const asked: (number | undefined)[] = [];
  const all = [...addresses, `${site.daemon.host}:${site.daemon.listenPort}`];
  return {
    asked,
    status: () => ({ instances: all.map((address, i) => ({ instance: i + 1, address, up: true })) }),
    openSession: (order, { signal, instance }) => {
      asked.push(instance);
      return site.group.openSession(order, { signal });
    },
  };
}

/** Returns an address on which nothing listens. */
function deadAddress(): string {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return `127.0.0.1:${port}`;
}

/** Opens a session and looks at a file in it. */
async function assertReads(client: SessionClient, { root }: Site): Promise<void> {
  const scope = mediatedScope(`${root}/d/`);
  using session = await client.open({ user: "alice", scope, permission: "READ", rateLimit: 0 }, NEVER);
  assert.equal((await session.entry(`${root}/d/ten.txt`)).size, 10);
}

Deno.test("SessionClient tries the next daemon if one cannot be reached", async () => {
  await using site = await Site.open();
  const daemons = grouped(site, [deadAddress(), deadAddress()]);
  const client = new SessionClient(daemons, { times: SHORT_TIMES });
  for (let i = 0; i < 4; i++) {
    await assertReads(client, site);
  }
  assert.deepEqual(daemons.asked, [3, 3, 3, 3]);
});

const SAYINGS: Readonly<Record<string, string>> = {
  "says nothing": "",
  "ends each session": "",
  "is too busy": "421 Too busy\n",
  "speaks another protocol": "SSH-2.0-OpenSSH_9.6\r\n",
  "ends each session in the middle of a line": "220 UF",
};
for (const [what, said] of Object.entries(SAYINGS)) {
  Deno.test(`SessionClient tries the next daemon if one accepts connections, and ${what}`, async () => {
    await using site = await Site.open();
    const hung = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const accepting = (async () => {
      for await (const peer of hung) {
        if (what === "says nothing") await peer.read(new Uint8Array(1));
        if (said !== "") await peer.write(new TextEncoder().encode(said));
        peer.close();
      }
    })();
    const daemons = grouped(site, [`127.0.0.1:${hung.addr.port}`]);
    const client = new SessionClient(daemons, { times: SHORT_TIMES });
    await assertReads(client, site);
    assert.deepEqual(daemons.asked, [2]);
    hung.close();
    await accepting;
  });
}

Deno.test("SessionClient does not wait for a silent daemon again and again", async () => {
  await using site = await Site.open();
  const hung = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  let asked = 0;
  const accepting = (async () => {
    for await (const peer of hung) {
      asked++;
      await peer.read(new Uint8Array(1)).catch(() => {});
      peer.close();
    }
  })();
  const client = new SessionClient(grouped(site, [`127.0.0.1:${hung.addr.port}`]), { times: SHORT_TIMES });
  for (let i = 0; i < 6; i++) await assertReads(client, site);
  assert.equal(asked, 1);
  hung.close();
  await accepting;
});

/** Makes a daemon answer logins with this reply. */
const answering = (reply: string) => (daemon: DaemonSimulator) => {
  daemon.sessionFaults.always = { kind: "reply", to: "PASS", reply };
};

const FAULTY: [what: string, (daemon: DaemonSimulator) => void][] = [
  ["has forgotten the session", answering("530 Not logged in: no matching transfer request found")],
  ["takes no sessions from here", answering("500 Error establishing connection: Rejecting connection")],
  ["sends rubbish", answering("rubbish")],
  ["ends sessions after the login", (daemon) => daemon.sessionFaults.always = { kind: "close-after-login" }],
  ["ends connections after the command", (daemon) => daemon.fault = { kind: "close-without-reply" }],
];
for (const [what, spoil] of FAULTY) {
  Deno.test(`SessionClient tries the next daemon if one ${what}, as for a client's own session`, async () => {
    await using site = await Site.open();
    const users = { alice: { uid: 1000, home: site.root, groups: ["users", "hpc"] } };
    await using faulty = await startDaemon({ users });
    const instances = [faulty, site.daemon].map(({ host, listenPort, commandPort }) => ({
      host,
      port: listenPort,
      commandHost: host,
      commandPort,
      ssl: false,
    }));
    const parts = { tls: () => ({ certificate: "", key: "", anchors: [] }), clock: Date.now, log: SILENT };
    const pool = new DaemonPool({ name: "HPC", description: "", instances }, parts);
    await until(() => pool.status().available === 2, { everyMs: 1 });
    spoil(faulty);
    const client = new SessionClient(pool, { times: SHORT_TIMES });
    for (let i = 0; i < 4; i++) {
      await assertReads(client, site);
    }
    // Its host may only lack the directory.
    const isSpared = what !== "ends sessions after the login";
    assert.equal(faulty.sessions.length === 1, isSpared, "the other one is preferred for a while");
    client.close();
    await pool.close();
  });
}

Deno.test("SessionClient tries no other daemon if one refuses account or group", async () => {
  for (
    const why of ["Attempted to select unknown user 'alice'", "The user alice is not a member of the group x"]
  ) {
    await using site = await Site.open();
    answering(`530 Not logged in: ${why}`)(site.daemon);
    const daemons = grouped(site, [`${site.daemon.host}:${site.daemon.listenPort}`]);
    const client = new SessionClient(daemons, { times: SHORT_TIMES });
    await assert.rejects(assertReads(client, site), { code: "ERR_DAEMON_SESSION" });
    assert.equal(daemons.asked.length, 1);
  }
});

Deno.test("a session that ends after its login lacks its directory, unless it begins at the root", async () => {
  await using site = await Site.open();
  site.daemon.sessionFaults.always = { kind: "close-after-login" };
  for (const [file, code] of [["/", "ERR_DAEMON_SESSION"], [`${site.root}/d/`, "ERR_NOT_FOUND"]] as const) {
    const scope = { file, includes: "*" };
    const opened = site.sessions.open({ user: "alice", scope, permission: "READ", rateLimit: 0 }, NEVER);
    await assert.rejects(opened, { code });
  }
});

Deno.test("SessionClient uses only the requested instance", async () => {
  await using site = await Site.open();
  const client = new SessionClient(grouped(site, [deadAddress()]), { times: SHORT_TIMES });
  const wanted = {
    user: "alice",
    scope: mediatedScope(`${site.root}/d/`),
    permission: "READ",
    rateLimit: 0,
  } as const;
  await assert.rejects(client.open({ ...wanted, instance: 1 }, NEVER), {
    code: "ERR_LISTEN_SOCKET_UNREACHABLE",
  });
  await assert.rejects(client.open({ ...wanted, instance: 9 }, NEVER), {
    code: "ERR_LISTEN_SOCKET_UNREACHABLE",
  });
  (await client.open({ ...wanted, instance: 2 }, NEVER)).close();
});

Deno.test("SessionClient uses the port that the daemon reports", async () => {
  await using site = await Site.open();
  const other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const greeting = (async () => {
    for await (const connection of other) {
      await connection.write(new TextEncoder().encode("220 another\n"));
      await connection.readable.pipeTo(new WritableStream());
    }
  })();
  const daemons: SessionDaemons = {
    status: () => ({ instances: [{ instance: 1, address: `127.0.0.1:${other.addr.port}`, up: true }] }),
    openSession: (order, { signal }) => site.group.openSession(order, { signal }),
  };
  const client = new SessionClient(daemons, {});
  {
    await assertReads(client, site);
  }
  other.close();
  await greeting;
});

Deno.test("SessionClient learns an unconfigured port from the daemon, with one more request", async () => {
  await using site = await Site.open();
  const daemons = new DaemonPool({
    name: "HPC",
    description: "",
    instances: [{
      host: "127.0.0.1, 127.0.0.2",
      commandHost: site.daemon.host,
      commandPort: site.daemon.commandPort,
      ssl: false,
    }],
  }, { tls: () => ({ certificate: "", key: "", anchors: [] }), clock: Date.now, log: SILENT });
  assert.equal(daemons.status().instances[0]?.address, "127.0.0.1");
  let asked = 0;
  const client = new SessionClient({
    status: () => daemons.status(),
    openSession: (order, options) => {
      asked++;
      return daemons.openSession(order, options);
    },
  }, { times: SHORT_TIMES });
  const wanted = {
    user: "alice",
    scope: mediatedScope(`${site.root}/d/`),
    permission: "READ",
    rateLimit: 0,
  } as const;
  for (const total of [2, 3]) {
    using session = await client.open(wanted, NEVER);
    assert.equal((await session.entry(`${site.root}/d/ten.txt`)).size, 10);
    assert.equal(daemons.status().instances[0]?.address, `127.0.0.1:${site.daemon.listenPort}`);
    assert.equal(asked, total);
  }
  await daemons.close();
});

Deno.test("SessionClient names the configured address instead of its own", async () => {
  await using site = await Site.open();
  const orders: (readonly string[])[] = [];
  const client = new SessionClient({
    status: () => site.group.status(),
    openSession: (order, options) => {
      orders.push(order.clientAddresses);
      return site.group.openSession({ ...order, clientAddresses: ["127.0.0.1"] }, options);
    },
  }, { clientAddresses: ["192.0.2.9"] });
  (await client.open({
    user: "alice",
    scope: mediatedScope(`${site.root}/d/`),
    permission: "READ",
    rateLimit: 0,
  }, NEVER))
    .close();
  assert.deepEqual(orders, [["192.0.2.9"]]);
});

Deno.test("SessionClient uses no kept session that the daemon has ended, however recently", async () => {
  await using site = await Site.open();
  const look = async () => {
    using session = await site.session("d/", { keep: true });
    assert.equal((await session.entry(`${site.root}/d/ten.txt`)).size, 10);
  };
  for (let i = 0; i < 4; i++) await look();
  assert.equal(site.daemon.sessions.length, 1, "kept");
  await site.daemon.stop();
  await site.daemon.start();
  // When the new daemon has answered, the end of the old connection has arrived, too.
  using probe = await Deno.connect({ hostname: "127.0.0.1", port: site.daemon.listenPort });
  await probe.read(new Uint8Array(100));
  const before = site.daemon.sessions.length;
  await look();
  await look();
  assert.equal(site.daemon.sessions.length, before + 1);
});

Deno.test("SessionClient opens no more concurrent sessions than the quota allows", async () => {
  await using site = await Site.open({}, {}, { limit: () => 2, holdMs: 0 });
  let open = 0;
  await Promise.all(Array.from({ length: 12 }, async () => {
    using session = await site.session("d/ten.txt");
    open++;
    assert.ok(open <= 2);
    await session.entry(`${site.root}/d/ten.txt`);
    open--;
  }));
  assert.equal(site.daemon.sessions.length, 12);
});

Deno.test("SessionClient fails if no slot becomes free in time", async () => {
  await using site = await Site.open({}, {}, { limit: () => 1, maxWaitMs: 20 });
  using _first = await site.session("d/ten.txt");
  await assert.rejects(site.session("d/ten.txt"), { code: "ERR_TOO_MANY_SESSIONS" });
});

Deno.test("SessionClient never shows the one-time secret", async () => {
  await using site = await Site.open({ ipCheck: true }, SHORT_TIMES);
  const client = new SessionClient({
    status: () => site.group.status(),
    openSession: async (order, options) => ({
      ...await site.group.openSession(order, options),
      secret: new Secret("wrongSecret"),
    }),
  }, { times: SHORT_TIMES });
  await assert.rejects(
    client.open(
      { user: "alice", scope: mediatedScope(`${site.root}/d/`), permission: "READ", rateLimit: 0 },
      NEVER,
    ),
    (error) => error instanceof Error && !Deno.inspect(error).includes("wrongSecret"),
  );
});
