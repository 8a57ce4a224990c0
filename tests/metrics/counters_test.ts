import assert from "node:assert/strict";
import { Counters, DurationHistogram } from "../../src/metrics/counters.ts";

const FAMILY = "authserver_core_stall_seconds";
const LABELS = { worker: "core" };

/** Returns the values by upper bound, plus `sum` and `count`. */
function moved(histogram: DurationHistogram): Record<string, number> {
  const counters = new Counters();
  histogram.moveTo(counters, FAMILY, LABELS);
  return Object.fromEntries(
    counters.take().map(({ part, value }) => [typeof part === "object" ? part.le : String(part), value]),
  );
}

Deno.test("DurationHistogram counts a duration in every bucket whose bound it does not exceed", () => {
  const histogram = new DurationHistogram();
  for (const ms of [1, 1.5, 30_000, 30_001]) histogram.add(ms);
  const few = { "0.0025": 2, "0.005": 2, "0.01": 2, "0.025": 2, "0.05": 2, "0.1": 2, "0.25": 2, "0.5": 2 };
  assert.deepEqual(moved(histogram), {
    "0.001": 1,
    ...few,
    "1": 2,
    "2.5": 2,
    "5": 2,
    "10": 2,
    "30": 3,
    "+Inf": 4,
    sum: 60.0035,
    count: 4,
  });
});

Deno.test("DurationHistogram passes on each duration once, since the last time", () => {
  const histogram = new DurationHistogram();
  histogram.add(2000);
  moved(histogram);
  histogram.add(40_000);
  const { sum, count, "+Inf": all, "30": bounded } = moved(histogram);
  assert.deepEqual([sum, count, all, bounded], [40, 1, 1, 0]);
});
