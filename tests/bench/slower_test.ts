import assert from "node:assert/strict";
import type { Figure } from "./figure.ts";
import type { Taken } from "./performance_page.ts";
import { slower } from "./slower.ts";

const taken = (figures: readonly Figure[]): Taken => ({
  summary: "What a does",
  on: "2026-11-21",
  deno: "2.9.6",
  processor: "Abacus",
  cores: 2,
  figures,
});
const figure = (what: string, value: number, unit: string, target?: Figure["target"]): Figure => ({
  what,
  value,
  unit,
  target,
});

Deno.test("slower() lists figures that are worse by more than a tenth, each in its direction", () => {
  const before = { a: taken([figure("cost", 100, "µs"), figure("rate", 1000, "requests/s")]) };
  const now = (cost: number, rate: number) => ({
    a: taken([figure("cost", cost, "µs"), figure("rate", rate, "requests/s")]),
  });
  assert.deepEqual(slower(before, now(109, 920)), []);
  assert.deepEqual(slower(before, now(50, 2000)), []);
  assert.deepEqual(slower(before, now(120, 1000)), ["a: cost: 120 µs, was 100 µs, worse by 20 %"]);
  assert.deepEqual(slower(before, now(100, 500)), [
    "a: rate: 500 requests/s, was 1,000 requests/s, worse by 100 %",
  ]);
});

Deno.test("slower() derives the direction from a promise if the unit has none, and skips figures of only one run", () => {
  const atLeast = { atLeast: 0.6 };
  const before = { a: taken([figure("share", 1, "×", atLeast), figure("ratio", 1, "×")]), gone: taken([]) };
  const now = { a: taken([figure("share", 0.8, "×", atLeast), figure("ratio", 0.8, "×")]), b: taken([]) };
  assert.deepEqual(slower(before, now), ["a: share: 0.80 ×, was 1 ×, worse by 25 %"]);
  assert.deepEqual(slower(before, now, ({ what }) => what === "ratio"), []);
});
