import assert from "node:assert/strict";
import type { FolderScore, Trial } from "./score_table.ts";
import { findAgain, listedIn, triedAgain } from "./tried_again.ts";

const SCORE: FolderScore = {
  tried: 20,
  own: 16,
  equivalent: [],
  survivors: [
    "- `src/a/x.ts:3` number: `1 → 2`",
    "- `src/a/x.ts:4` comparison: `a < b → (a <= b)` — nobody can see it",
    "- `src/a/x.ts:5` close: `close() → ;`",
    "- `src/a/x.ts:6` condition: `!a → false`",
  ],
};

function trial(line: number, how: Partial<Trial>): Trial {
  return { file: "src/a/x.ts", mutant: { line, kind: "number", change: "1 → 2" }, known: undefined, ...how };
}

Deno.test("listedIn() reads the survivors of a page, with and without a reason", () => {
  assert.deepEqual(listedIn(SCORE).slice(0, 2), [
    { file: "src/a/x.ts", line: 3, kind: "number", change: "1 → 2" },
    { file: "src/a/x.ts", line: 4, kind: "comparison", change: "a < b → (a <= b)" },
  ]);
  assert.throws(() => listedIn({ ...SCORE, survivors: ["- something else"] }), /found - something else/);
});

Deno.test("findAgain() finds the same change nearest to where it was, and no other", () => {
  const mutants = [2, 30].map((line) => ({ line, kind: "number", change: "1 → 2" } as const));
  const listed = { file: "src/a/x.ts", line: 20, kind: "number", change: "1 → 2" };
  assert.equal(findAgain(listed, mutants), mutants[1]);
  assert.equal(findAgain({ ...listed, change: "1 → 3" }, mutants), undefined);
  assert.equal(findAgain({ ...listed, kind: "guard" }, mutants), undefined);
});

Deno.test("triedAgain() counts who is killed now, and neither equivalent ones nor those whose code is gone", () => {
  const why = { file: "src/a/x.ts", at: "", change: "1 → 2", why: "why" };
  const killed: Trial[] = [trial(3, { killedBy: "own" }), trial(4, { killedBy: "others" })];
  assert.deepEqual(
    triedAgain(SCORE, [...killed, trial(5, { known: { ...why, equivalent: true } })], { onlyOwn: false }),
    {
      tried: 18,
      own: 17,
      killed: 18,
      equivalent: ["- `src/a/x.ts:5` number: `1 → 2` — equivalent: why"],
      survivors: [],
    },
  );
  const left = [
    ...killed,
    trial(5, { killedBy: "types" }),
    trial(6, { known: { ...why, equivalent: false } }),
  ];
  const survivors = ["- `src/a/x.ts:6` number: `1 → 2` — why"];
  assert.deepEqual(triedAgain(SCORE, left, { onlyOwn: false }), {
    tried: 20,
    own: 18,
    killed: 19,
    equivalent: [],
    survivors,
  });
  assert.equal(
    triedAgain(SCORE, left, { onlyOwn: true }).killed,
    19,
    "who has a reason is asked about by nobody",
  );
  const open = [...killed, trial(5, {}), trial(6, { killedBy: "own" })];
  assert.equal(triedAgain(SCORE, open, { onlyOwn: true }).killed, undefined, "others were not asked");
});
