import assert from "node:assert/strict";
import { connectToPeer } from "../../../src/daemon/session/data_ports.ts";
import { GuardedSocket } from "../../../src/daemon/session/guarded_socket.ts";
import type { SessionFault } from "../../daemon_simulator/session_fault.ts";
import { SHORT_TIMES, Site } from "../../sharing/site.ts";

/** Data connections on a local address other than the control connection's, with a short timeout. */
const ELSEWHERE = { advertiseHost: "127.0.0.2", dataTimeout: 500 };

async function fetchTen(site: Site): Promise<string> {
  using session = await site.session("d/ten.txt");
  const path = `${site.root}/d/ten.txt`;
  const stream = await session.download(path, { first: 0, length: 10, done: () => {} });
  return await new Response(stream).text();
}

/** Returns the commands of each session that request a data connection. */
function passiveCommands(site: Site): string[][] {
  return site.daemon.sessions.map(({ commands }) => commands.filter((line) => /^(EPSV|PASV)/.test(line)));
}

Deno.test("DataPorts switches to PASV in a second session if the EPSV port refuses the connection", async () => {
  await using site = await Site.open(ELSEWHERE, SHORT_TIMES);
  assert.equal(await fetchTen(site), "0123456789");
  assert.deepEqual(passiveCommands(site), [["EPSV"], ["PASV"]]);
  using session = await site.session("d/");
  let entries = 0;
  await session.list(`${site.root}/d/`, () => entries++);
  assert.equal(entries, 2);
  assert.deepEqual(passiveCommands(site).slice(2), [["PASV"]], "it is remembered for the next session");
});

Deno.test("DataPorts uploads with PASV", async () => {
  await using site = await Site.open(ELSEWHERE, SHORT_TIMES);
  using session = await site.session("d/new", { permission: "WRITE" });
  await session.upload(`${site.root}/d/new`, new Blob(["abc"]).stream(), {
    length: 3,
    progress: () => {},
  });
  assert.equal(await Deno.readTextFile(`${site.root}/d/new`), "abc");
});

Deno.test("DataPorts returns to EPSV if PASV fails too", async () => {
  await using site = await Site.open({}, SHORT_TIMES);
  site.daemon.sessionFaults.queue.push({ kind: "refused-data-port" }, { kind: "refused-data-port" });
  await assert.rejects(fetchTen(site), { code: "ERR_LISTEN_SOCKET_UNREACHABLE" });
  assert.equal(await fetchTen(site), "0123456789");
  assert.deepEqual(passiveCommands(site), [["EPSV"], ["PASV"], ["EPSV"]]);
});

const BAD_REPLIES = [
  "227 Entering Passive Mode (::1,174,187)",
  "227 Entering Passive Mode (::ffff:127,0,0,1,143,129)",
  "227 Entering Passive Mode (uftp,example,org,143,129)",
  "227 Entering Passive Mode (127,0,0,1,0,0)",
  "227 Entering Passive Mode (127,0,0,1,256,0)",
  "227 Entering Passive Mode (300,0,0,1,1,0)",
  "227 Entering Passive Mode",
  "229 Entering Extended Passive Mode (|||5000|)",
  "500 no ports",
];

for (const reply of BAD_REPLIES) {
  Deno.test(`DataPorts does not follow ${JSON.stringify(reply)}`, async () => {
    await using site = await Site.open({}, SHORT_TIMES);
    const faults: SessionFault[] = [{ kind: "refused-data-port" }, { kind: "reply", to: "PASV", reply }];
    site.daemon.sessionFaults.queue.push(...faults);
    await assert.rejects(fetchTen(site), { code: "ERR_DAEMON_SESSION" });
  });
}

Deno.test("DataPorts reports why the second session fails", async () => {
  await using site = await Site.open(ELSEWHERE, SHORT_TIMES);
  site.daemon.sessionFaults.queue.push(undefined, { kind: "reply", to: "PASS", reply: "534 no" });
  await assert.rejects(fetchTen(site), { code: "ERR_ACCESS_REFUSED" });
});

Deno.test({
  name: "DataPorts connects only to permitted addresses, and names a refused one",
  permissions: { net: ["127.0.0.1"], read: true, write: true, sys: true, env: true },
  async fn() {
    await using site = await Site.open({}, SHORT_TIMES);
    const reply = "227 Entering Passive Mode (127,0,0,2,4,0)";
    site.daemon.sessionFaults.queue.push({ kind: "refused-data-port" }, { kind: "reply", to: "PASV", reply });
    await assert.rejects(
      fetchTen(site),
      /advertises 127\.0\.0\.2, which is no address of its configured host/,
    );
  },
});

// Outside the test, which has no permission to listen.
const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
const { port } = listener.addr;
listener.unref();

Deno.test({
  name: "connectToPeer() connects by name only if the daemon's address is not permitted",
  permissions: { net: [`localhost:${port}`] },
  async fn() {
    const { signal } = new AbortController();
    const first = await GuardedSocket.connect("localhost", port, SHORT_TIMES.connectMs, signal);
    try {
      const second = await connectToPeer(first, "localhost", port, SHORT_TIMES);
      assert.equal(second.connection.remoteAddr.port, port);
      second.close();
      await assert.rejects(
        connectToPeer(first, "elsewhere.invalid", port, SHORT_TIMES),
        { code: "ERR_LISTEN_SOCKET_UNREACHABLE" },
      );
    } finally {
      first.close();
    }
  },
});
