/**
 * Every fault of the command socket (daemon-protocol.md 7) with GET and POST, for a server of one daemon and
 * a group of two. All faults run at once; faults that last until the timeout of a daemon need the long run.
 */
import { until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import type { CommandFault } from "../daemon_simulator/command_fault.ts";
import type { DaemonSimulator } from "../daemon_simulator/daemon.ts";
import { createAuthority } from "../pki/authority.ts";
import { ALICE, runService, settled } from "../system/running_service.ts";
import { FullBacklog } from "./full_backlog.ts";
import { LONG } from "../long/results.ts";
import { causeIn, note, within } from "./fault_table.ts";

interface Fault {
  readonly what: string;
  /** Fault of the simulator; `absent`: no daemon listens, `full`: the daemon accepts no connections. */
  readonly fault: CommandFault | "absent" | "full";
  /** Status and code of a session on the single daemon. */
  readonly alone: readonly [number, string];
  /** Status of a session that meets the fault in a group with one good daemon; default 200. */
  readonly grouped?: number;
  readonly long?: boolean;
}

const UNAVAILABLE = [503, "ERR_DAEMON_UNAVAILABLE"] as const;
const INVALID = [502, "ERR_DAEMON_REPLY_INVALID"] as const;
const TIMEOUT = [504, "ERR_DAEMON_TIMEOUT"] as const;
const credential = { subject: "CN=UFTPD,O=Demo,C=EU" };
const authority = createAuthority({ subject: "CN=Demo CA,O=Demo,C=EU" });
const foreign = createAuthority({ subject: "CN=Foreign CA" });
const expired = authority.issue({ ...credential, notAfter: new Date("2021-01-01T00:00:00Z") });

const future = authority.issue({ ...credential, notBefore: new Date("2048-01-01T00:00:00Z") });

const FAULTS: readonly Fault[] = [
  { what: "does not run", fault: "absent", alone: UNAVAILABLE },
  { what: "accepts no more connections", fault: "full", alone: UNAVAILABLE },
  { what: "closes at once", fault: { kind: "close-at-once" }, alone: UNAVAILABLE },
  { what: "resets at once", fault: { kind: "reset-at-once" }, alone: UNAVAILABLE },
  { what: "speaks plain text", fault: { kind: "plain-text" }, alone: UNAVAILABLE },
  {
    what: "presents a certificate of another authority",
    fault: { kind: "certificate", credential: foreign.issue(credential) },
    alone: UNAVAILABLE,
  },
  {
    what: "presents an expired certificate",
    fault: { kind: "certificate", credential: expired },
    alone: UNAVAILABLE,
  },
  {
    what: "presents a certificate that is not yet valid",
    fault: { kind: "certificate", credential: future },
    alone: UNAVAILABLE,
  },
  { what: "does not trust the service's certificate", fault: { kind: "distrust" }, alone: INVALID },
  { what: "never begins the handshake", fault: { kind: "hang-before-handshake" }, alone: UNAVAILABLE },
  { what: "does not have the service in its ACL", fault: { kind: "not-in-acl" }, alone: INVALID },
  { what: "closes without a reply", fault: { kind: "close-without-reply" }, alone: INVALID },
  { what: "sends half a reply", fault: { kind: "partial-reply", bytes: 6 }, alone: INVALID },
  { what: "does not end its reply", fault: { kind: "unterminated-reply" }, alone: INVALID },
  {
    what: "sends bytes that are not text",
    fault: { kind: "reply", reply: new Uint8Array([0xff, 0, 1, 10]) },
    alone: INVALID,
  },
  {
    what: "sends 200 kB",
    fault: { kind: "reply", reply: "OK::".padEnd(200_000, "1") },
    alone: INVALID,
  },
  { what: "names an invalid port", fault: { kind: "reply", reply: "OK::0\n" }, alone: INVALID },
  {
    what: "refuses the account",
    fault: { kind: "reply", reply: "ERROR::Attempted to select unknown user 'alice'\n" },
    alone: [502, "ERR_DAEMON_REFUSED"],
    grouped: 502,
  },
  {
    what: "has no free session",
    fault: { kind: "reply", reply: "ERROR::Too many active sessions for 'alice' - server limit is 8\n" },
    alone: [429, "ERR_SESSION_LIMIT_REACHED"],
  },
  {
    what: "reads the request and does not answer",
    fault: { kind: "hang-after-request" },
    alone: TIMEOUT,
    long: true,
  },
  {
    what: "stops in the middle of its reply",
    fault: { kind: "hang-after-partial-reply", bytes: 3 },
    alone: TIMEOUT,
    long: true,
  },
];

const tried = FAULTS.filter(({ long }) => LONG || !long);
const POST = { as: ALICE, body: { serverPath: "" } };
const MANY = { maxSessions: 10_000 };
/** Longest GET, in milliseconds: it takes seconds on a busy machine, and 10 s if it waits for a daemon. */
const PROMPT_MS = 8_000;

const system = await runService({
  authority,
  servers: Object.fromEntries([
    ["GOOD", [MANY]],
    ...tried.flatMap((_, i) => [[`ONE${i}`, [MANY]], [`TWO${i}`, [MANY, MANY]]]),
  ]),
});
Deno.test.afterAll(() => system[Symbol.asyncDispose]());
await Promise.all(
  ["GOOD", ...tried.flatMap((_, i) => [`ONE${i}`, `TWO${i}`])].map((name) => settled(system, name)),
);

/** Makes daemons fail. @returns Function that ends the fault. */
async function spoil(
  daemons: readonly DaemonSimulator[],
  fault: Fault["fault"],
): Promise<() => Promise<void>> {
  if (typeof fault === "object") {
    for (const daemon of daemons) daemon.fault = fault;
    return () => {
      for (const daemon of daemons) daemon.fault = undefined;
      return Promise.resolve();
    };
  }
  await Promise.all(daemons.map((daemon) => daemon.stop()));
  const full = fault === "full"
    ? await Promise.all(daemons.map(({ commandPort }) => FullBacklog.on(commandPort)))
    : [];
  return async () => {
    for (const backlog of full) backlog.end();
    await Promise.all(daemons.map((daemon) => daemon.start()));
  };
}

/** Functions that end the faults, which all begin at the same time. */
const spoiled = await Promise.all(
  tried.map(({ fault }, i) => spoil([system.daemon(`ONE${i}`), system.daemon(`TWO${i}`)], fault)),
);

let mended = 0;
/** Answers of a good daemon during the faults, with the number of ended faults: no fault ends before them. */
const good = Promise.all(
  Array.from({ length: 20 }, async () => {
    const { status } = await system.ask("/rest/auth/GOOD", POST);
    return [status, mended] as const;
  }),
);
good.catch(() => {}); // its test awaits it
/** Outcomes of the faults. */
const outcomes = tried.map(async (_, i) => {
  const [one, two] = [`ONE${i}`, `TWO${i}`];
  const began = performance.now();
  const [alone, grouped] = await Promise.all([
    system.ask(`/rest/auth/${one}`, POST),
    // The requests begin with different daemons, so that one of them meets the fault.
    Promise.all([system.ask(`/rest/auth/${two}`, POST), system.ask(`/rest/auth/${two}`, POST)]),
  ]);
  const took = performance.now() - began;
  const asked = performance.now();
  const list = await system.ask("/rest/auth", { as: ALICE });
  const listTook = performance.now() - asked;
  const line = await system.logged(new RegExp(`request answered.*request=${alone.json().requestId}`));
  await good;
  mended++;
  await spoiled[i]?.();
  const mendedAt = performance.now();
  // Requests also wait for the reply to a check that the daemon accepted before the fault ended.
  await until(async () => (await system.ask(`/rest/auth/${one}`, POST)).status === 200, {
    what: `sessions of ${one} again after its fault`,
    everyMs: 100,
  });
  return {
    alone,
    grouped,
    took,
    list,
    listTook,
    line,
    recovered: within(performance.now() - mendedAt),
  };
});
for (const outcome of outcomes) outcome.catch(() => {}); // tests await them

for (const [i, { what, alone, grouped = 200 }] of tried.entries()) {
  Deno.test(`a daemon that ${what} affects only its own callers, and only while the fault lasts`, async () => {
    const outcome = await outcomes[i];
    assert(outcome);
    const error = outcome.alone.json();
    // A check of the daemon may notice the fault before the request does.
    const code = alone === UNAVAILABLE && error.code === "ERR_SERVER_DOWN" ? alone[1] : error.code;
    assert.deepEqual([outcome.alone.status, code], alone);
    assert(!/alice|127\.0\.0\.1|\d{5}/.test(String(error.errorMessage)), "nothing of accounts and addresses");
    assert.deepEqual(outcome.grouped.map(({ status }) => status).sort(), [200, grouped]);
    assert.equal(outcome.list.status, 200);
    assert(outcome.listTook < PROMPT_MS, `GET took ${outcome.listTook} ms`);
    note({
      section: "Transfer daemons",
      fault: `a daemon ${what}`,
      caller: `POST ${alone[0]} \`${alone[1]}\` ${
        within(outcome.took)
      }; a group of two answers ${grouped}; GET 200`,
      log: causeIn(outcome.line),
      after: `other servers unaffected; sessions again ${outcome.recovered} after the fault`,
    });
  });
}

Deno.test("a daemon that resets the connection after its reply causes a session or 502", async () => {
  await using system = await runService({ servers: { HPC: [MANY] } });
  await settled(system);
  system.daemon().fault = { kind: "reset-after-reply" };
  const { status } = await system.ask("/rest/auth/HPC", POST);
  assert(status === 200 || status === 502, `${status}`); // the reset may overtake the reply
  system.daemon().fault = undefined;
  const began = performance.now();
  while ((await system.ask("/rest/auth/HPC", POST)).status !== 200) {
    assert(performance.now() - began < 10_000, "not usable again");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  note({
    section: "Transfer daemons",
    fault: "a daemon resets the connection after its reply",
    caller: "POST 200 if the reply was read before, else 502 `ERR_DAEMON_REPLY_INVALID`",
    log: "for 502: closes without a reply",
    after: `sessions again ${within(performance.now() - began)} after the fault`,
  });
});

Deno.test("a daemon whose host has no address affects only its own callers", async () => {
  const nowhere = { "authservice.server.ONE.commandHost": "nowhere.invalid" };
  await using system = await runService({
    servers: { ONE: [MANY], TWO: [MANY, MANY] },
    properties: { ...nowhere, "authservice.server.TWO.1.commandHost": "nowhere.invalid" },
  });
  const reply = await system.ask("/rest/auth/ONE", POST);
  const { code, requestId, errorMessage } = reply.json();
  // The first check of the daemon may have noticed this before the request.
  assert.equal(reply.status, 503);
  assert.match(String(code), /^ERR_(?:DAEMON_UNAVAILABLE|SERVER_DOWN)$/);
  assert(!String(errorMessage).includes("nowhere"), "nothing of addresses");
  for (let i = 0; i < 4; i++) assert.equal((await system.ask("/rest/auth/TWO", POST)).status, 200);
  assert.equal((await system.ask("/rest/auth", { as: ALICE })).status, 200);
  assert.match(String(requestId), /^[0-9a-f-]{36}$/);
  const line = await system.logged(/daemon is down server=ONE /);
  note({
    section: "Transfer daemons",
    fault: "the host of a daemon has no address",
    caller: `POST ${reply.status} \`${code}\` at once; a group of two answers 200; GET 200`,
    log: causeIn(line),
    after: "other servers unaffected",
  });
});

Deno.test("while all these daemons fail, a good one loses no request", async () => {
  const none = [200, 0].join(); // answered before any daemon recovered
  assert.deepEqual([...new Set((await good).map((each) => each.join()))], [none]);
});
