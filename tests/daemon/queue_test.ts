import assert from "node:assert/strict";
import { inTime, until } from "../fixtures/deadline.ts";
import { type Exchange, failure } from "../../src/daemon/exchange.ts";
import { BacklogShare, Queue } from "../../src/daemon/queue.ts";
import { Daemons } from "../../src/daemon/daemons.ts";
import { DaemonPool } from "../../src/daemon/daemon_pool.ts";
import { SILENT } from "../../src/logging/logger.ts";
import { material, ORDER, startTlsDaemon } from "./setting.ts";

const answered = <T>(reply: T): Exchange<T> => ({ kind: "answered", reply });

/** Queued requests that run until a test ends them, and the order in which they began. */
class Requests {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();
  concurrency = 0;
  most = 0;

  /** Requests that began while another was under way; each is added when the other one ended. */
  readonly ahead: string[] = [];

  constructor(readonly queue = new Queue({ concurrency: () => 1, waiting: 6, perKey: 4 })) {}

  come(
    name: string,
    { queueKey = "a", maxWait = 60_000, signal = new AbortController().signal, maxTurnMs = Infinity } = {},
  ) {
    return this.queue.take({
      queueKey,
      maxWait,
      signal,
      ...(maxTurnMs < Infinity && { maxTurnMs }),
      run: async (ahead) => {
        this.begun.push(name);
        void ahead?.then(() => this.ahead.push(name));
        this.most = Math.max(this.most, ++this.concurrency);
        await new Promise<void>((resolve) => this.#ends.set(name, resolve));
        this.concurrency--;
        return answered(name);
      },
    });
  }

  end(name: string): void {
    this.#ends.get(name)?.();
  }
}

/** Ends each request that begins, until all are served. */
async function serveAll(desk: Requests, all: readonly Promise<unknown>[]): Promise<void> {
  let over = false;
  const done = Promise.all(all).then(() => over = true);
  for (let next = 0; !over;) {
    const name = desk.begun[next];
    if (name !== undefined) {
      desk.end(name);
      next++;
    }
    await Promise.resolve();
  }
  await done;
}

Deno.test("Queue serves one request at a time, in order of arrival", async () => {
  const desk = new Requests();
  const all = ["1", "2", "3", "4"].map((name) => desk.come(name));
  assert.deepEqual([desk.begun, desk.queue.length, desk.queue.idle], [["1"], 3, false]);
  await serveAll(desk, all);
  assert.deepEqual(await Promise.all(all), ["1", "2", "3", "4"].map(answered));
  assert.deepEqual([desk.begun, desk.most, desk.queue.idle], [["1", "2", "3", "4"], 1, true]);
});

Deno.test("Queue starts the next request while one is served, if two may be under way, and signals its turn", async () => {
  const desk = new Requests(new Queue({ concurrency: () => 2, waiting: 6, perKey: 4 }));
  const all = ["1", "2", "3"].map((name) => desk.come(name));
  assert.deepEqual([desk.begun, desk.queue.length, desk.ahead], [["1", "2"], 1, []]);
  desk.end("1");
  await all[0];
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([desk.begun, desk.ahead], [["1", "2", "3"], ["2"]]);
  let closed = false;
  const closing = desk.queue.close().then(() => closed = true);
  desk.end("2");
  await all[1];
  assert.equal(closed, false);
  desk.end("3");
  await closing;
  assert.deepEqual([desk.most, desk.ahead, desk.queue.idle], [2, ["2", "3"], true]);
});

Deno.test("Queue serves keys in turn, so that many requests of one key delay others by at most one turn", async () => {
  const desk = new Requests();
  const crowd = ["a1", "a2", "a3", "a4"].map((name) => desk.come(name));
  const others = [
    desk.come("b1", { queueKey: "b" }),
    desk.come("c1", { queueKey: "c" }),
    desk.come("b2", { queueKey: "b" }),
  ];
  await serveAll(desk, [...crowd, ...others]);
  assert.deepEqual(desk.begun, ["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
});

Deno.test("Queue reports busy when it or the share of a key is full, first for the key with the most requests", async () => {
  const desk = new Requests();
  const all = [0, 1, 2, 3, 4].map((i) => desk.come(`a${i}`));
  assert.deepEqual(await desk.come("a5"), failure("busy", "before"));
  all.push(desk.come("b1", { queueKey: "b" }), desk.come("b2", { queueKey: "b" }));
  all.push(desk.come("c1", { queueKey: "c" }));
  assert.deepEqual(await all[4], failure("busy", "before"), "the last of the longest lane has made room");
  assert.deepEqual(await desk.come("b3", { queueKey: "b" }), failure("busy", "before"), "no lane is longer");
  await serveAll(desk, all);
  assert.deepEqual(desk.begun, ["a0", "a1", "b1", "c1", "a2", "b2", "a3"]);
});

Deno.test("Queue frees the place of a waiting caller at once when it leaves", async () => {
  const desk = new Requests();
  const leaving = new AbortController();
  const [first, second, third] = [desk.come("1"), desk.come("2", { signal: leaving.signal }), desk.come("3")];
  leaving.abort();
  assert.deepEqual(await second, failure("aborted", "before"));
  assert.equal(desk.queue.length, 1);
  assert.deepEqual(await desk.come("4", { signal: AbortSignal.abort() }), failure("aborted", "before"));
  await serveAll(desk, [first, third]);
  assert.deepEqual(desk.begun, ["1", "3"]);
});

Deno.test("Queue finishes the request under way even if its caller leaves", async () => {
  const desk = new Requests();
  const leaving = new AbortController();
  const first = desk.come("1", { signal: leaving.signal });
  leaving.abort();
  desk.end("1");
  assert.deepEqual(await first, answered("1"));
});

Deno.test("Queue refuses a request that has waited too long", async () => {
  const desk = new Requests();
  const first = desk.come("1");
  assert.deepEqual(await desk.come("2", { maxWait: 1 }), failure("busy", "before"));
  desk.end("1");
  await first;
  assert.deepEqual(desk.begun, ["1"]);
});

Deno.test("Queue.drain() refuses all waiting requests, and accepts later ones", async () => {
  const desk = new Requests();
  const first = desk.come("1");
  const waiting = [desk.come("2"), desk.come("3", { queueKey: "b" })];
  desk.queue.drain(failure("refused", "before"));
  assert.deepEqual(await Promise.all(waiting), [failure("refused", "before"), failure("refused", "before")]);
  await serveAll(desk, [first, desk.come("4")]);
  assert.deepEqual(desk.begun, ["1", "4"]);
});

Deno.test("Queue.close() waits for the request under way, and refuses the others", async () => {
  const desk = new Requests();
  const [first, second] = [desk.come("1"), desk.come("2")];
  let closed = false;
  const closing = desk.queue.close().then(() => closed = true);
  assert.deepEqual(await second, failure("closing", "before"));
  assert.deepEqual(await desk.come("3"), failure("closing", "before"));
  assert.equal(closed, false);
  desk.end("1");
  assert.deepEqual(await first, answered("1"));
  await closing;
});

Deno.test("Queue serves the next request if one takes too long, and closes only when both have ended", async () => {
  for (const concurrency of [1, 2] as const) {
    const desk = new Requests(new Queue({ concurrency: () => concurrency, waiting: 6, perKey: 4 }));
    const slow = [desk.come("1", { maxTurnMs: 1 }), desk.come("2", { maxTurnMs: 1 })];
    for (const name of ["3", "4"]) {
      const next = desk.come(name);
      await until(() => desk.begun.includes(name), { everyMs: 1 });
      desk.end(name);
      assert.deepEqual(await next, answered(name));
    }
    let closed = false;
    const closing = desk.queue.close().then(() => closed = true);
    for (const [i, exchange] of slow.entries()) {
      assert.equal(closed, false);
      desk.end(`${i + 1}`);
      assert.deepEqual(await exchange, answered(`${i + 1}`));
    }
    await closing;
  }
});

Deno.test("BacklogShare limits connections to the places of the daemon, for any number of instances", () => {
  assert.deepEqual([1, 2, 3, 4, 9].map((n) => new BacklogShare(() => n).concurrency(true)), [2, 2, 1, 1, 1]);
  assert.equal(new BacklogShare(() => 1).concurrency(false), 1);
});

Deno.test("BacklogShare pauses if there are more instances than places and all places are taken", () => {
  const few = new BacklogShare(() => 4);
  for (const ms of [5, 20, 1000]) assert.equal(few.pauseAfter(ms), 0);
  const many = new BacklogShare(() => 16);
  assert.equal(many.pauseAfter(5), 0, "nobody else is there");
  assert.equal(many.pauseAfter(6), 0);
  const pause = many.pauseAfter(20);
  assert.ok(pause >= 12 * 5 && pause <= 12 * 5.3, String(pause));
  assert.ok(many.pauseAfter(1020) <= 12 * 5.5, "a connection that was dropped and came again");
});

Deno.test("BacklogShare learns that a daemon has become slower", () => {
  const share = new BacklogShare(() => 5);
  share.pauseAfter(1);
  let last = 1;
  for (let i = 0; i < 200; i++) last = share.pauseAfter(10);
  assert.equal(last, 0);
});

/** Opens sessions from several instances. @param whole Replies that wait until another connection opens. */
async function serve(instances: number, sessions: number, whole: number) {
  await using daemon = await startTlsDaemon({ maxSessions: 100 });
  daemon.repliesWithNext = whole;
  const groups = Array.from({ length: instances }, () =>
    new DaemonPool({
      name: "HPC",
      description: "Cluster",
      instances: [{
        host: "hpc.example.org",
        commandHost: daemon.host,
        commandPort: daemon.commandPort,
        ssl: true,
      }],
    }, {
      tls: () => material,
      clock: Date.now,
      log: SILENT,
      daemons: new Daemons({ clusterMembers: () => instances }),
    }));
  const { signal } = new AbortController();
  await inTime(
    Promise.all(
      groups.flatMap((group) =>
        Array.from({ length: sessions / instances }, () => group.openSession(ORDER, { signal }))
      ),
    ),
    "the next connection to a daemon that replies only while another one waits",
  );
  await Promise.all(groups.map((group) => group.close()));
  return { mostAtOnce: daemon.mostAtOnce, connections: daemon.connections };
}

Deno.test("three instances keep a daemon busy: a connection always waits, and never more than it accepts", async () => {
  // Two of three instances have 40 of the 60 sessions: until these are open, at least two have requests.
  const { mostAtOnce, connections } = await serve(3, 60, 38);
  assert.ok(mostAtOnce >= 2 && mostAtOnce <= 4, `${mostAtOnce} connections at once`);
  assert.ok(connections <= 60 + 3, "one ping each");
});
