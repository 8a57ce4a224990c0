import { inTime, until } from "../fixtures/deadline.ts";
import assert from "node:assert/strict";
import type { DaemonState } from "../../src/daemon/daemon.ts";
import { Daemons } from "../../src/daemon/daemons.ts";
import type { DaemonGroup, SessionRequest } from "../../src/daemon/daemon_group.ts";
import { type DaemonLimits, DaemonPool } from "../../src/daemon/daemon_pool.ts";
import { createLogger, SILENT } from "../../src/logging/logger.ts";
import type { ErrorCode } from "../../src/model/errors.ts";
import { isHttpError } from "../../src/model/http_error.ts";
import type { CommandFault } from "../daemon_simulator/command_fault.ts";
import { type DaemonOptions, type DaemonSimulator, startDaemon } from "../daemon_simulator/daemon.ts";
import { material, ORDER, settle, startTlsDaemon } from "./setting.ts";
import { VirtualTime } from "../fixtures/virtual_time.ts";
import { assertAlike } from "../fixtures/assert_alike.ts";

/** Limits in milliseconds for healthy daemons on a busy machine; `SHORT_LIMITS` are for hanging ones. */
const LONG_LIMITS = {
  connect: 30_000,
  handshake: 30_000,
  reply: 30_000,
  userInfoReply: 30_000,
  userInfoPermit: 30_000,
  total: 60_000,
};
const SHORT_LIMITS = { handshake: 1500, reply: 1500 }; // enough for a daemon that recovers

/** Group of daemons in virtual time. At its end, it checks that none of them was wedged. */
class Setting implements AsyncDisposable {
  readonly log: string[] = [];
  readonly group: DaemonGroup;
  readonly time = new VirtualTime();
  /** Knowledge with which the next service would begin, by command address. */
  readonly known = new Map<string, DaemonState>();
  #set = 7_200_000;

  private constructor(readonly daemons: readonly DaemonSimulator[], limits: Partial<DaemonLimits>) {
    this.group = new DaemonPool({
      name: "HPC",
      description: "Cluster",
      instances: daemons.map((daemon, i) => ({
        host: `hpc${i + 1}.example.org`,
        port: 64434,
        commandHost: daemon.host,
        commandPort: daemon.commandPort,
        ssl: true,
      })),
    }, {
      tls: () => material,
      // Jumps two hours forward or back at each call: no duration depends on this clock.
      clock: () => this.time.now + (this.#set = -this.#set),
      elapsed: this.time.clock,
      schedule: this.time.schedule,
      random: () => 0.5,
      daemons: new Daemons({ learned: (address, state) => this.known.set(address, state) }),
      log: createLogger((line) => this.log.push(line.slice(25)), { clock: this.time.clock }),
      limits: { ...LONG_LIMITS, ...limits },
    });
  }

  static async start(
    size: number,
    { limits = {}, options = {} }: { limits?: Partial<DaemonLimits>; options?: DaemonOptions } = {},
  ): Promise<Setting> {
    const daemons = await Promise.all(Array.from({ length: size }, () => startTlsDaemon(options)));
    const setting = new Setting(daemons, limits);
    await setting.rest();
    return setting;
  }

  open(order: Partial<SessionRequest> = {}, instance?: number, signal = new AbortController().signal) {
    return this.group.openSession({ ...ORDER, ...order }, { instance, signal });
  }

  /** Waits until the checks under way have ended: each schedules the next. */
  async rest(): Promise<void> {
    await until(() => this.time.pending >= this.daemons.length, { everyMs: 1 });
  }

  advance(seconds: number): Promise<void> {
    return this.time.advance(seconds * 1000, () => this.rest());
  }

  /** Returns the number of session requests to each daemon. */
  sessions(): number[] {
    return this.asked("uftp-transfer-request");
  }

  asked(type: string): number[] {
    return this.daemons.map(({ requests }) =>
      requests.filter(({ values }) => values?.get("request-type") === type).length
    );
  }

  up(): boolean[] {
    return this.group.status().instances.map(({ up }) => up);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await inTime(this.group.close(), "the end of all commands");
    for (const daemon of this.daemons) {
      await settle(daemon);
      await daemon[Symbol.asyncDispose]();
    }
    assert.equal(this.time.pending, 0);
  }
}

/** Returns a group of one daemon without TLS. */
const plainGroup = (name: string, daemon: DaemonSimulator) => ({
  name,
  description: "",
  instances: [{
    host: `${name.toLowerCase()}.example.org`,
    port: 1,
    commandHost: daemon.host,
    commandPort: daemon.commandPort,
    ssl: false,
  }],
});

const PLAIN = { tls: () => material, clock: Date.now, log: SILENT };

async function assertFails(
  promise: Promise<unknown>,
  code: ErrorCode,
  fact = "",
) {
  await assert.rejects(inTime(promise, `${code} ${fact}`), (error) => {
    assert(isHttpError(error, code), `${fact}: ${error}`);
    assert.doesNotMatch(error.publicMessage, /127\.0\.0\.1|example|alice|HPC/);
    return true;
  });
}

Deno.test("openSession() announces the session to the daemon, with one connection", async () => {
  await using setting = await Setting.start(1);
  const [daemon] = setting.daemons;
  assert.equal(daemon?.connections, 1, "the first ping");
  const grant = await setting.open({ group: "users", permission: "READ" });
  assert.deepEqual([grant.host, grant.port, grant.instance], ["hpc1.example.org", daemon?.listenPort, 1]);
  assert.equal(daemon?.connections, 2);
  const values = daemon?.sessionRequests.at(-1);
  assert.equal(values?.get("secret"), grant.secret.reveal());
  assert.deepEqual([values?.get("user"), values?.get("group")], ["alice", "users"]);
  assert.notEqual((await setting.open()).secret.reveal(), grant.secret.reveal());
});

Deno.test("openSession() uses the instances in turn, or one by its number", async () => {
  await using setting = await Setting.start(3);
  const semaphore: number[] = [];
  for (let i = 0; i < 7; i++) semaphore.push((await setting.open()).instance);
  assert.deepEqual(semaphore, [1, 2, 3, 1, 2, 3, 1]);
  for (const instance of [3, 3, 2]) assert.equal((await setting.open({}, instance)).instance, instance);
  assert.equal((await setting.open()).instance, 2);
  for (const instance of [0, 4, -1, 1.5]) {
    await assertFails(setting.open({}, instance), "ERR_INSTANCE_UNKNOWN");
  }
});

Deno.test("openSession() and userInfo() rotate through the instances independently", async () => {
  await using setting = await Setting.start(2, { options: { maxSessions: 1000 } });
  for (let i = 0; i < 20; i++) {
    await setting.group.userInfo("alice", new AbortController().signal);
    await setting.open();
  }
  assert.deepEqual(setting.sessions(), [10, 10]);
  assert.deepEqual(setting.asked("uftp-get-user-info-request"), [10, 10]);
});

Deno.test("openSession() and userInfo() refuse invalid values without a request", async () => {
  await using setting = await Setting.start(1);
  await assertFails(setting.open({ user: "root" }), "ERR_INVALID_VALUE");
  await assertFails(setting.open({ file: "/a\rb/" }), "ERR_INVALID_VALUE");
  await assert.rejects(
    async () => await setting.group.userInfo("a\nb", new AbortController().signal),
    { code: "ERR_INVALID_VALUE" },
  );
  assert.equal(setting.daemons[0]?.connections, 1);
});

Deno.test("userInfo() returns keys, and reports unknown accounts", async () => {
  const users = {
    alice: {
      uid: 1000,
      home: "/home/alice",
      groups: ["users"],
      keyFiles: { ".ssh/authorized_keys": "ssh-ed25519 AAAA a\n" },
    },
    admin: { uid: 0, home: "/root", groups: ["wheel"] },
  };
  await using setting = await Setting.start(1, { options: { users } });
  const { signal } = new AbortController();
  assert.deepEqual(await setting.group.userInfo("alice", signal), {
    kind: "known",
    home: "/home/alice",
    keyLines: ["ssh-ed25519 AAAA a"],
  });
  assert.deepEqual(await setting.group.userInfo("nobody", signal), { kind: "unknown" });
  assert.deepEqual(await setting.group.userInfo("admin", signal), { kind: "unknown" });
});

Deno.test("a group without TLS works the same", async () => {
  await using daemon = await startDaemon();
  const group = new DaemonPool({
    name: "TEST",
    description: "",
    instances: [{
      host: "h",
      port: 1,
      commandHost: daemon.host,
      commandPort: daemon.commandPort,
      ssl: false,
    }],
  }, { tls: () => material, clock: Date.now, log: SILENT });
  const { signal } = new AbortController();
  assert.equal((await group.openSession(ORDER, { signal })).port, daemon.listenPort);
  assert.deepEqual(await group.userInfo("alice", signal), { kind: "unknown" });
  await group.close();
});

Deno.test("status() reports version, limit and which daemons are up", async () => {
  await using setting = await Setting.start(2);
  assertAlike(setting.group.status(), {
    usable: true,
    worthTrying: true,
    unchecked: false,
    total: 2,
    available: 2,
    instances: [
      { instance: 1, address: "hpc1.example.org:64434", up: true, latencyMs: 0 },
      { instance: 2, address: "hpc2.example.org:64434", up: true, latencyMs: 0 },
    ],
    version: "3.5.3",
    sessionLimit: 8,
  });
  await setting.daemons[0]?.stop();
  await setting.open();
  const { usable, available, instances } = setting.group.status();
  assert.deepEqual([usable, available, setting.up()], [true, 1, [false, true]]);
  assert.match(instances[0]?.reason ?? "", /connection refused/);
});

Deno.test("a group without instances reports that it is not usable", async () => {
  await using setting = await Setting.start(0);
  assert.equal(setting.group.status().usable, false);
  await assertFails(setting.open(), "ERR_DAEMON_UNAVAILABLE");
});

const FAULTS: [CommandFault, ErrorCode][] = [
  [{ kind: "hang-before-handshake" }, "ERR_DAEMON_UNAVAILABLE"],
  [{ kind: "close-at-once" }, "ERR_DAEMON_UNAVAILABLE"],
  [{ kind: "reset-at-once" }, "ERR_DAEMON_UNAVAILABLE"],
  [{ kind: "plain-text" }, "ERR_DAEMON_UNAVAILABLE"],
  [{ kind: "not-in-acl" }, "ERR_DAEMON_REPLY_INVALID"],
  [{ kind: "close-without-reply" }, "ERR_DAEMON_REPLY_INVALID"],
  [{ kind: "hang-after-request" }, "ERR_DAEMON_TIMEOUT"],
  [{ kind: "partial-reply", bytes: 5 }, "ERR_DAEMON_REPLY_INVALID"],
  [{ kind: "hang-after-partial-reply", bytes: 5 }, "ERR_DAEMON_TIMEOUT"],
  [{ kind: "unterminated-reply" }, "ERR_DAEMON_REPLY_INVALID"],
  [{ kind: "reply", reply: "OK::0\n" }, "ERR_DAEMON_REPLY_INVALID"],
  [{ kind: "reply", reply: "rubbish\n" }, "ERR_DAEMON_REPLY_INVALID"],
  [{ kind: "reply", reply: Uint8Array.of(0xff, 0x0a) }, "ERR_DAEMON_REPLY_INVALID"],
  [{ kind: "reply", reply: "ERROR::No such thing for 'alice'\n" }, "ERR_DAEMON_REFUSED"],
  [
    { kind: "reply", reply: "ERROR::Too many active sessions for 'alice' - server limit is 8\n" },
    "ERR_SESSION_LIMIT_REACHED",
  ],
];

function limitsUnder({ kind }: CommandFault): Partial<DaemonLimits> {
  return kind.startsWith("hang") ? SHORT_LIMITS : {};
}

Deno.test("openSession() alone: every fault causes its own error", async () => {
  for (const [fault, expected] of FAULTS) {
    await using setting = await Setting.start(1, { limits: limitsUnder(fault) });
    const [daemon] = setting.daemons;
    daemon?.commandFaults.queue.push(fault);
    await assertFails(inTime(setting.open(), "an error"), expected, JSON.stringify(fault));
  }
  await using setting = await Setting.start(1);
  await setting.daemons[0]?.stop();
  await assertFails(setting.open(), "ERR_DAEMON_UNAVAILABLE");
});

Deno.test("openSession() in a group: another instance takes over, with a new secret if the first may be known", async () => {
  for (const [fault, expected] of FAULTS) {
    await using setting = await Setting.start(2, { limits: limitsUnder(fault) });
    const [first, second] = setting.daemons;
    first?.commandFaults.queue.push(fault);
    if (expected === "ERR_DAEMON_REFUSED") {
      await assertFails(setting.open(), "ERR_DAEMON_REFUSED");
      continue;
    }
    const grant = await setting.open();
    assert.equal(grant.instance, 2, fault.kind);
    const [sent] = (first?.requests ?? []).flatMap(({ values }) => values?.get("secret") ?? []);
    const sure = expected === "ERR_SESSION_LIMIT_REACHED";
    if (sent !== undefined) assert.equal(sent === grant.secret.reveal(), sure, fault.kind);
    assert.equal(second?.sessionRequests.at(-1)?.get("secret"), grant.secret.reveal());
  }
});

Deno.test("openSession(): full accounts are a limit only if every instance reports it", async () => {
  await using setting = await Setting.start(2, { options: { maxSessions: 2 } });
  const semaphore: number[] = [];
  for (let i = 0; i < 4; i++) semaphore.push((await setting.open()).instance);
  assert.deepEqual(semaphore.sort(), [1, 1, 2, 2]);
  await assertFails(setting.open(), "ERR_SESSION_LIMIT_REACHED");
  assert.deepEqual(setting.up(), [true, true]);
  // The first ping, which runs concurrently with the sessions, reports the limit.
  await until(() => setting.group.status().sessionLimit !== undefined, { everyMs: 0 });
  assert.equal(setting.group.status().sessionLimit, 2);
  await setting.daemons[0]?.stop();
  await assertFails(setting.open(), "ERR_SESSION_LIMIT_REACHED", "one full, one down");
});

Deno.test("openSession(): with one of two daemons dead, 200 of 200 sessions open, and the dead one is tried once", async () => {
  await using setting = await Setting.start(2, { options: { maxSessions: 400 } });
  const [dead, alive] = setting.daemons;
  await dead?.stop();
  const grants: number[] = [];
  await Promise.all(Array.from({ length: 10 }, async (_, queueKey) => {
    for (let i = 0; i < 20; i++) grants.push((await setting.open({ user: `user${queueKey}` })).instance);
  }));
  assert.equal(grants.length, 200);
  assert(grants.every((instance) => instance === 2));
  assert.equal(alive?.connections, 201);
  assert.deepEqual(setting.log.map((line) => line.replace(/reason=.*/, "reason")), [
    "warn  daemon is down server=HPC instance=1 address=hpc1.example.org:64434 reason",
  ]);
});

Deno.test("a recovered daemon is used again within 10 s, and no request is delayed to detect it", async () => {
  for (const outage of ["refused", "hang-before-handshake", "not-in-acl"] as const) {
    const limits = outage === "hang-before-handshake" ? SHORT_LIMITS : {};
    await using setting = await Setting.start(2, { limits });
    const [ill, well] = setting.daemons;
    if (outage === "refused") await ill?.stop();
    else if (ill !== undefined) ill.fault = { kind: outage };
    for (let i = 0; i < 6; i++) assert.equal((await setting.open()).instance, 2, outage);
    const asked = ill?.connections ?? 0;
    await setting.advance(30);
    assert.deepEqual(setting.up(), [false, true], outage);
    const handedOn = () => setting.known.get(`${ill?.host}:${ill?.commandPort}`)?.failure !== undefined;
    assert(handedOn(), "that it is down");
    const before = ill?.connections ?? 0;
    const trials = before - asked; // one every 4 to 5 s
    if (outage === "not-in-acl") assert(trials >= 5 && trials <= 8, `asked ${trials} times within 30 s`);
    assert.equal((await setting.open()).instance, 2);
    assert.equal(ill?.connections, before, "no request goes there");
    if (outage === "refused") await ill?.start();
    else if (ill !== undefined) ill.fault = undefined;
    await setting.advance(10);
    assert.deepEqual(setting.up(), [true, true], outage);
    assert(!handedOn(), "and that it is not");
    const semaphore = [(await setting.open()).instance, (await setting.open()).instance];
    assert.deepEqual(semaphore.sort(), [1, 2], outage);
    assert.equal(well?.wedged, 0);
    assert.deepEqual(setting.log.map((line) => line.slice(6, 22).trimEnd()), [
      "daemon is down s",
      "daemon is up aga",
    ]);
  }
});

Deno.test("with all daemons down, requests fail at once until one succeeds", async () => {
  await using setting = await Setting.start(1, { limits: SHORT_LIMITS });
  const [daemon] = setting.daemons;
  if (daemon === undefined) return;
  daemon.fault = { kind: "hang-before-handshake" };
  await assertFails(setting.open(), "ERR_DAEMON_UNAVAILABLE");
  const connections = daemon.connections;
  await Promise.all(Array.from({ length: 20 }, () => assertFails(setting.open(), "ERR_DAEMON_UNAVAILABLE")));
  assert.equal(daemon.connections, connections, "the next trial is a second away");
  daemon.fault = undefined;
  setting.time.now += 1000;
  assert.equal((await setting.open()).instance, 1);
  assert.deepEqual(setting.up(), [true]);
});

Deno.test("a single failed request never marks a live daemon as down", async () => {
  await using setting = await Setting.start(1);
  for (let i = 0; i < 5; i++) {
    setting.daemons[0]?.commandFaults.queue.push({ kind: "close-without-reply" });
    await assertFails(setting.open(), "ERR_DAEMON_REPLY_INVALID");
    await setting.rest();
    assert.deepEqual(setting.up(), [true]);
  }
  assert.deepEqual(setting.log, []);
});

Deno.test("a daemon that failed a request is checked at once, and is down if the check fails too", async () => {
  await using setting = await Setting.start(1, { limits: SHORT_LIMITS });
  const [daemon] = setting.daemons;
  assert(daemon);
  daemon.fault = { kind: "hang-after-request" };
  await assertFails(setting.open(), "ERR_DAEMON_TIMEOUT");
  await until(() => !setting.up()[0], { everyMs: 0 }); // waits only for the limits
  daemon.fault = undefined;
  await setting.advance(15);
  assert.deepEqual(setting.up(), [true]);
});

Deno.test("an idle daemon is pinged about every eight seconds, a busy one every ten minutes", async () => {
  await using setting = await Setting.start(1, { options: { maxSessions: 1000 } });
  const [daemon] = setting.daemons;
  await setting.advance(60);
  const pings = (daemon?.connections ?? 0) - 1;
  assert(pings >= 6 && pings <= 9, `${pings} pings in an idle minute`);
  const before = daemon?.connections ?? 0;
  for (let i = 0; i < 150; i++) {
    await setting.open({ user: `user${i % 20}` });
    await setting.advance(5);
  }
  const busy = (daemon?.connections ?? 0) - before - 150;
  assert(busy >= 1 && busy <= 2, `${busy} pings in 12.5 busy minutes`);
});

Deno.test("an unused daemon that dies is detected within 15 s, whatever the cause", async () => {
  for (const outage of ["refused", "hang-before-handshake"] as const) {
    await using setting = await Setting.start(1, { limits: SHORT_LIMITS });
    const [daemon] = setting.daemons;
    await setting.advance(20);
    assert.deepEqual(setting.up(), [true]);
    if (outage === "refused") await daemon?.stop();
    else if (daemon !== undefined) daemon.fault = { kind: outage };
    await setting.advance(10); // in addition to at most 5 s for connection or handshake
    assert.deepEqual(setting.up(), [false], outage);
  }
});

Deno.test("a daemon is up only after its first answer; until then requests may try it", async () => {
  await using daemon = await startDaemon();
  daemon.fault = { kind: "hang-after-request" };
  const group = new DaemonPool(plainGroup("TEST", daemon), PLAIN);
  const { usable, unchecked, worthTrying, available, instances } = group.status();
  assert.deepEqual([usable, unchecked, worthTrying, available], [false, true, true, 0]);
  assertAlike(instances, [
    { instance: 1, address: "test.example.org:1", up: false, unchecked: true, reason: "not checked yet" },
  ]);
  await group.close();
  daemon.fault = undefined;
  const another = new DaemonPool(plainGroup("TEST", daemon), PLAIN);
  const { signal } = new AbortController();
  assert.equal((await another.openSession(ORDER, { signal })).port, daemon.listenPort);
  assert.equal(another.status().usable, true);
  await another.close();
});

Deno.test("a pool passes its knowledge of daemons to the next one, which checks it again", async () => {
  await using daemon = await startDaemon();
  const known = new Map<string, DaemonState>();
  const learned = (address: string, state: DaemonState) => known.set(address, state);
  const run = () =>
    new DaemonPool(plainGroup("TEST", daemon), {
      ...PLAIN,
      daemons: new Daemons({ known: structuredClone(known), learned }),
    });
  const first = run();
  await until(() => known.size > 0 && first.status().version !== undefined, { everyMs: 0 });
  await first.close();
  assert.deepEqual([...known.keys()], [`${daemon.host}:${daemon.commandPort}`]);

  await daemon.stop();
  const second = run();
  assert.deepEqual([second.status().usable, second.status().version], [true, "3.5.3"]);
  await until(() => !second.status().usable, { everyMs: 0 });
  await second.close();
  const third = run();
  assert.match(third.status().instances[0]?.reason ?? "", /connection refused/);
  assert.equal(third.status().worthTrying, false);
  await daemon.start();
  await third.close();
});

Deno.test("an unconfigured port is learned from the first ping, or else from a session", async () => {
  for (const old of [false, true]) {
    await using daemon = await startDaemon();
    if (old) daemon.commandFaults.queue.push({ kind: "reply", reply: "Version: 2.0\n" });
    const { name, description, instances } = plainGroup("TEST", daemon);
    const portless = instances.map((instance) => ({ ...instance, port: undefined }));
    const group = new DaemonPool({ name, description, instances: portless }, PLAIN);
    const address = () => group.status().instances[0]?.address;
    assert.equal(address(), "test.example.org");
    await until(() => group.status().version !== undefined, { everyMs: 0 });
    assert.equal(address(), old ? "test.example.org" : `test.example.org:${daemon.listenPort}`);
    await group.openSession(ORDER, { signal: new AbortController().signal });
    assert.equal(address(), `test.example.org:${daemon.listenPort}`);
    await group.close();
  }
});

Deno.test("servers that share a daemon share its queue and its status", async () => {
  await using daemon = await startDaemon({ maxSessions: 100 });
  const log: string[] = [];
  const parts = {
    ...PLAIN,
    log: createLogger((line) => log.push(line.slice(25)), { clock: Date.now }),
    daemons: new Daemons(),
  };
  const [one, two] = [
    new DaemonPool(plainGroup("ONE", daemon), parts),
    new DaemonPool(plainGroup("TWO", daemon), parts),
  ];
  await until(() => one.status().version !== undefined, { everyMs: 0 });
  assert.equal(daemon.connections, 1, "one ping for both");
  assert.equal(two.status().usable, true);
  assert.equal(two.status().instances[0]?.address, "two.example.org:1");
  const { signal } = new AbortController();
  daemon.delay = 5;
  let most = 0;
  const watch = setInterval(() => most = Math.max(most, daemon.openConnections), 1);
  const grants = await Promise.all(
    Array.from({ length: 10 }, (_, i) => (i % 2 ? one : two).openSession(ORDER, { signal })),
  );
  clearInterval(watch);
  assert.deepEqual(new Set(grants.map(({ host }) => host)), new Set(["one.example.org", "two.example.org"]));
  assert.equal(most, 1, "one queue");
  await one.close();
  assert.equal((await two.openSession(ORDER, { signal })).port, daemon.listenPort, "the other still has it");
  await daemon.stop();
  await assertFails(two.openSession(ORDER, { signal }), "ERR_DAEMON_UNAVAILABLE");
  assert.deepEqual(log.map((line) => line.replace(/ reason=.*/, "")), [
    "warn  daemon is down server=ONE instance=1 address=one.example.org:1 also=TWO",
  ]);
  assert.equal(one.status().usable, false);
  await two.close();
  await daemon.start();
});

Deno.test("a full queue spills over to the next instance, and if all are full, requests fail with a clear error", async () => {
  await using setting = await Setting.start(2, { options: { maxSessions: 200 } });
  const [first, second] = setting.daemons;
  const grants = Array.from({ length: 80 }, (_, i) => setting.open({ user: `u${i % 3}` }, 1));
  // An instance queues 64 requests of one account besides the one under way; the rest go to the other one.
  const crowd = Array.from({ length: 150 }, () => setting.open({ user: "bob" }));
  const results = await Promise.allSettled([...grants, ...crowd]);
  const failed = results.filter((result) => result.status === "rejected");
  for (const { reason } of failed) assert(isHttpError(reason, "ERR_DAEMON_UNAVAILABLE"), String(reason));
  assert(failed.length > 0 && failed.length < 80, `${failed.length} were sent away`);
  assert((first?.connections ?? 0) > 80 && (second?.connections ?? 0) > 40);
});

Deno.test("a daemon is not marked as down when a request runs out of time", async () => {
  await using setting = await Setting.start(1, { limits: { total: 100 } });
  setting.daemons[0]?.commandFaults.queue.push({ kind: "hang-before-handshake" });
  await assertFails(setting.open(), "ERR_DAEMON_UNAVAILABLE");
  assert.deepEqual(setting.up(), [true]);
  assert.deepEqual(setting.log, []);
});

Deno.test("the time limit of a request does not start while the daemon serves another", async () => {
  await using setting = await Setting.start(1, {
    limits: { connect: 1500, handshake: 1500 },
    options: { maxSessions: 1000 },
  });
  const [daemon] = setting.daemons;
  if (daemon === undefined) return;
  daemon.delay = 2000;
  const grants = await Promise.all([setting.open(), setting.open(), setting.open()]);
  assert.equal(new Set(grants.map(({ secret }) => secret.reveal())).size, 3);
  assert.deepEqual(setting.up(), [true]);
});

Deno.test("a request that is connected when the one before it fails goes elsewhere at once, and wedges no daemon", async () => {
  await using setting = await Setting.start(2, { limits: { handshake: SHORT_LIMITS.handshake } });
  const [hanging] = setting.daemons;
  if (hanging === undefined) return;
  hanging.fault = { kind: "hang-before-handshake" };
  const before = hanging.connections;
  const grants = await Promise.all(Array.from({ length: 8 }, () => setting.open()));
  assert.deepEqual(grants.map(({ instance }) => instance), Array(8).fill(2));
  assert.equal(hanging.connections - before, 2, "the one that failed, and the one that stood ready");
});

Deno.test("callers that leave early get no session, and never break a connection", async () => {
  await using setting = await Setting.start(2, {
    options: { maxSessions: 1000 },
  });
  const outcomes = await Promise.allSettled(Array.from({ length: 60 }, async (_, i) => {
    const leaving = new AbortController();
    const opened = setting.open({ user: `user${i % 10}` }, undefined, leaving.signal);
    setTimeout(() => leaving.abort(new DOMException("left", "AbortError")), i % 30);
    return await opened;
  }));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.equal(outcome.reason.name, "AbortError");
  }
  await assert.rejects(
    setting.open({}, undefined, AbortSignal.abort(new DOMException("left", "AbortError"))),
    {
      name: "AbortError",
    },
  );
  assert.equal((await setting.open()).host.endsWith(".example.org"), true);
});

Deno.test("close() waits for requests under way, and refuses waiting ones", async () => {
  await using setting = await Setting.start(1);
  const [daemon] = setting.daemons;
  if (daemon === undefined) return;
  daemon.delay = 50;
  const [served, ready] = [setting.open(), setting.open()];
  const waiting = assertFails(setting.open(), "ERR_DAEMON_UNAVAILABLE");
  await setting.group.close();
  assert.deepEqual([(await served).instance, (await ready).instance], [1, 1]);
  await waiting;
  await assertFails(setting.open(), "ERR_DAEMON_UNAVAILABLE");
  assert.deepEqual(setting.sessions(), [2]);
});
