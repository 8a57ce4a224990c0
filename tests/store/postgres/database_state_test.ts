import assert from "node:assert/strict";
import { DatabaseUnavailable } from "../../../src/store/database.ts";
import { DatabaseState } from "../../../src/store/postgres/database_state.ts";

const REFUSED = new DatabaseUnavailable("sorry, too many clients already");

function create() {
  const time = { now: 12_047.246237 };
  const told: string[] = [];
  const state = new DatabaseState({
    elapsed: () => time.now,
    toleranceMs: 2_000,
    changed: (condition) =>
      told.push(condition.kind === "up" ? "up" : `${condition.kind}: ${condition.reason}`),
  });
  const refuse = () => assert.rejects(state.attempt(() => Promise.reject(REFUSED)), DatabaseUnavailable);
  return { time, told, state, refuse };
}

Deno.test("DatabaseState is degraded while connections work and further ones are refused", async () => {
  const { told, state, refuse } = create();
  const closed = Promise.withResolvers<void>();
  await state.attempt(() => Promise.resolve());
  state.countConnection(closed.promise);
  state.setListening();
  assert.deepEqual(state.condition, { kind: "up" });
  await refuse();
  assert.deepEqual(state.condition, { kind: "degraded", reason: "sorry, too many clients already" });
  assert.equal(state.outageMs, 0);
  assert.equal(state.refusesWork, false, "there is a connection");
  await state.attempt(() => Promise.resolve());
  assert.deepEqual(told, ["degraded: sorry, too many clients already", "up"]);
});

Deno.test("DatabaseState is away without any connection for work, even if it gets notifications", async () => {
  const { time, told, state, refuse } = create();
  state.setListening();
  await refuse();
  time.now += 2_000;
  await refuse();
  assert.equal(state.condition.kind, "away");
  assert.equal(state.refusesWork, true);
  assert.throws(() => state.checkWork(), /too many clients/);
  assert.equal(state.outageMs, 2_000);
  await assert.rejects(state.attempt(() => Promise.resolve()), DatabaseUnavailable, "no attempt is due");
  time.now += 1_000;
  assert.equal(state.isTrialDue, true);
  state.checkWork();
  await state.attempt(() => Promise.resolve());
  assert.deepEqual([state.condition.kind, state.refusesWork, state.outageMs], ["up", false, 0]);
  assert.equal(told.at(-1), "up");
});

Deno.test("DatabaseState is away when the last connection is lost and no other can be opened", async () => {
  const { state, refuse } = create();
  const closed = Promise.withResolvers<void>();
  state.countConnection(closed.promise);
  await refuse();
  assert.equal(state.condition.kind, "degraded");
  closed.resolve();
  await closed.promise;
  await Promise.resolve();
  assert.equal(state.condition.kind, "away");
});

Deno.test("DatabaseState ignores attempts that ended soon by the deadline of their work, if it gets notifications", async () => {
  const { time, told, state } = create();
  const late = new AbortController();
  const cut = (afterMs: number) =>
    assert.rejects(state.attempt(
      () => {
        time.now += afterMs;
        late.abort(REFUSED);
        return Promise.reject(REFUSED);
      },
      false,
      late.signal,
    ));
  state.setListening();
  await cut(200);
  assert.equal(told.length, 0);
  await cut(300); // time enough
  await state.attempt(() => Promise.resolve());
  state.setListening("cut");
  await cut(200); // nobody hears the database
  assert.deepEqual(told.map((each) => each.split(":")[0]), ["away", "up", "degraded", "away"]);
});

Deno.test("DatabaseState is degraded while it gets no notifications of changes", () => {
  const { told, state } = create();
  state.setListening("cut");
  assert.deepEqual(state.condition, { kind: "degraded", reason: "cut" });
  state.setListening();
  assert.deepEqual(told, ["degraded: cut", "up"]);
});

Deno.test("DatabaseState notifies nobody once it is closed", () => {
  const { told, state } = create();
  state.close();
  state.setListening("cut");
  assert.deepEqual(told, []);
});
