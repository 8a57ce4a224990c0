import assert from "node:assert/strict";
import { setImmediate } from "node:timers/promises";
import { PostgresWatch } from "../../../src/store/postgres/postgres_watch.ts";
import { VirtualTime } from "../../fixtures/virtual_time.ts";

const TIMEOUT_MS = 5000;

type Rows = readonly Record<string, boolean | number>[];
const FINE: Rows = [{ readOnly: false }];

/** Watch with virtual time and a simulated server. */
class Watched {
  readonly time = new VirtualTime();
  readonly said: string[] = [];
  /** Statements on connections, with the second of each. */
  readonly asked: string[] = [];
  /** Answer of connections. */
  answer: () => Promise<Rows> = () => Promise.resolve(FINE);
  /** Number of opened connections, and of those that are open. */
  opened = 0;
  open = 0;
  /** Number of successful checks of the connection, and of reports that other connections are unusable. */
  pings = 0;
  unusable = 0;
  /** Pause before the next connection by the state of the database, in milliseconds. */
  waitMs = 0;
  listener: (table: string) => void = () => {};
  readonly watch: PostgresWatch;

  constructor(public reachable: boolean) {
    this.watch = new PostgresWatch({
      open: (_signal, listener) => {
        if (!this.reachable) return Promise.reject(new Error("nobody is there"));
        this.listener = listener;
        return Promise.resolve(this.#connection());
      },
    }, {
      timeoutMs: TIMEOUT_MS,
      state: this.#state(),
      pinged: () => this.pings++,
      unusable: () => this.unusable++,
      schedule: this.time.schedule,
    });
  }

  #state() {
    const setListening = (why?: string) => {
      const text = why === undefined ? "there" : `away ${why}`;
      if (this.said.at(-1) !== text) this.said.push(text);
    };
    const last = () => this.said.at(-1) === "there";
    const wait = () => this.waitMs;
    return {
      setListening,
      get isListening() {
        return last();
      },
      get waitMs() {
        return wait();
      },
    };
  }

  #connection() {
    this.opened++;
    this.open++;
    const begin = this.time.now;
    const over = Promise.withResolvers<never>();
    over.promise.catch(() => {});
    let isAlive = true;
    const closed = Promise.withResolvers<void>();
    return {
      closed: closed.promise,
      run: (text: string) => {
        this.asked.push(`${(this.time.now - begin) / 1000} ${text.split(" ")[0]}`);
        return Promise.race([this.answer(), over.promise]);
      },
      destroy: () => {
        if (isAlive) this.open--;
        isAlive = false;
        closed.resolve();
        over.reject(new Error("it was ended"));
      },
      get isAlive() {
        return isAlive;
      },
    };
  }

  /** Advances the time, in milliseconds. */
  async pass(ms: number): Promise<void> {
    await setImmediate();
    await this.time.advance(ms, setImmediate);
    await setImmediate();
  }
}

function test(
  name: string,
  check: (watched: Watched) => Promise<void>,
  { reachable = true } = {},
): void {
  Deno.test(`PostgresWatch ${name}`, async () => {
    const watched = new Watched(reachable);
    await check(watched);
    watched.watch.close();
    await watched.pass(3600_000);
    assert.equal(watched.time.pending, 0, "no timer is left");
    assert.equal(watched.open, 0, "no connection is left");
  });
}

test("listens before it reports so, and gets no notifications before that", async (watched) => {
  const listening = Promise.withResolvers<Rows>();
  watched.answer = () => listening.promise;
  await watched.pass(100);
  assert.deepEqual([watched.asked, watched.said, watched.watch.isListening], [["0 LISTEN"], [], false]);
  const before = watched.watch.version("share");
  listening.resolve([]);
  watched.answer = () => Promise.resolve(FINE);
  await watched.pass(0);
  assert.deepEqual([watched.said, watched.watch.isListening], [["there"], true]);
  assert.equal(watched.watch.version("share"), before + 1, "what changed before is unknown");
});

test("reports which table was changed", async (watched) => {
  await watched.pass(0);
  const [shares, records] = [watched.watch.version("share"), watched.watch.version("record")];
  watched.listener("share");
  watched.listener("share");
  assert.deepEqual(
    [watched.watch.version("share") - shares, watched.watch.version("record") - records],
    [2, 0],
  );
});

test("notifies listeners of each change, and when all may have changed", async (watched) => {
  let told = 0;
  const { watch } = watched;
  watch.onChange(() => {
    told++;
    assert.ok(watch.isListening, "what is changed can be read");
  });
  await watched.pass(0);
  assert.equal(told, 1, "it listens now");
  watched.listener("share");
  assert.equal(told, 2);
  await watched.pass(15_000);
  assert.equal(told, 3);
});

test("checks the connection every 5 s, and treats all as changed every 15 s", async (watched) => {
  await watched.pass(0);
  const before = watched.watch.version("share");
  await watched.pass(14_999);
  assert.deepEqual(watched.asked, [
    "0 LISTEN",
    ...[5, 10].map((second) => `${second} SELECT`),
  ]);
  assert.equal(watched.watch.version("share"), before);
  await watched.pass(1);
  assert.equal(watched.watch.version("share"), before + 1, "15 s");
  await watched.pass(14_999);
  assert.equal(watched.watch.version("share"), before + 1);
  await watched.pass(1);
  assert.equal(watched.watch.version("share"), before + 2);
});

test("reports each successful check", async (watched) => {
  await watched.pass(50_000);
  assert.equal(watched.pings, 10);
  assert.equal(watched.unusable, 0);
});

test(
  "waits as long as the state of the database requires before it opens another connection",
  async (watched) => {
    watched.waitMs = 15_000;
    await watched.pass(0);
    assert.equal(watched.opened, 0);
    watched.reachable = true;
    await watched.pass(14_999);
    assert.equal(watched.opened, 0);
    await watched.pass(1);
    assert.equal(watched.opened, 1);
  },
  { reachable: false },
);

const ENDS: readonly (readonly [what: string, answer: Watched["answer"], said: string, afterMs: number])[] = [
  [
    "a server becomes read-only",
    () => Promise.resolve([{ readOnly: true }]),
    "away the server takes no changes any more",
    5000,
  ],
  ["the connection breaks", () => Promise.reject(new Error("cut")), "away cut", 5000],
  ["an answer is empty", () => Promise.resolve([]), "away the server takes no changes any more", 5000],
  ["no answer arrives", () => new Promise(() => {}), "away no answer in time", 5000 + TIMEOUT_MS],
];
for (const [what, answer, said, afterMs] of ENDS) {
  test(`reports that ${what}, and listens to another server`, async (watched) => {
    await watched.pass(0);
    const before = watched.watch.version("share");
    watched.answer = answer;
    await watched.pass(afterMs - 1);
    assert.deepEqual(watched.said, ["there"]);
    await watched.pass(1);
    assert.deepEqual(watched.said, ["there", said]);
    assert.deepEqual([watched.watch.isListening, watched.open], [false, 0]);
    watched.answer = () => Promise.resolve(FINE);
    await watched.pass(249);
    assert.equal(watched.opened, 1);
    await watched.pass(1);
    assert.deepEqual(watched.said, ["there", said, "there"]);
    assert.equal(watched.watch.version("share"), before + 1, "what changed meanwhile is unknown");
  });
}

test("reports that another session answers on its connection", async (watched) => {
  let backend = 1;
  watched.answer = () => Promise.resolve([{ readOnly: false, backend }]);
  await watched.pass(10_000);
  assert.deepEqual(watched.said, ["there"]);
  backend = 2;
  await watched.pass(5000);
  assert.match(watched.said.join("; "), /^there; .*pgbouncer: pool_mode = session/);
});

test("reports only once that no server answers", async (watched) => {
  await watched.pass(10_000);
  assert.deepEqual(watched.said, ["away nobody is there"]);
  watched.reachable = true;
  await watched.pass(250);
  assert.deepEqual(watched.said, ["away nobody is there", "there"]);
}, { reachable: false });

test("considers every table changed while it does not listen", async (watched) => {
  const { watch } = watched;
  await watched.pass(0);
  const before = watch.version("record");
  assert.equal(watch.version("record"), before);
  watched.reachable = false;
  watched.answer = () => Promise.reject(new Error("cut"));
  await watched.pass(5000);
  const versions = [before, watch.version("record"), watch.version("record")];
  watched.reachable = true;
  watched.answer = () => Promise.resolve(FINE);
  await watched.pass(250);
  versions.push(watch.version("record"));
  assert.equal(new Set(versions).size, 4, String(versions));
  assert.equal(watch.version("record"), versions.at(-1), "it listens");
});

test("reports nothing when it is closed", async (watched) => {
  await watched.pass(0);
  watched.watch.close();
  await watched.pass(10_000);
  assert.deepEqual([watched.said, watched.opened, watched.watch.isListening], [["there"], 1, false]);
});
