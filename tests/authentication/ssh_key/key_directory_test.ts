import assert from "node:assert/strict";
import type { AuthorizedKey } from "../../../src/authentication/ssh_key/authorized_keys.ts";
import {
  type KeyCacheTimes,
  KeyDirectory,
  type KeySource,
} from "../../../src/authentication/ssh_key/key_directory.ts";
import { createLogger } from "../../../src/logging/logger.ts";
import { SHEET_KEY_LINE } from "./user_keys.ts";

const NEVER = new AbortController().signal;
const SEEKER = { queueKey: "192.0.2.17", known: false, signal: NEVER };
const some = (keys: readonly AuthorizedKey[]) => Promise.resolve(keys.length > 0);

/** Server with answers of the test. */
class Server implements KeySource {
  readonly asked: string[] = [];
  readonly signals: AbortSignal[] = [];
  answer: (user: string) => Promise<readonly string[]> = () => Promise.resolve([]);

  constructor(readonly server: string) {}

  keyLines(user: string, signal: AbortSignal): Promise<readonly string[]> {
    this.asked.push(user);
    this.signals.push(signal);
    return this.answer(user);
  }

  knows(...users: string[]): this {
    this.answer = (user) => Promise.resolve(users.includes(user) ? [SHEET_KEY_LINE] : []);
    return this;
  }

  fails(): this {
    this.answer = () => Promise.reject(new Error("connection refused"));
    return this;
  }

  hangs(): this {
    this.answer = () => new Promise(() => {});
    return this;
  }
}

/** Recorder of the delays of timers. */
class WaitingTimes implements Disposable {
  readonly #setTimeout = globalThis.setTimeout;
  #ms: (number | undefined)[] = [];

  constructor() {
    const set = this.#setTimeout;
    globalThis.setTimeout = Object.assign((task: () => void, ms?: number) => {
      this.#ms.push(ms);
      return set(task, ms);
    }, set);
  }

  /** Returns the delays of timers since the last call, in milliseconds. */
  take(): readonly (number | undefined)[] {
    const taken = this.#ms;
    this.#ms = [];
    return taken;
  }

  [Symbol.dispose](): void {
    globalThis.setTimeout = this.#setTimeout;
  }
}

/** Runs a test with a directory over these servers, a stopped clock, and the lines of its log. */
async function withDirectory(
  servers: readonly Server[],
  times: Partial<KeyCacheTimes>,
  run: (at: {
    confirmed: (user?: string) => Promise<string[]>;
    failed: (user?: string) => Promise<string[]>;
    wait: (seconds: number) => void;
    log: string[];
    directory: KeyDirectory;
  }) => Promise<void>,
): Promise<void> {
  let now = Date.UTC(2026, 0, 1);
  const log: string[] = [];
  const parts = { elapsed: () => now, log: createLogger((line) => log.push(line), { threshold: "debug" }) };
  const directory = new KeyDirectory(servers, { updateMs: 600_000, ...times }, parts);
  const confirm = (user = "ann") => directory.confirm(user, some, SEEKER);
  try {
    await run({
      confirmed: async (user) => [...(await confirm(user)).confirmed].sort(),
      failed: async (user) => [...(await confirm(user)).failed].sort(),
      wait: (seconds) => now += seconds * 1000,
      log,
      directory,
    });
  } finally {
    directory.close();
  }
}

Deno.test("KeyDirectory returns the servers that report a key of the user, and asks each once", async () => {
  const [a, b, c] = [new Server("A").knows("ann"), new Server("B"), new Server("C").knows("ann", "bob")];
  await withDirectory([a, b, c], {}, async ({ confirmed, failed }) => {
    assert.deepEqual(await confirmed(), ["A", "C"]);
    assert.deepEqual(await confirmed("bob"), ["C"]);
    assert.deepEqual(await confirmed(), ["A", "C"]);
    assert.deepEqual(await failed(), []);
    for (const { asked } of [a, b, c]) assert.deepEqual(asked, ["ann", "bob"]);
  });
});

Deno.test("KeyDirectory asks again about a user with keys after the interval, about others after 30 s", async () => {
  const [a, b] = [new Server("A").knows("ann"), new Server("B")];
  await withDirectory([a, b], {}, async ({ confirmed, wait }) => {
    const both = async () => [await confirmed("ann"), await confirmed("bob")];
    const times = (user: string) => [a, b].map(({ asked }) => asked.filter((name) => name === user).length);
    assert.deepEqual(await both(), [["A"], []]);
    wait(29.9);
    await both();
    assert.deepEqual([times("ann"), times("bob")], [[1, 1], [1, 1]]);
    wait(0.1);
    await both();
    assert.deepEqual([times("ann"), times("bob")], [[1, 1], [2, 2]]);
    wait(569.9);
    await confirmed();
    assert.deepEqual(times("ann"), [1, 1]);
    wait(0.1);
    a.knows();
    b.knows("bob");
    assert.deepEqual(await both(), [[], ["B"]]);
    assert.deepEqual(times("ann"), [2, 2]);
  });
});

Deno.test("KeyDirectory keeps the last answer for one more interval if a server cannot be asked", async () => {
  const a = new Server("A").knows("ann");
  await withDirectory([a], {}, async ({ confirmed, failed, wait, log }) => {
    await confirmed();
    a.fails();
    wait(600);
    assert.deepEqual(await confirmed(), ["A"]);
    assert.deepEqual(await confirmed(), ["A"]);
    assert.equal(a.asked.length, 2, "a failure is not repeated at once");
    wait(599);
    assert.deepEqual(await confirmed(), ["A"]);
    wait(1);
    assert.deepEqual(await confirmed(), []);
    assert.deepEqual(await failed(), ["A"]);
    a.knows("ann");
    wait(5);
    assert.deepEqual(await confirmed(), ["A"]);
    const lines = log.filter((line) => line.includes("users' keys"));
    assert.match(lines[0] ?? "", /warn .* cannot be read server=A error=.*connection refused/);
    assert.match(lines[1] ?? "", /info .* can be read again server=A/);
    assert.equal(lines.length, 2, "one line for each change of state");
  });
});

Deno.test("KeyDirectory repeats a failed lookup of a user after five seconds", async () => {
  const a = new Server("A").fails();
  await withDirectory([a], {}, async ({ failed, wait }) => {
    assert.deepEqual(await failed(), ["A"]);
    wait(4.9);
    assert.deepEqual(await failed(), ["A"]);
    assert.equal(a.asked.length, 1);
    assert.deepEqual(await failed("bob"), ["A"]);
    wait(0.1);
    a.knows("ann");
    assert.deepEqual(await failed(), []);
    assert.equal(a.asked.length, 3);
  });
});

Deno.test("KeyDirectory runs one lookup at a time for a user, whatever the number of callers", async () => {
  const a = new Server("A");
  const answer = Promise.withResolvers<string[]>();
  a.answer = () => answer.promise;
  await withDirectory([a], {}, async ({ confirmed }) => {
    const all = Array.from({ length: 50 }, () => confirmed());
    assert.deepEqual(a.asked, ["ann"]);
    answer.resolve([SHEET_KEY_LINE]);
    for (const servers of await Promise.all(all)) assert.deepEqual(servers, ["A"]);
    assert.deepEqual(a.asked, ["ann"]);
  });
});

Deno.test("KeyDirectory asks a server about two users at a time, in order of arrival", async () => {
  const a = new Server("A");
  const answers: ((lines: string[]) => void)[] = [];
  a.answer = () => new Promise((resolve) => answers.push(resolve));
  await withDirectory([a], {}, async ({ confirmed }) => {
    const all = ["u1", "u2", "u3", "u4"].map((user) => confirmed(user));
    assert.deepEqual(a.asked, ["u1", "u2"]);
    answers[1]?.([SHEET_KEY_LINE]);
    assert.deepEqual(await all[1], ["A"]);
    assert.deepEqual(a.asked, ["u1", "u2", "u3"]);
    answers[0]?.([]);
    answers[2]?.([]);
    await all[0];
    await all[2];
    answers[3]?.([]);
    assert.deepEqual(await Promise.all(all), [[], ["A"], [], []]);
  });
});

Deno.test("KeyDirectory rejects lookups of an address with too many waiting ones, and of no other", async () => {
  const a = new Server("A");
  const gate = Promise.withResolvers<string[]>();
  a.answer = () => gate.promise;
  await withDirectory([a], {}, async ({ confirmed, failed, directory }) => {
    const waiting = Array.from({ length: 10 }, (_, i) => confirmed(`u${i}`));
    assert.deepEqual(await failed("late"), ["A"]);
    const elsewhere = directory.confirm("late", some, { ...SEEKER, queueKey: "192.0.2.18" });
    const known = directory.confirm("late", some, { ...SEEKER, queueKey: "late at home", known: true });
    gate.resolve([SHEET_KEY_LINE]);
    assert.ok((await Promise.all(waiting)).every(([server]) => server === "A"));
    for (const other of [elsewhere, known]) assert.deepEqual((await other).confirmed, ["A"]);
    assert.deepEqual(
      a.asked.slice(2, 6),
      ["late", "u2", "late", "u3"],
      "each as soon as its lane has a turn",
    );
    assert.deepEqual(await confirmed("next"), ["A"]);
  });
});

Deno.test("KeyDirectory removes lookups from the queue when nobody waits for them any more", async () => {
  const a = new Server("A").hangs();
  await withDirectory([a], {}, async ({ directory, confirmed }) => {
    const callers = Array.from({ length: 10 }, (_, i) => {
      const caller = new AbortController();
      const asked = directory.confirm(`u${i}`, some, { ...SEEKER, signal: caller.signal });
      return { caller, asked };
    });
    assert.deepEqual(a.asked, ["u0", "u1"]);
    a.knows("ann");
    for (const { caller } of callers) caller.abort(new Error("gone"));
    for (const { asked } of callers) await assert.rejects(asked, /gone/);
    assert.deepEqual(a.signals.map(({ aborted }) => aborted), [true, true]);
    assert.deepEqual(await confirmed(), ["A"]);
    assert.deepEqual(
      a.asked,
      ["u0", "u1", "ann"],
      "of a user whose caller has gone nobody is asked, nor is it noted",
    );
    assert.deepEqual(await confirmed("u0"), []);
  });
});

Deno.test("KeyDirectory does not wait for a server that hangs if another confirms the key", async () => {
  const [a, b] = [new Server("A").knows("ann", "bob"), new Server("B").hangs()];
  await withDirectory([a, b], { graceMs: 100, deadlineMs: 60_000 }, async ({ confirmed }) => {
    using waits = new WaitingTimes();
    assert.deepEqual(await confirmed(), ["A"]);
    assert.ok(waits.take().includes(100), "waits a moment for the other answer");
    for (let i = 0; i < 20; i++) assert.deepEqual(await confirmed(), ["A"]);
    const forHanging = waits.take().filter((ms) => ms === 0);
    assert.equal(forHanging.length, 20, "does not wait again for the same lookup");
    assert.deepEqual(await confirmed("bob"), ["A"]);
  });
});

Deno.test("KeyDirectory waits for a slow server's answer while the grace lasts", async () => {
  const [a, b] = [new Server("A").knows("ann"), new Server("B")];
  const answer = Promise.withResolvers<string[]>();
  b.answer = () => answer.promise;
  await withDirectory([a, b], { graceMs: 60_000 }, async ({ confirmed }) => {
    const both = confirmed();
    queueMicrotask(() => setTimeout(() => answer.resolve([SHEET_KEY_LINE]), 5));
    assert.deepEqual(await both, ["A", "B"]);
  });
});

Deno.test("KeyDirectory aborts a lookup at the deadline", async () => {
  const a = new Server("A").hangs();
  await withDirectory([a], { deadlineMs: 20 }, async ({ failed }) => {
    assert.deepEqual(await failed(), ["A"]);
    assert.equal(a.signals[0]?.aborted, true);
  });
});

Deno.test("KeyDirectory serves the last answer at once while a refresh hangs", async () => {
  const a = new Server("A").knows("ann");
  await withDirectory([a], { graceMs: 10, deadlineMs: 60_000 }, async ({ confirmed, wait }) => {
    await confirmed();
    a.hangs();
    wait(600);
    assert.deepEqual(await confirmed(), ["A"]);
    assert.deepEqual(await confirmed(), ["A"]);
  });
});

Deno.test("KeyDirectory drops no user with keys, however many names are guessed", async () => {
  const a = new Server("A").knows("ann");
  await withDirectory([a], {}, async ({ confirmed }) => {
    await confirmed();
    for (let i = 0; i < 10_100; i++) await confirmed(`guess${i}`);
    assert.deepEqual(await confirmed(), ["A"]);
    assert.equal(a.asked.filter((user) => user === "ann").length, 1);
    await confirmed("guess0");
    assert.equal(a.asked.filter((user) => user === "guess0").length, 2, "the oldest guess is forgotten");
  });
});

Deno.test("KeyDirectory uses no line that forbids it, and no more than 100", async () => {
  const a = new Server("A");
  a.answer = () => Promise.resolve([`command="id" ${SHEET_KEY_LINE}`, "", "# x", "garbage"]);
  await withDirectory([a], {}, async ({ confirmed, log }) => {
    assert.deepEqual(await confirmed(), []);
    assert.equal(log.filter((line) => line.includes("key not used")).length, 2);
    a.answer = () => Promise.resolve([...Array<string>(100).fill("# x"), SHEET_KEY_LINE]);
    assert.deepEqual(await confirmed("bob"), []);
  });
});

Deno.test("KeyDirectory stops waiting when the caller has gone, and when it is closed", async () => {
  const a = new Server("A").hangs();
  await withDirectory([a], {}, async ({ directory, failed }) => {
    const caller = new AbortController();
    const asked = directory.confirm("ann", some, { ...SEEKER, signal: caller.signal });
    const other = failed();
    caller.abort(new Error("gone"));
    await assert.rejects(asked, /gone/);
    assert.deepEqual(a.signals.map(({ aborted }) => aborted), [false], "another waits for the same answer");
    directory.close();
    assert.deepEqual(await other, ["A"]);
  });
});

Deno.test("KeyDirectory passes on errors of the trial itself", async () => {
  const a = new Server("A").knows("ann");
  await withDirectory([a], {}, async ({ directory }) => {
    await assert.rejects(directory.confirm("ann", () => Promise.reject(new Error("bug")), SEEKER), /bug/);
  });
});
