import assert from "node:assert/strict";
import { OperatorBans } from "../../src/throttling/operator_bans.ts";

const ANN = { users: ["ann"], names: ["cn=ann"], address: "192.0.2.1" };

Deno.test("OperatorBans end admitted work once, even if its caller is banned repeatedly", () => {
  const bans = new OperatorBans(() => 0);
  const ended: string[] = [];
  bans.watch(ANN, () => ended.push("ann"));
  bans.watch({ ...ANN, users: ["ben"], names: ["cn=ben"] }, () => ended.push("ben"));
  const over = bans.watch(ANN, () => ended.push("over"));
  over();
  bans.add({ user: "ann" }, 1000);
  bans.add({ user: "ann" }, 2000);
  assert.deepEqual(ended, ["ann"]);
  bans.add({ address: "192.0.2.1" }, 1000);
  assert.deepEqual(ended, ["ann", "ben"]);
});

Deno.test("OperatorBans immediately end work that begins during a ban of its caller, and none after the ban", () => {
  const time = { now: 0 };
  const bans = new OperatorBans(() => time.now);
  bans.add({ user: "ann" }, 1000);
  let ended = 0;
  bans.watch(ANN, () => ended++);
  assert.equal(ended, 1);
  time.now = 1000;
  bans.watch(ANN, () => ended++);
  assert.equal(ended, 1);
});
