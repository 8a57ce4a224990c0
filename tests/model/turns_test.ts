import assert from "node:assert/strict";
import { type TurnLimits, Turns, type TurnSeeker } from "../../src/model/turns.ts";

const NEVER = new AbortController().signal;

/** Turns whose work ends when told. */
function create(limits: Partial<TurnLimits> = {}) {
  const turns = new Turns({ atOnce: 2, waiting: 6, perLane: 4, ...limits });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  /** Comes to the lane that the first letter of the name says. */
  const come = (name: string, { known = false, signal = NEVER }: Partial<TurnSeeker> = {}) =>
    turns.run(() =>
      new Promise<string>((resolve) => {
        begun.push(name);
        ends.push(() => resolve(name));
      }), { lane: name.slice(0, 1), known, signal });
  const settle = async () => {
    for (let i = 0; i < 10; i++) await Promise.resolve();
  };
  return {
    turns,
    begun,
    come,
    settle,
    async endFirst() {
      ends.shift()?.();
      await settle();
    },
    async endAll() {
      while (ends.length > 0) await this.endFirst();
    },
  };
}

Deno.test("Turns runs a few at a time, the others when one ends, lane by lane", async () => {
  const setting = create();
  const { come, begun } = setting;
  const all = ["a1", "a2", "a3", "a4", "b1"].map((name) => come(name));
  assert.deepEqual(begun, ["a1", "a2"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "a2", "a3"]);
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "a2", "a3", "b1", "a4"]);
  assert.deepEqual(await Promise.all(all), ["a1", "a2", "a3", "a4", "b1"]);
});

Deno.test("Turns lets no more of a lane run than are allowed, however many have ended", async () => {
  const setting = create({ atOnce: 4, atOncePerLane: 2 });
  const all = ["a1", "a2", "a3", "a4"].map((name) => setting.come(name));
  assert.deepEqual(setting.begun, ["a1", "a2"]);
  await setting.endFirst();
  assert.deepEqual(setting.begun, ["a1", "a2", "a3"]);
  await setting.endAll();
  await Promise.all(all);
});

Deno.test("Turns lets nobody wait longer than they are patient", async () => {
  const setting = create({ atOnce: 1, patienceMs: 5 });
  const first = setting.come("a1");
  await assert.rejects(setting.come("a2"), /no turn in time/);
  await setting.endAll();
  assert.equal(await first, "a1");
  assert.deepEqual(setting.begun, ["a1"]);
});

Deno.test("Turns gives known ones every other turn", async () => {
  const setting = create({ atOnce: 1 });
  const { come, begun } = setting;
  const all = ["a1", "b1", "c1", "d1"].map((name) => come(name));
  all.push(...["x1", "y1"].map((name) => come(name, { known: true })));
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "x1", "b1", "y1", "c1", "d1"]);
  await Promise.all(all);
});

Deno.test("Turns gives known ones as many turns for each of strangers as it is told, and strangers theirs", async () => {
  const setting = create({ atOnce: 1, knownTurns: 2 });
  const { come, begun } = setting;
  const all = ["a1", "b1", "c1", "d1"].map((name) => come(name));
  all.push(...["x1", "y1", "z1", "x2", "y2"].map((name) => come(name, { known: true })));
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "x1", "y1", "b1", "z1", "x2", "c1", "y2", "d1"]);
  await Promise.all(all);
});

Deno.test("Turns has room for known ones when strangers have taken all of theirs", async () => {
  const setting = create();
  const { come, begun } = setting;
  const crowd = ["a1", "a2", "b1", "c1", "d1", "e1", "f1", "g1"].map((name) => come(name));
  await assert.rejects(come("h1"), { name: "NoTurn" });
  const known = come("x1", { known: true });
  await setting.endAll();
  assert.equal(begun[2], "x1");
  await Promise.all([...crowd, known]);
});

Deno.test("Turns lets no lane have more than its part at once", async () => {
  const setting = create({ atOnce: 3, atOncePerLane: 2 });
  const { come, begun } = setting;
  const all = ["a1", "a2", "a3", "b1"].map((name) => come(name));
  assert.deepEqual(begun, ["a1", "a2", "b1"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "a2", "b1", "a3"]);
  await setting.endAll();
  await Promise.all(all);
});

Deno.test("Turns keeps a part for known ones, however long the work of strangers takes", async () => {
  const setting = create({ atOnce: 3, forKnown: 1 });
  const { come, begun } = setting;
  const all = ["a1", "b1", "c1"].map((name) => come(name));
  all.push(...["x1", "y1"].map((name) => come(name, { known: true })));
  assert.deepEqual(begun, ["a1", "b1", "x1"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "b1", "x1", "y1"]);
  await setting.endFirst();
  assert.deepEqual(begun, ["a1", "b1", "x1", "y1", "c1"]);
  await setting.endAll();
  await Promise.all(all);
});

Deno.test("Turns never begins the work of who gave up, and goes on with the next", async () => {
  const setting = create({ atOnce: 1 });
  const { come, begun } = setting;
  const caller = new AbortController();
  const gone = new Error("gone");
  const first = come("a1");
  const left = come("a2", { signal: caller.signal });
  const kept = come("a3");
  caller.abort(gone);
  await assert.rejects(left, gone);
  await assert.rejects(come("a4", { signal: caller.signal }), gone);
  await setting.endAll();
  assert.deepEqual(begun, ["a1", "a3"]);
  await Promise.all([first, kept]);
});

Deno.test("Turns passes the turn on when somebody gives up between being called and beginning", async () => {
  const turns = new Turns({ atOnce: 1, waiting: 6, perLane: 4 });
  const caller = new AbortController();
  const seeker = { lane: "a", known: false, signal: NEVER };
  const end = Promise.withResolvers<void>();
  const first = turns.run(() => end.promise, seeker);
  const second = turns.run(() => Promise.reject(new Error("begun")), { ...seeker, signal: caller.signal });
  const third = turns.run(() => Promise.resolve("third"), seeker);
  end.resolve();
  first.then(() => caller.abort(new Error("gone")));
  await assert.rejects(second, /gone|begun/);
  assert.equal(await third, "third");
});

Deno.test("Turns passes the turn on when work fails", async () => {
  const turns = new Turns({ atOnce: 1, waiting: 6, perLane: 4 });
  const seeker = { lane: "a", known: false, signal: NEVER };
  const failing = turns.run(() => Promise.reject(new Error("no")), seeker);
  const next = turns.run(() => Promise.resolve("next"), seeker);
  await assert.rejects(failing, /no/);
  assert.equal(await next, "next");
});
