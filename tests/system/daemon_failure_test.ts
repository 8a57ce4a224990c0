/** Answers to callers, and reports to operators, when a daemon fails (daemon-protocol.md 7). */
import assert from "node:assert/strict";
import type { CommandFault } from "../daemon_simulator/command_fault.ts";
import { createAuthority } from "../pki/authority.ts";
import { ALICE, runReloadedService, runService, settled } from "./running_service.ts";

const foreign = createAuthority({ subject: "CN=Foreign CA" }).issue({ subject: "CN=UFTPD,O=Demo,C=EU" });

/** Fault, status and code of the answer, and the cause in the log. */
const facts: Readonly<Record<string, [CommandFault, number, string, RegExp]>> = {
  closed: [{ kind: "close-at-once" }, 503, "ERR_DAEMON_UNAVAILABLE", /closes the connection during/],
  // By chance, the reset arrives before or after the connection is established.
  reset: [
    { kind: "reset-at-once" },
    503,
    "ERR_DAEMON_UNAVAILABLE",
    /closes the connection|no way to the command/,
  ],
  plain: [{ kind: "plain-text" }, 503, "ERR_DAEMON_UNAVAILABLE", /does not speak TLS/],
  foreign: [
    { kind: "certificate", credential: foreign },
    503,
    "ERR_DAEMON_UNAVAILABLE",
    /its certificate is not trusted/,
  ],
  deaf: [
    { kind: "hang-before-handshake" },
    503,
    "ERR_DAEMON_UNAVAILABLE",
    /never completes the TLS handshake/,
  ],
  acl: [{ kind: "not-in-acl" }, 502, "ERR_DAEMON_REPLY_INVALID", /ACL file/],
  silent: [{ kind: "close-without-reply" }, 502, "ERR_DAEMON_REPLY_INVALID", /closes without a reply/],
  hanging: [{ kind: "hang-after-request" }, 504, "ERR_DAEMON_TIMEOUT", /did not answer in time/],
  partial: [{ kind: "partial-reply", bytes: 3 }, 502, "ERR_DAEMON_REPLY_INVALID", /not one of a transfer/],
  endless: [
    { kind: "reply", reply: "OK::".padEnd(200_000, "1") },
    502,
    "ERR_DAEMON_REPLY_INVALID",
    /not one of a transfer/,
  ],
  rubbish: [
    { kind: "reply", reply: new Uint8Array([0xff, 0, 1, 10]) },
    502,
    "ERR_DAEMON_REPLY_INVALID",
    /not one of a transfer/,
  ],
  refusing: [
    { kind: "reply", reply: "ERROR::Attempted to select unknown user 'alice'\n" },
    502,
    "ERR_DAEMON_REFUSED",
    /Attempted to select unknown user 'alice'/,
  ],
  full: [
    { kind: "reply", reply: "ERROR::Too many active sessions for 'alice' - server limit is 8\n" },
    429,
    "ERR_SESSION_LIMIT_REACHED",
    /no free session/,
  ],
};

const system = await runService({
  servers: { HPC: [{}], ...Object.fromEntries(Object.keys(facts).map((name) => [name, [{}]])) },
});
await Promise.all(Object.keys(facts).map((name) => settled(system, name)));
for (const [name, [fault]] of Object.entries(facts)) system.daemon(name).fault = fault;

/** Answers to all requests, which run at once: some of them last until the timeout. */
const replies = Object.fromEntries(
  Object.keys(facts).map((name) => [
    name,
    system.ask(`/rest/auth/${name}`, { as: ALICE, body: { serverPath: "" } }),
  ]),
);
for (const reply of Object.values(replies)) reply.catch(() => {}); // each test awaits its own

Deno.test.afterAll(async () => {
  // Requests that still hang in a daemon end with it, so that nobody waits for them.
  await Promise.all(Object.keys(facts).map((name) => system.daemon(name).stop()));
  await system[Symbol.asyncDispose]();
});

Deno.test("the other daemons serve requests while one is silent", async () => {
  const reply = await system.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  assert.equal(reply.status, 200);
});

for (const [name, [fault, status, code, cause]] of Object.entries(facts)) {
  Deno.test(`a daemon with fault ${name} (${fault.kind}) causes ${status}, and the log has the cause`, async () => {
    const reply = await replies[name];
    assert(reply !== undefined);
    const error = reply.json();
    assert.deepEqual([reply.status, error.status, error.code], [status, status, code]);
    assert(!reply.text.includes("alice"), "the account is nobody's business");
    assert(!/127\.0\.0\.1|\d{5}/.test(String(error.errorMessage)), "addresses are nobody's business");
    const line = await system.logged(new RegExp(`request answered.*request=${error.requestId}`));
    assert.match(line, cause);
    assert.match(line, new RegExp(`request=${error.requestId}`));
    const audit = await system.logged(new RegExp(`audit session request=${error.requestId}`));
    assert.match(audit, new RegExp(`decision=refused .*uid=alice .*reason=${code}`));
    if (status === 429 || status === 503) assert.match(reply.headers["retry-after"] ?? "", /^\d+$/);
    system.daemon(name).fault = undefined;
  });
}

Deno.test("a server is DOWN and the service not ready until a daemon has answered; a reload keeps its status; without it, sessions get 503", async () => {
  using silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  assert(silent.addr.transport === "tcp");
  await using alone = await runReloadedService({
    properties: {
      "authservice.server.HPC.commandHost": "127.0.0.1",
      "authservice.server.HPC.commandPort": String(silent.addr.port),
    },
  });
  assert.match(String((await alone.ask("/rest/auth/HPC")).json().status), /^DOWN \[/);
  assert.equal((await alone.ask("/health/ready")).status, 503);

  const port = { "authservice.server.HPC.commandPort": String(alone.daemon().commandPort) };
  await alone.reloadWith(port);
  await settled(alone);
  alone.daemon().fault = { kind: "hang-before-handshake" }; // the next check fails only after its timeout
  await alone.reloadWith({ ...port, "container.security.browser.idleTime": "1000" });
  const known = (await alone.ask("/rest/auth/HPC", { as: ALICE })).json();
  assert.match(String(known.status), /^OK \[connected/);
  assert.notEqual(known.uftpdServerVersion, "n/a");
  assert.equal((await alone.ask("/health/ready")).status, 200);
  alone.daemon().fault = undefined;

  const before = alone.log.length;
  await alone.daemon().stop();
  const first = await alone.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  assert.equal(first.status, 503);
  await alone.logged(/daemon is down/, before);

  const entry = (await alone.ask("/rest/auth/HPC")).json();
  assert.equal(entry.status, "DOWN [0 of 1 available]");
  const session = await alone.ask("/rest/auth/HPC", { as: ALICE, body: { serverPath: "" } });
  assert.equal(session.status, 503);
  assert.match(String(session.json().errorMessage), /^DOWN|not available/);
  const ready = await alone.ask("/health/ready");
  assert.equal(ready.status, 503);
  assert.equal(ready.headers["retry-after"], "10");
  assert.deepEqual(ready.json().servers, { total: 1, usable: 0 });
  const server: unknown = (await alone.ask("/rest/auth", { as: ALICE })).json().server;
  assert.match(JSON.stringify(server), /"UFTPD server 'HPC'":"DOWN"/);
});
