import assert from "node:assert/strict";
import { PING_MS, Watchdog } from "../../src/workers/watchdog.ts";

/** Ticks until the worker counts as dead, at most so many. */
function ticksToDeath(
  events: readonly ("on time" | "heard" | { readonly late: number })[],
): number | undefined {
  let now = 1000;
  const watchdog = new Watchdog(() => now);
  for (const [i, event] of events.entries()) {
    if (event === "heard") watchdog.heard();
    now += typeof event === "object" ? PING_MS + event.late : PING_MS;
    if (watchdog.tick()) return i + 1;
  }
  return undefined;
}

const T = "on time";
const H = "heard";
const FROZEN = { late: 22_000 };
const CASES: readonly (readonly [string, Parameters<typeof ticksToDeath>[0], number | undefined])[] = [
  ["a worker that never answers is dead after four pings", [T, T, T, T, T, T], 5],
  ["one that answers lives on", [H, H, H, H, H, H, H, H], undefined],
  ["one answer among many pings is enough for as many more", [T, T, T, T, H, T, T, T, T], 9],
  ["nobody dies while we were frozen ourselves", [H, FROZEN, H, H], undefined],
  ["nobody dies because we are frozen again and again", [T, T, T, FROZEN, T, T, FROZEN, T, T, T], undefined],
  ["after a freeze a dead worker is found as before", [T, FROZEN, T, T, T, T], 6],
  ["a tick that is late as timers are is on time", [T, T, { late: 4000 }, T, { late: 4000 }], 5],
];
for (const [what, events, expected] of CASES) {
  Deno.test(`Heartbeat: ${what}`, () => assert.equal(ticksToDeath(events), expected));
}
