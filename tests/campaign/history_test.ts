import assert from "node:assert/strict";
import { checkRecoveries, checkShare, type Outcome, type SharePast, type ShareRow } from "./history.ts";

const past = (outcomes: readonly Outcome[], more: Partial<SharePast> = {}): SharePast => ({
  id: "s",
  mostUses: 1,
  uses: outcomes.map((outcome, i) => ({ began: i * 10, outcome })),
  ...more,
});
const kept = (accessCount: number, usesLeft = 1 - accessCount, uses = accessCount): ShareRow => ({
  id: "s",
  accessCount,
  usesLeft,
  uses,
});

const CASES: readonly [
  what: string,
  past: SharePast,
  row: ShareRow | undefined,
  found: RegExp | undefined,
][] = [
  ["one use", past([200, 404, 503]), kept(1), undefined],
  ["a use that nobody was told of", past(["cut", 404]), kept(1), undefined],
  ["two uses of a one-time share", past([200, 200]), kept(2), /for 1 uses was used 2 times/],
  ["a use that is not counted", past([200]), kept(0), /counts 0 uses; clients had 1/],
  ["a count without a use", past([404]), kept(1), /counts 1 uses; clients had 0, and 0 unknown/],
  ["a count without its record", past([200]), kept(1, 0, 0), /counts 1 uses and records 0/],
  ["uses left that do not add up", past([200]), kept(1, 1), /has 1 of 1 uses left after 1/],
  ["another answer", past([418]), kept(0), /answered 418/],
  ["a share that is lost", past([]), undefined, /acknowledged and is lost/],
  ["a removal", past([200], { removal: { asked: 5, acknowledged: 6 } }), undefined, undefined],
  ["a removal that nobody was told of", past([], { removal: { asked: 5 } }), kept(0), undefined],
  [
    "a share that is back",
    past([], { removal: { asked: 5, acknowledged: 6 } }),
    kept(0),
    /is there although/,
  ],
  [
    "a use after the removal",
    past([404, 200], { removal: { asked: 5, acknowledged: 6 } }),
    undefined,
    /used after its removal/,
  ],
];

for (const [what, share, row, expected] of CASES) {
  Deno.test(`checkShare() ${expected === undefined ? "accepts" : "notices"} ${what}`, () => {
    const found = checkShare(share, row);
    if (expected === undefined) assert.deepEqual(found, []);
    else assert.match(found.join("\n"), expected);
  });
}

Deno.test("checkRecoveries() notices an instance that serves later than 20 s after a fault", () => {
  const recovery = { fault: "a fault", instance: 2 };
  assert.deepEqual(checkRecoveries([{ ...recovery, ms: 20_000 }]), []);
  assert.deepEqual(checkRecoveries([{ ...recovery, ms: 20_001 }]), [
    "instance 2 served 20.0 s after the end of: a fault",
  ]);
});
