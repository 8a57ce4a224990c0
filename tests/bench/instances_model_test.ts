import assert from "node:assert/strict";
import { INSTANCES, modelled } from "./instances_model.ts";

const DEMANDS = { edge: 1, core: 0.5, database: 0.2, balancer: 0.05, daemon: 0 };
const AROUND = { databaseCores: 2, daemons: 1 };

Deno.test("modelled() returns the rate and the first bottleneck for each number of instances", () => {
  const figures = modelled("logins", DEMANDS, AROUND);
  assert.deepEqual(figures.map(({ what }) => what), [
    "logins, 1 instance, limited by edges",
    "logins, 4 instances, limited by edges",
    "logins, 16 instances, limited by PostgreSQL",
  ]);
  for (const [i, { value }] of figures.entries()) {
    const most = Math.min(1000 * (INSTANCES[i] ?? 0), 10_000);
    assert.ok(value > 0.7 * most && value <= most, `${value} of ${most}`);
  }
});

Deno.test("modelled() predicts more sessions with more daemons, but not with more instances", () => {
  const sessions = { ...DEMANDS, daemon: 3 };
  const one = modelled("sessions", sessions, AROUND);
  assert.ok(
    one.every(({ what, value }) => what.endsWith("limited by daemon") && value > 300 && value < 333.4),
  );
  const [first, ...more] = modelled("sessions", sessions, { ...AROUND, daemons: 16 });
  assert.match(first?.what ?? "", /limited by edges$/);
  assert.ok((more.at(-1)?.value ?? 0) > 10 * 1000 / 3);
});
